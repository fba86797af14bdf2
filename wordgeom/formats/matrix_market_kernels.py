"""Kernels that parse lines of a MatrixMarket file into entries, and write entries as lines."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Bytes, Float64, Int64
from wordgeom.runtime.jit import kernel

PLACE = 22  # maximum bytes of `row column`

_NEWLINE, _RETURN, _SPACE, _TAB = 10, 13, 32, 9
_PLUS, _MINUS, _POINT, _ZERO, _E = 43, 45, 46, 48, 101
_TENS = np.array([float(10**power) for power in range(23)])  # exact in float64
_FULL = 4 * 10**17  # a mantissa below this has room for one more digit
_EXACT = 1 << 53  # float64 represents every integer up to here
_SPLIT = 134217729.0  # 2^27 + 1, splits a float64 into halves (Dekker 1971)
_DOUBT = 2.0**-40  # bounds the relative error of a quotient's low part
_MOST = 10**18


@kernel
def parse_entries(
    text: Bytes, at: int, stop: int, valued: bool, rows: Int64, columns: Int64, values: Float64,
    odd: Int64,
) -> tuple[int, int, int, int, bool]:  # fmt: skip
    """Parse the complete lines of text[at:stop]: row, column and, if `valued`, a number.

    odd (m × 4): entry, line, start and end of each number left to Python's parser. Returns the
    numbers of entries, of lines and of odd numbers, the offset reached, and False if the line
    there is malformed.
    """
    n, lines, odds = 0, 0, 0
    while n < len(rows) and odds < len(odd):
        end = _line_end(text, at, stop)
        if end == stop:
            break
        first = _skip(text, at, end)
        if first < end:
            rows[n], first = _whole(text, first, end)
            first = _skip(text, first, end)
            columns[n], first = _whole(text, first, end)
            if rows[n] < 0 or columns[n] < 0:
                return n, lines, odds, at, False
            if valued:
                first = _skip(text, first, end)
                last = _token_end(text, first, end)
                if first == last:
                    return n, lines, odds, at, False
                values[n], sure = _number(text, first, last)
                if not sure:
                    odd[odds] = n, lines, first, last
                    odds += 1
                first = last
            else:
                values[n] = 1.0
            if _skip(text, first, end) < end:
                return n, lines, odds, at, False
            n += 1
        lines += 1
        at = end + 1
    return n, lines, odds, at, True


@kernel
def write_entries(
    rows: Int64, columns: Int64, which: Int64, tokens: Bytes, bounds: Int64, out: Bytes
) -> int:
    """Write `row column` and a token per entry, and return the length in bytes.

    tokens: joined texts; bounds: offset of each; which: token number of each entry.
    """
    at = 0
    for k in range(len(rows)):
        at = _put(out, at, rows[k])
        out[at] = _SPACE
        at = _put(out, at + 1, columns[k])
        for i in range(bounds[which[k]], bounds[which[k] + 1]):
            out[at] = tokens[i]
            at += 1
    return at


@kernel
def _put(out: Bytes, at: int, number: int) -> int:
    count, rest = 1, number // 10
    while rest > 0:
        count += 1
        rest //= 10
    for i in range(at + count - 1, at - 1, -1):
        rest = number // 10
        out[i] = _ZERO + number - 10 * rest
        number = rest
    return at + count


@kernel
def _line_end(text: Bytes, at: int, stop: int) -> int:
    while at < stop and text[at] != _NEWLINE:
        at += 1
    return at


@kernel
def _skip(text: Bytes, at: int, end: int) -> int:
    while at < end and text[at] in (_SPACE, _TAB, _RETURN):
        at += 1
    return at


@kernel
def _token_end(text: Bytes, at: int, end: int) -> int:
    while at < end and text[at] not in (_SPACE, _TAB, _RETURN):
        at += 1
    return at


@kernel
def _whole(text: Bytes, at: int, end: int) -> tuple[int, int]:
    """Return the non-negative integer at `at`, -1 if there is none, and its end."""
    number, first = 0, at
    while at < end and _ZERO <= text[at] < _ZERO + 10:
        if number < _MOST:  # more digits cannot be a valid index
            number = 10 * number + (text[at] - _ZERO)
        at += 1
    last = _token_end(text, at, end)
    return (number if first < at == last else -1), last


@kernel
def _number(text: Bytes, at: int, end: int) -> tuple[float, bool]:
    """Return the float64 nearest to a decimal number, and whether it is certainly the nearest."""
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    mantissa, digits, point = 0, 0, -1
    while at < end:
        char = text[at]
        if _ZERO <= char < _ZERO + 10 and mantissa < _FULL:
            digits += 1
            mantissa = 10 * mantissa + (char - _ZERO)
        elif char == _POINT and point < 0:
            point = digits
        else:
            break
        at += 1
    power = 0 if point < 0 else point - digits
    if at < end and text[at] | 32 == _E:
        at, more = _exponent(text, at + 1, end)
        power += more
    if at < end or digits == 0 or abs(power) > 22:
        return 0.0, False
    value, sure = _scaled(mantissa, power)
    return (-value if negative else value), sure


@kernel
def _exponent(text: Bytes, at: int, end: int) -> tuple[int, int]:
    """Return the end of the exponent after `e`, or its start if malformed, and its value."""
    first, negative = at, at < end and text[at] == _MINUS
    if at < end and (negative or text[at] == _PLUS):
        at += 1
    if at == end or end - at > 3:
        return first - 1, 0
    power = 0
    while at < end and _ZERO <= text[at] < _ZERO + 10:
        power = 10 * power + (text[at] - _ZERO)
        at += 1
    return at, (-power if negative else power)


@kernel
def _scaled(mantissa: int, power: int) -> tuple[float, bool]:
    """Return mantissa · 10^power, and whether it is certainly rounded correctly."""
    ten = _TENS[abs(power)]
    high = float(mantissa)
    if mantissa <= _EXACT:  # one operation on exact numbers rounds once
        return (high / ten if power < 0 else high * ten), True
    if power >= 0:
        return 0.0, False
    quotient = high / ten
    left = _remainder(high, quotient, ten) + float(mantissa - int(high))
    small = left / ten
    low, up = quotient + small * (1 - _DOUBT), quotient + small * (1 + _DOUBT)
    return low, low == up


@kernel
def _remainder(number: float, quotient: float, ten: float) -> float:
    """Return number − quotient · ten exactly (Dekker 1971, the exact product)."""
    product = quotient * ten
    a, b = quotient * _SPLIT, ten * _SPLIT
    a, b = a - (a - quotient), b - (b - ten)
    c, d = quotient - a, ten - b
    error = ((a * b - product) + a * d + c * b) + c * d
    return (number - product) - error

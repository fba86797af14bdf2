"""Kernels that parse lines of text into float32 vectors, and format vectors as text."""

from __future__ import annotations

import math

import numpy as np

from wordgeom.core.types import Bytes, Float32, Int64
from wordgeom.runtime.jit import kernel

FLOAT_WIDTH = 16  # bytes of the longest number, with the space before it

_LOWEST, _HIGHEST = -64, 64  # powers of ten in the table
_POWERS = np.array([float(f"1e{power}") for power in range(_LOWEST, _HIGHEST + 1)])
_DIGITS = 9  # significant digits that identify a float32
_LIMIT = 10**_DIGITS
_PLAIN_LOW, _PLAIN_HIGH = -4, 8  # decimal exponents written in plain notation
_FULL = 10**17  # a mantissa from this on takes no further digit: it is accurate enough
_MARGIN = 2.0**-49  # above the relative error of mantissa times power

_NEWLINE, _RETURN, _SPACE, _TAB = 10, 13, 32, 9
_PLUS, _MINUS, _POINT, _ZERO, _E = 43, 45, 46, 48, 101
_INF, _NAN = np.frombuffer(b"inf", np.uint8), np.frombuffer(b"nan", np.uint8)


@kernel
def format_rows(words: Bytes, bounds: Int64, matrix: Float32, out: Bytes) -> int:
    """Write `word v1 … vK` lines to `out` and return their length in bytes.

    words: the UTF-8 words, joined; bounds (rows + 1): the offset of each word; matrix (rows × K);
    out: at least len(words) + rows * (K * FLOAT_WIDTH + 1) bytes.
    """
    at = 0
    for row in range(len(matrix)):
        for i in range(bounds[row], bounds[row + 1]):
            out[at] = words[i]
            at += 1
        for column in range(matrix.shape[1]):
            out[at] = _SPACE
            at = _format(out, at + 1, matrix[row, column])
        out[at] = _NEWLINE
        at += 1
    return at


@kernel
def _format(out: Bytes, at: int, value: float) -> int:
    if math.isnan(value):
        out[at : at + 3] = _NAN
        return at + 3
    if math.copysign(1.0, value) < 0:
        out[at] = _MINUS
        at += 1
    size = abs(np.float64(value))
    if size == 0:
        out[at] = _ZERO
        return at + 1
    if size == math.inf:
        out[at : at + 3] = _INF
        return at + 3
    exponent, digits = _decimal(size)
    count = _DIGITS
    while digits % 10 == 0:
        digits //= 10
        count -= 1
    if _PLAIN_LOW <= exponent <= _PLAIN_HIGH:
        return _plain(out, at, digits, count, exponent)
    return _scientific(out, at, digits, count, exponent)


@kernel
def _decimal(size: float) -> tuple[int, int]:
    """Return the exponent e and nine digits d, so that `size` ≈ d · 10^(e - 8)."""
    exponent = math.floor(math.log10(size))
    scaled = size * _POWERS[_DIGITS - 1 - exponent - _LOWEST]
    if scaled < _LIMIT // 10:  # the logarithm was rounded up to an integer
        exponent -= 1
        scaled = size * _POWERS[_DIGITS - 1 - exponent - _LOWEST]
    digits = int(scaled + 0.5)
    if digits >= _LIMIT:
        return exponent + 1, _LIMIT // 10
    return exponent, digits


@kernel
def _plain(out: Bytes, at: int, digits: int, count: int, exponent: int) -> int:
    if exponent < 0:
        lead = 1 - exponent  # "0.00" before the digits
        out[at : at + lead] = _ZERO
        out[at + 1] = _POINT
        _put(out, at + lead, digits, count)
        return at + lead + count
    before = exponent + 1  # digits before the point
    if count <= before:
        _put(out, at, digits, count)
        out[at + count : at + before] = _ZERO
        return at + before
    return _with_point(out, at, digits, count, before)


@kernel
def _scientific(out: Bytes, at: int, digits: int, count: int, exponent: int) -> int:
    if count == 1:
        out[at] = _ZERO + digits
        at += 1
    else:
        at = _with_point(out, at, digits, count, 1)
    out[at] = _E
    out[at + 1] = _MINUS if exponent < 0 else _PLUS
    _put(out, at + 2, abs(exponent), 2)
    return at + 4


@kernel
def _with_point(out: Bytes, at: int, digits: int, count: int, before: int) -> int:
    """Write the digits one byte late, then shift the first `before` of them and add the point."""
    _put(out, at + 1, digits, count)
    for i in range(at, at + before):
        out[i] = out[i + 1]
    out[at + before] = _POINT
    return at + count + 1


@kernel
def _put(out: Bytes, at: int, digits: int, count: int) -> None:
    for i in range(at + count - 1, at - 1, -1):
        rest = digits // 10
        out[i] = _ZERO + digits - 10 * rest
        digits = rest


@kernel
def parse_lines(
    text: Bytes, at: int, stop: int, out: Float32, row: int, words: Int64, odd: Int64
) -> tuple[int, int, int, int]:
    """Parse the complete lines of text[at:stop] into the rows of `out` (V × K) from `row` on.

    words (n × 2) receives the start and end of each line's word; odd (m × 4, m ≥ K) the row,
    column, start and end of numbers that need the slower parser. Returns the number of lines
    parsed, their end, the number of odd numbers, and -1 or the number of fields of a line that is
    too short.
    """
    lines, odds, columns = 0, 0, out.shape[1]
    while row + lines < len(out) and lines < len(words) and odds + columns <= len(odd):
        end = _line_end(text, at, stop)
        if end == stop:
            break
        last = _skip_back(text, at, end)
        before = odds
        for column in range(columns - 1, -1, -1):
            first = _token_start(text, at, last)
            if first == at:
                return lines, at, before, columns - 1 - column + (last > at)
            value, settled = _parse(text, first, last)
            out[row + lines, column] = value
            if not settled:
                odd[odds] = row + lines, column, first, last
                odds += 1
            last = _skip_back(text, at, first)
        if last == at:
            return lines, at, before, columns
        words[lines] = at, last
        lines += 1
        at = end + 1
    return lines, at, odds, -1


@kernel
def _line_end(text: Bytes, at: int, stop: int) -> int:
    while at < stop and text[at] != _NEWLINE:
        at += 1
    return at


@kernel
def _is_blank(char: int) -> bool:
    return char in (_SPACE, _TAB, _RETURN)


@kernel
def _skip_back(text: Bytes, low: int, at: int) -> int:
    while at > low and _is_blank(text[at - 1]):
        at -= 1
    return at


@kernel
def _token_start(text: Bytes, low: int, at: int) -> int:
    while at > low and not _is_blank(text[at - 1]):
        at -= 1
    return at


@kernel
def _parse(text: Bytes, at: int, end: int) -> tuple[np.float32, bool]:
    """Return float32(float64(token)), and whether the result is certain.

    The float64 computed here may be a few units in the last place off. The result is certain where
    both ends of the error interval round to one float32.
    """
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    mantissa, digits, dropped, point = 0, 0, 0, -1
    while at < end:
        char = text[at]
        if _ZERO <= char < _ZERO + 10:
            digits += 1
            if mantissa < _FULL:
                mantissa = 10 * mantissa + (char - _ZERO)
            else:
                dropped += 1
        elif char == _POINT and point < 0:
            point = digits
        else:
            break
        at += 1
    power, fine = _exponent(text, at, end)
    power += dropped
    if point >= 0:
        power -= digits - point
    if not fine or digits == 0 or power < _LOWEST or power > _HIGHEST:
        return np.float32(0), False
    value = _scale(mantissa, power)
    low, high = np.float32(value * (1 - _MARGIN)), np.float32(value * (1 + _MARGIN))
    return (-low if negative else low), low == high


@kernel
def _exponent(text: Bytes, at: int, end: int) -> tuple[int, bool]:
    """Return the exponent after `e`, 0 where there is none, and whether the token is valid."""
    if at == end:
        return 0, True
    if text[at] | 32 != _E or at + 1 == end:
        return 0, False
    at += 1
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    if at == end or end - at > 3:
        return 0, False
    power = 0
    for i in range(at, end):
        if not _ZERO <= text[i] < _ZERO + 10:
            return 0, False
        power = 10 * power + (text[i] - _ZERO)
    return (-power if negative else power), True


@kernel
def _scale(mantissa: int, power: int) -> float:
    # Powers from 0 to 22 are exact in float64: a division is more accurate than a product.
    size: float = _POWERS[abs(power) - _LOWEST]
    return mantissa / size if power < 0 else mantissa * size

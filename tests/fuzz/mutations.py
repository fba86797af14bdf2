"""Changes of a valid file: bits, lengths, repetitions, splices, numbers, and lies in its header."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

Generator = np.random.Generator
Change = Callable[[Generator, bytes, bytes], bytes]

_NUMBER = re.compile(rb"-?\d+(\.\d+)?")
_NUMBERS = (
    b"0", b"1", b"-1", b"2", b"127", b"65536", b"2147483647", b"2147483648", b"4294967295",
    b"9223372036854775807", b"9223372036854775808", b"99999999999999999999999", b"1e308", b"1e999",
    b"nan", b"-inf", b"0.0000001", b"", b"1_0", b"0x10",
)  # fmt: skip
_WHOLES = (0, 1, -1, 2, 127, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1)
_BYTES = (b"\0", b"\n", b"\r\n", b"\t", b" ", b",", b'"', b"\xff", b"\xef\xbb\xbf", b"{", b"[" * 99)
_HEADER = 200  # bytes in which a file says what it holds


def mutate(rng: Generator, data: bytes, other: bytes) -> bytes:
    """Return a file changed in one to four ways; `other`: a file of the same kind to take from."""
    for _ in range(int(rng.integers(1, 5))):
        change = CHANGES[int(rng.integers(len(CHANGES)))]
        data = change(rng, data, other)
    return data


def _place(rng: Generator, data: bytes) -> int:
    """Return a place in the file, as often in its first bytes as anywhere."""
    most = len(data) if rng.integers(2) else min(len(data), _HEADER)
    return int(rng.integers(most + 1))


def _span(rng: Generator, data: bytes) -> tuple[int, int]:
    start = _place(rng, data)
    length = int(rng.integers(1, 2 ** int(rng.integers(1, 12))))
    return start, min(start + length, len(data))


def _put(data: bytes, start: int, stop: int, new: bytes) -> bytes:
    return data[:start] + new + data[stop:]


def flip(rng: Generator, data: bytes, _: bytes) -> bytes:
    """Flip a few bits."""
    changed = bytearray(data)
    for _bit in range(int(rng.integers(1, 5)) if data else 0):
        place = min(_place(rng, data), len(data) - 1)
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def truncate(rng: Generator, data: bytes, _: bytes) -> bytes:
    """Cut the end off, little of it or much."""
    if rng.integers(2):
        return data[: -int(rng.integers(1, 10))]
    return data[: _place(rng, data)]


def duplicate(rng: Generator, data: bytes, _: bytes) -> bytes:
    """Let a span stand twice."""
    start, stop = _span(rng, data)
    return _put(data, stop, stop, data[start:stop])


def delete(rng: Generator, data: bytes, _: bytes) -> bytes:
    """Leave a span out."""
    return _put(data, *_span(rng, data), b"")


def splice(rng: Generator, data: bytes, other: bytes) -> bytes:
    """Put a span of the other file in place of one."""
    start, stop = _span(rng, other)
    return _put(data, *_span(rng, data), other[start:stop])


def sprinkle(rng: Generator, data: bytes, _: bytes) -> bytes:
    """Put a byte in that means something to some format, or chance bytes."""
    at = _place(rng, data)
    chosen = int(rng.integers(len(_BYTES) + 1))
    new = _BYTES[chosen] if chosen < len(_BYTES) else rng.bytes(int(rng.integers(1, 9)))
    return _put(data, at, at, new)


def renumber(rng: Generator, data: bytes, _: bytes) -> bytes:
    """Write another number in place of one that is written in digits."""
    start = _place(rng, data)
    found = _NUMBER.search(data, start) or _NUMBER.search(data)
    if found is None:
        return data
    return _put(data, *found.span(), _NUMBERS[int(rng.integers(len(_NUMBERS)))])


def rebin(rng: Generator, data: bytes, _: bytes) -> bytes:
    """Write a whole number of 1, 2, 4 or 8 bytes over what is there."""
    width = 1 << int(rng.integers(4))
    number = _WHOLES[int(rng.integers(len(_WHOLES)))] % (1 << 8 * width)
    at = _place(rng, data)
    return _put(data, at, at + width, number.to_bytes(width, "little"))


def shuffle(rng: Generator, data: bytes, _: bytes) -> bytes:
    """Let two lines change places."""
    lines = data.split(b"\n")
    one, two = (int(k) for k in rng.integers(len(lines), size=2))
    lines[one], lines[two] = lines[two], lines[one]
    return b"\n".join(lines)


CHANGES: tuple[Change, ...] = (
    flip, truncate, duplicate, delete, splice, sprinkle, renumber, renumber, rebin, shuffle,
)  # fmt: skip

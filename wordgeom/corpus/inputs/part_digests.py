"""The digest of some bytes of a file: `bytes 0-1048576:SHA-256 …`, one entry for each range.

Whoever reads a part of a file cannot know the SHA-256 of the whole. The ranges that several readers
read, and their digests, identify the content as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

Part = tuple[int, int, str]  # the bytes [start:stop) and their SHA-256
_HEAD = "bytes"
_PART = re.compile(r"(\d{1,18})-(\d{1,18}):([0-9a-f]{64})")
NOTHING = _HEAD  # no byte was read


def digest_of_parts(parts: Iterable[Part]) -> str:
    """Return the digest of some ranges, in ascending order, each once."""
    each = [f"{start}-{stop}:{sha256}" for start, stop, sha256 in sorted(set(parts))]
    return " ".join([_HEAD, *each])


def parts_of(digest: str) -> list[Part] | None:
    """Return the ranges of a digest, None for one of a whole file."""
    head, *each = digest.split(" ")
    if head != _HEAD:
        return None
    found = [match for part in each if (match := _PART.fullmatch(part))]
    return [(int(m[1]), int(m[2]), m[3]) for m in found]

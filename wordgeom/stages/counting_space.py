"""The disk space of a count: what it writes besides its output, from the number of its tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wordgeom.checkpoint.corpus_writer import ROOM, WORTH
from wordgeom.corpus.encoding.memory_limits import ids_room
from wordgeom.runtime.memory import data_room

_ID = 4  # bytes of a token's id
# N tokens have about _PAIRS (N window)^_GROWTH different pairs: fitted to English text of 17 M to
# 181 M tokens (docs/benchmarks.md, "Scale").
_PAIRS, _GROWTH = 81.0, 0.66
_FREQUENT = 16  # the most frequent word of a text is about one token in so many


def expected_most(tokens: int) -> int:
    """Return about how often the most frequent word of a text occurs."""
    return tokens // _FREQUENT


def expected_pairs(tokens: int, window: int) -> int:
    """Return about how many entries the counts of a text have."""
    return min(int(_PAIRS * (tokens * window) ** _GROWTH), tokens * window)


def combined_pairs(entries: Sequence[int]) -> int:
    """Return about how many entries the sum of counts has, from those of each."""
    powers: float = sum(one ** (1 / _GROWTH) for one in entries)
    return min(round(math.pow(powers, _GROWTH)), sum(entries))


def temporary_bytes(tokens: int, output: int, memory: int) -> int:
    """Return the bytes of temporary files beside an output, at the peak of both.

    Provisional ids are on disk until the final ones are, and these until the output is. A text in
    several chunks has partial counts besides.
    """
    ids = _ID * tokens
    provisional = ids if ids > min(ids_room(memory), ROOM) else 0
    final = ids if tokens >= WORTH or ids > ids_room(memory) else 0
    return max(provisional + final - output, final + _partial_bytes(tokens, output, memory))


def _partial_bytes(tokens: int, output: int, memory: int) -> int:
    """Return the bytes of the partial counts of several chunks, 0 for a single chunk."""
    from wordgeom.counts.cooccurrence import chunk_tokens  # its kernels import Numba

    chunks = -(-tokens // chunk_tokens(data_room(memory), _ID))
    return int(output * chunks ** (1 - _GROWTH)) if chunks > 1 else 0

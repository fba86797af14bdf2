"""Loops over all tokens for phrases: join pairs, recount."""

from __future__ import annotations

from wordgeom.core.types import Int32, Int64
from wordgeom.runtime.jit import kernel

NOTHING = -(1 << 62)  # no token is pending


@kernel
def join_pairs(
    ids: Int32, starts: Int64, seconds: Int32, phrases: Int32, state: Int64, out: Int32
) -> int:
    """Join chosen pairs of adjacent tokens, greedily from left to right.

    starts (ids + 1): bounds of each first word in `seconds` (ascending) and `phrases` (pairs).
    Negative ids are never joined. state (1): the token that is pending until its right neighbour
    is read, or NOTHING. Returns the number of ids written to `out`, at most one more than read.
    """
    waiting = state[0]
    written = 0
    for word in ids:
        if waiting >= 0 and word >= 0:
            low = starts[waiting]
            high = end = starts[waiting + 1]
            while low < high:
                middle = (low + high) >> 1
                if seconds[middle] < word:
                    low = middle + 1
                else:
                    high = middle
            if low < end and seconds[low] == word:
                out[written] = phrases[low]
                written += 1
                waiting = NOTHING
                continue
        if waiting != NOTHING:
            out[written] = waiting
            written += 1
        waiting = word
    state[0] = waiting
    return written


@kernel
def recount(ids: Int32, at: int, counts: Int64, firsts: Int64) -> None:
    """Add the occurrences of each id to `counts` and set its first position; ids[0] is at `at`."""
    for k in range(len(ids)):
        word = ids[k]
        if word >= 0:
            if counts[word] == 0:
                firsts[word] = at + k
            counts[word] += 1

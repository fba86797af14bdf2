"""Loops that turn a full lexicon into a run: its types in bucket order."""

from __future__ import annotations

from wordgeom.core.types import Bytes, Int32, Int64
from wordgeom.corpus.tokens.lexicon_kernels import LENGTH_BITS, LENGTH_MASK, PLACE
from wordgeom.runtime.jit import kernel

BUCKET_BITS = 14  # upper bits of a type's hash that select its bucket
_SHIFT = 63 - BUCKET_BITS  # a slot has the upper half of the hash above the id
_ID = 0xFFFFFFFF


@kernel
def deal(slots: Int64, order: Int32, cuts: Int64) -> None:
    """Fill order (types) with the ids by bucket and cuts (buckets + 1) with the bucket bounds.

    `cuts` must be all 0.
    """
    for slot in slots:
        if slot != 0:
            cuts[(slot >> _SHIFT) + 1] += 1
    for bucket in range(1, len(cuts)):
        cuts[bucket] += cuts[bucket - 1]
    cursors = cuts[:-1].copy()
    for slot in slots:
        if slot != 0:
            bucket = slot >> _SHIFT
            order[cursors[bucket]] = (slot & _ID) - 1
            cursors[bucket] += 1


@kernel
def gather(
    entries: Int64, arena: Bytes, order: Int32, chosen: Int64, chosen_arena: Bytes,
) -> int:  # fmt: skip
    """Copy entries[order] to `chosen` and their bytes, contiguously, to `chosen_arena`.

    Returns the number of bytes.
    """
    used = 0
    for k in range(len(order)):
        word = order[k]
        start = entries[word, PLACE] >> LENGTH_BITS
        length = entries[word, PLACE] & LENGTH_MASK
        for column in range(4):
            chosen[k, column] = entries[word, column]
        chosen[k, PLACE] = (used << LENGTH_BITS) | length
        for j in range(length):
            chosen_arena[used + j] = arena[start + j]
        used += length
    return used

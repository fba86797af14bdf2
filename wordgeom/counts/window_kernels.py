"""Loops that count sliding windows of consecutive tokens that contain two words.

A window is identified by its first position. For each word in it, it belongs to the first
occurrence of that word. The windows A_p that belong to an occurrence at p then form an interval,
and the number of windows with both words a and b is Σ |A_p ∩ A_q| over the occurrences p of a and q
of b: the loop over pairs, with the overlap of two intervals in place of a weight. With w the length
of a window, d and e the first and last position of the document, and p' the previous position of
the same word,

    A_p = [max(p − w + 1, p' + 1, d), min(p, max(e − w + 1, d))].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.types import Array, Bytes, Int32, Int64
from wordgeom.counts.kernels import GROUP_BITS, add_sums, emit_row
from wordgeom.runtime.jit import kernel
from wordgeom.runtime.prefetch_kernels import prefetch

Int16 = NDArray[np.int16]
_PREFETCH_AHEAD = 12  # occurrences


@kernel
def find_windows(
    ids: Int32, window: int, begin: int, end: int, low: int, high: int, first: int, before: Int32,
    far: Int16, near: Int16, repeats: Int64,
) -> int:  # fmt: skip
    """Find A_p = [p − far, p − near] for the positions in [low, high); empty if far < near.

    ids: below V a word, V a token without a row, above V no token, which ends a document.
    window: length of a window; first: start of the document at `low`, 0 in the first call, then the
    result of the previous call; before (V) int32, initially all -1; far, near (positions) int16;
    repeats (V): incremented by the windows that contain the word at least twice, if its first
    position in them is in [begin, end). Correct for positions with 2 (window − 1) ids on either
    side, or with all ids that exist.
    """
    nowhere = len(before)
    seen = min(high + window, len(ids))  # a document that ends later makes no difference
    while low < high:
        if ids[low] > nowhere:
            far[low], near[low] = -1, 0
            low += 1
            first = low
            continue
        stop = low
        while stop < seen and ids[stop] <= nowhere:
            stop += 1
        until = min(stop, high)
        _find_in_document(
            ids, window, begin, end, low, until, first, stop, before, far, near, repeats
        )
        low = until
    return first


@kernel
def _find_in_document(
    ids: Int32, window: int, begin: int, end: int, low: int, high: int, first: int, stop: int,
    before: Int32, far: Int16, near: Int16, repeats: Int64,
) -> None:  # fmt: skip
    """Find the windows of the positions in [low, high) of the document [first, stop)."""
    nowhere = len(before)
    final = max(stop - window, first)  # start of the last window
    for place in range(low, high):
        word = ids[place]
        if word == nowhere:
            far[place], near[place] = -1, 0
            continue
        left = max(place - window + 1, first)
        earlier = before[word]
        before[word] = place
        if earlier >= left:
            if begin <= earlier < end:
                both = max(left, earlier - far[earlier])
                repeats[word] += max(earlier - near[earlier] - both + 1, 0)
            left = earlier + 1
        far[place], near[place] = place - left, place - min(place, final)


@kernel
def count_rows(
    ids: Int32, places: Int32, starts: Int64, first: int, last: int, side: int, far: Int16,
    near: Int16, repeats: Int64, upper: bool, cells: Int64, touched: Bytes, groups: Int64,
    found: Int32, indices: Int32, values: Array, lengths: Int64, row_sums: Int64,
    column_sums: Int64,
) -> int:  # fmt: skip
    """Count rows first ≤ row < last from the occurrences of their words.

    As kernels.count_rows, except side: window length − 1; far, near, repeats: from `find_windows`;
    ids: V for everything but words.
    """
    nowhere = len(lengths)
    end = len(places) - 1
    overlaps = np.empty(2 * side + 1, np.int32)
    n = 0
    groups[:] = 0
    for row in range(first, last):
        low = row if upper else 0
        for k in range(starts[row], starts[row + 1]):
            ahead = places[min(k + _PREFETCH_AHEAD, end)]
            prefetch(ids, ahead - side)
            prefetch(ids, ahead + side)
            prefetch(far, ahead)
            prefetch(near, ahead)
            _overlap(places[k], side, far, near, overlaps)
            columns = ids[places[k] - side : places[k] + side + 1]
            for j in range(len(overlaps)):
                column = columns[j]
                cells[column] += overlaps[j] * np.int32(column >= low)
                touched[column >> GROUP_BITS] = 1
        cells[row] = repeats[row]  # already marked by the loop if not 0
        cells[nowhere] = 0
        before = n
        n = emit_row(low, cells, touched, groups, found, indices, values, n)
        lengths[row] = n - before
        add_sums(row, upper, indices, values, before, n, row_sums, column_sums)
    return n


@kernel
def _overlap(place: int, side: int, far: Int16, near: Int16, overlaps: Int32) -> None:
    """Set overlaps (2 side + 1) to |A_p ∩ A_q| for p = place and each q around p."""
    low, high = np.int32(-far[place]), np.int32(-near[place])
    starts, ends = far[place - side : place + side + 1], near[place - side : place + side + 1]
    for k in range(len(overlaps)):
        shift = np.int32(k - side)
        left = max(low, shift - np.int32(starts[k]))
        right = min(high, shift - np.int32(ends[k]))
        overlaps[k] = max(right - left + np.int32(1), np.int32(0))

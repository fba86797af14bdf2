"""Control words: for each word that is looked at, another that occurs in as many documents."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Int64


def matched_controls(chosen: Int64, holders: Int64, usable: Array) -> Int64:
    """Return for each of the `chosen` words another, nearest to it in documents that hold it.

    chosen: rows of words; holders (p): documents that hold each word; usable (p) bool: words that
    may serve. No word serves twice, none that is chosen serves, and of equally near ones the first
    does; −1 where none is left. Words are served in their order, so the first are matched best.
    """
    order = np.argsort(holders, kind="stable")
    free = usable.copy()
    free[chosen] = False
    order = order[free[order]]
    sizes = holders[order]
    taken = np.zeros(len(order), bool)
    found = np.full(len(chosen), -1, np.int64)
    for k, word in enumerate(chosen.tolist()):
        place = _nearest(sizes, taken, int(holders[word]))
        if place < 0:
            break
        taken[place] = True
        found[k] = order[place]
    return found


def _nearest(sizes: Int64, taken: Array, wanted: int) -> int:
    """Return the place of the size nearest to `wanted` that is not taken, −1 for none."""
    begin = int(np.searchsorted(sizes, wanted))
    above = begin
    while above < len(sizes) and taken[above]:
        above += 1
    below = begin - 1
    while below >= 0 and taken[below]:
        below -= 1
    if above == len(sizes):
        return below
    if below < 0 or sizes[above] - wanted <= wanted - sizes[below]:
        return above
    return below

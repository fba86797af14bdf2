"""Control words: for each listed word, another that occurs in about as many documents."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Int64


def matched_controls(chosen: Int64, frequencies: Int64, usable: Array) -> Int64:
    """Return for each of the `chosen` words the unused word of nearest document frequency, or −1.

    chosen: word rows; frequencies (p): document frequencies; usable (p) bool: candidates. Chosen
    words are no candidates, and each candidate is used once. Ties go to the first candidate. Words
    are matched in the given order, so the first are matched best.
    """
    order = np.argsort(frequencies, kind="stable")
    free = usable.copy()
    free[chosen] = False
    order = order[free[order]]
    candidates = frequencies[order]
    used = np.zeros(len(order), bool)
    controls = np.full(len(chosen), -1, np.int64)
    for k, word in enumerate(chosen.tolist()):
        place = _nearest(candidates, used, int(frequencies[word]))
        if place < 0:
            break
        used[place] = True
        controls[k] = order[place]
    return controls


def _nearest(values: Int64, used: Array, wanted: int) -> int:
    """Return the index of the unused value nearest to `wanted`, −1 if all are used."""
    begin = int(np.searchsorted(values, wanted))
    above = begin
    while above < len(values) and used[above]:
        above += 1
    below = begin - 1
    while below >= 0 and used[below]:
        below -= 1
    if above == len(values):
        return below
    if below < 0 or values[above] - wanted <= wanted - values[below]:
        return above
    return below

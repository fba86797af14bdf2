"""Neighbourhood change: 1 − the share of common nearest neighbours (Gonen et al. 2020).

Neighbours are sought among frequent words alone, because rare words have noisy vectors, and noise
would pass for change.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.drift.measures.results import Measured, untested
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.context import Context

_ROWS = 256


def measure(then: Float64, now: Float64, frequent: int, k: int, context: Context) -> Measured:
    """Return the change of words (w) from unit vectors (w × K), the most frequent first.

    Neighbours are k of the `frequent` first words. Raises InputError where k is more than half of
    them: any two words would share neighbours then.
    """
    candidates = np.arange(min(frequent, len(then)))
    if 2 * k > len(candidates):
        what = f"--nearest {k} needs at least {2 * k:,} words to choose from"
        do = f"pass --nearest {max(1, len(candidates) // 10)}"
        raise InputError(what, found=f"{len(candidates):,}", do=do)
    among = f"of {k:,} among the {len(candidates):,} most frequent words"
    method = f"1 − share of common nearest neighbours, {among}"
    return untested(distances(then, now, candidates, k, context), then, now, method)


def distances(then: Float64, now: Float64, candidates: Int64, k: int, context: Context) -> Float64:
    """Return the change (w) of each word from unit vectors (w × K).

    candidates: rows of the words that may be neighbours, more than k; a word is not its own.
    """
    out = np.empty(len(then))
    columns = np.full(len(then), -1, np.int64)
    columns[candidates] = np.arange(len(candidates))

    def near(units: Float64, rows: slice) -> Array:
        cosines = units[rows] @ units[candidates].T
        own = columns[rows]
        cosines[np.flatnonzero(own >= 0), own[own >= 0]] = -np.inf
        chosen = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
        mask = np.zeros(cosines.shape, bool)
        np.put_along_axis(mask, chosen, True, axis=1)
        return mask

    def run(start: int) -> int:
        rows = slice(start, min(start + _ROWS, len(out)))
        common = np.count_nonzero(near(then, rows) & near(now, rows), axis=1)
        out[rows] = 1.0 - common / k
        return len(common)

    with one_thread():
        found = context.pool.map(run, range(0, len(out), _ROWS))
        for _ in context.progress.follow(found, "neighbourhoods", len(out), "words", int):
            pass
    return out

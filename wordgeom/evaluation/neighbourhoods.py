"""Neighbourhoods: how well vectors, such as a map, preserve those of reference vectors.

With ranks r of neighbours in the reference, r' in the evaluated vectors, and n words:

    trustworthiness  1 − 1/(n G) Σ_i Σ_{j: r'(i,j) ≤ k} max(r(i,j) − k, 0)
    continuity       1 − 1/(n G) Σ_i Σ_{j: r(i,j) ≤ k} max(r'(i,j) − k, 0)
    recall           share of the k nearest in the reference that are among the k nearest

where G is the largest inner sum (Venna and Kaski 2001). Ties are broken at random, and scores are
the expected values: n identical points score as chance does.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.evaluation.answers import Measure
from wordgeom.evaluation.common_words import CommonWords, Side
from wordgeom.evaluation.options import COSINE
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

COLUMNS = 3  # of `rank_values`
_ROWS, _CELLS = 32, 1 << 24  # most rows of a block, and most distances


def rank_measures(k: int) -> tuple[Measure, ...]:
    """Return recall, trustworthiness and continuity, of the columns of `rank_values`."""
    names = (f"recall at {k}", f"trustworthiness at {k}", f"continuity at {k}")
    return tuple(Measure(name, _mean, most=1.0, columns=slice(c, c + 1))
                 for c, name in enumerate(names))  # fmt: skip


def rank_values(
    words: CommonWords, drawn: Int64, k: int, metrics: tuple[str, str], context: Context
) -> Float64:
    """Return recall, trustworthiness and continuity (R × 3) of each word drawn.

    metrics: of the vectors and of the reference. Raises InputError where the distances exceed the
    memory limit.
    """
    sums = _rank_sums((words.ours, words.theirs), metrics, drawn, k, context)
    return np.column_stack([sums[:, 2] / k, 1.0 - sums[:, :2] / largest_sum(len(words.items), k)])


def chance_level(n: int, k: int) -> str:
    """Return the expected scores of vectors that know nothing about n words."""
    random = (n - 1 - k) * (n - k) / 2 * k / (n - 1)  # expected sum of ranks beyond k
    level = 1.0 - random / largest_sum(n, k)
    return f"chance level: recall {k / (n - 1):.4f}, trustworthiness and continuity {level:.4f}"


def largest_sum(n: int, k: int) -> float:
    """Return the largest Σ max(rank − k, 0) over k of a word's n − 1 neighbours, k ≤ n − 2."""
    beyond = n - 1 - k
    most = min(k, beyond)
    return most * (2 * beyond - most + 1) / 2


def _mean(given: Array, _gold: Array) -> float:
    return float(given.mean())


def _rank_sums(
    sides: tuple[Side, Side], metrics: tuple[str, str], drawn: Int64, k: int, context: Context
) -> Float64:
    """Return the sums of `neighbourhood_sums` (R × 3) of the words drawn."""
    from wordgeom.evaluation.neighbourhood_kernels import neighbourhood_sums, squared_distances

    n = len(sides[0].rows)
    height = max(1, min(_ROWS, _CELLS // n))
    width = sum(side.matrix.shape[1] for side in sides)
    needed = 8 * n * width + 16 * n * height * context.pool.threads
    check_memory("the distances of neighbourhoods", needed, context.memory, "raise --memory")
    columns = [np.ascontiguousarray(side.matrix[side.rows].T) for side in sides]
    scales = [side.norms if metric == COSINE else np.ones(n)
              for side, metric in zip(sides, metrics, strict=True)]  # fmt: skip

    def run(first: int) -> Float64:
        rows, sums = drawn[first : first + height], np.empty((min(height, len(drawn) - first), 3))
        ours, theirs = (
            squared_distances(each, scale, rows)
            for each, scale in zip(columns, scales, strict=True)
        )
        neighbourhood_sums(ours, theirs, k, sums)
        return sums

    done: Iterator[Float64] = context.pool.map(run, range(0, len(drawn), height))
    shown = context.progress.follow(done, "neighbourhoods", len(drawn), "words", len)
    return np.concatenate(list(shown))

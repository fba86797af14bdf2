"""What a run card says of a run of semi-supervised MDS."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.linalg.procrustes import align
from wordgeom.methods.loss_curve import loss_curve
from wordgeom.methods.ssmds.descents import Run, Stochastic
from wordgeom.methods.ssmds.objective import Objective, Slope
from wordgeom.methods.ssmds.terms import Correlation, cosines


def facts(
    run: Run, found: Slope, start: Float64, vectors: Array, objective: Objective, *, aligned: bool
) -> dict[str, Any]:
    """Return the statistics of a run from `start` to `vectors` (V × K).

    aligned: whether the vectors were turned to the start.
    """
    pairs = objective.supervised.pairs
    left, right = pairs.rows
    angles = [cosines(at[left], at[right]).values for at in (vectors.astype(np.float64), start)]
    ended, began = (1.0 - Correlation(pairs.scores).slope(values)[0] for values in angles)
    if not aligned:
        vectors = align(vectors, start, centre=True).apply(vectors)
    relative = relative_displacements(start, vectors)
    supervised, others = displacements(start, relative, pairs.words)
    return {
        **pairs.counts,
        "words_supervised": len(pairs.words),
        "data_weight_of_plain_sums": objective.weight,
        "objective_of_zero_vectors": [
            objective.fit.largest, objective.supervised.term.largest,
        ],
        "loss": found.value, "loss_of_data": found.data, "loss_of_pairs": found.pairs,
        "correlation_at_start": began, "correlation": ended,
        "cosine_spread_at_start": float(np.std(angles[1])),
        "cosine_spread": float(np.std(angles[0])),
        "moved_supervised": supervised, "moved_others": others,
        "steps": len(run.values) - 1,
        **({"rate": run.rate} if isinstance(run, Stochastic) else {}),
        **loss_curve(run.values, "step", 0),
    }  # fmt: skip


def relative_displacements(start: Float64, vectors: Array) -> Float64:
    """Return displacements (V) relative to ‖b‖ at the start, 0 for vectors that are 0 there.

    Of `start` and aligned vectors (V × K).
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", start, start))
    change = vectors - start
    moved = np.sqrt(np.einsum("ij,ij->i", change, change))
    relative = np.zeros(len(moved))
    return np.asarray(np.divide(moved, lengths, out=relative, where=lengths > 0.0))


def displacements(start: Float64, relative: Float64, words: Int64) -> tuple[float, float]:
    """Return the mean relative displacement (V) of supervised words and of others.

    Of words whose vector in `start` (V × K) is not 0; 0 where there are none.
    """
    present = start.any(axis=1)
    inside = np.zeros(len(start), bool)
    inside[words] = True

    def mean(of: Array) -> float:
        return float(np.mean(relative[of])) if of.any() else 0.0

    return mean(inside & present), mean(~inside & present)

"""Carry word-pair scores to the vectors of all words: an axis metric, then word displacements.

The Pearson loss of case 3 is free of shift and slope: maximising the correlation of scores y with
cosines z is min over β of ‖y − β₀ − β₁ z‖². Each step linearises z and adds a Gaussian prior that
ties all words together, so that its minimiser is a solution of m equations for m pairs:

1. The vectors, scaled to unit length and centred, get weights exp(θ_k / 2) on their principal axes,
   with prior covariance v · min(k, l) / max(k, l) of θ_k and θ_l: smooth in log k.
2. Every word w moves by Δ(w) = s Σ_t α_t [κ(w, i_t) a_t + κ(w, j_t) b_t], κ = cos^power: towards
   the partners of supervised words that resemble it, or away from them.

With a kernel that is 1 for a word itself and 0 otherwise, step 2 moves supervised words only.
Not for other judgements: pairs scored by the same people under the same instructions gain, also on
words without scores; sets with other instructions do not (docs/methods/ssmds.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from wordgeom.core.types import Array, Float32, Float64, Int64
from wordgeom.methods.ssmds.linearised_pairs import displacement_covariance, tangents
from wordgeom.transforms.fit.axis_weights import axis_weights
from wordgeom.transforms.fit.score_regression import coefficients
from wordgeom.transforms.fit.scored_pairs import ScoredPairs, unit
from wordgeom.vectors.postprocess import Components, moments

_ROWS = 4096  # of a block


@dataclass(frozen=True)
class Strength:
    """Prior variances in units of the variance of the noise; 0 leaves a step out.

    metric: v, of the log weights; displacement: s, of each coordinate; power: of κ, at least 1.
    """

    metric: float
    displacement: float
    power: int


@dataclass(frozen=True)
class Frame:
    """Principal axes of the centred unit vectors: mean (K) and directions (r × K)."""

    components: Components

    @classmethod
    def of(cls, vectors: Array) -> Frame:
        """Return the axes of the nonzero vectors (V × K), which are read in blocks."""
        K = vectors.shape[1]
        nonzero = (block[block.any(axis=1)] for block in _blocks(vectors))
        of_all = moments((unit(np.asarray(block, np.float64)) for block in nonzero), K)
        return cls(of_all.components(K, centre=True))

    def inwards(self, block: Array) -> Float64:
        """Return unit vectors (n × r) on the axes; zero vectors stay zero."""
        units = unit(np.asarray(block, np.float64))
        centred = np.where(np.any(block, axis=1, keepdims=True), units - self.components.mean, 0.0)
        return unit(centred @ self.components.directions.T)


@dataclass(frozen=True)
class Propagation:
    """A map of unit vectors on the axes: weights (r), then displacements.

    anchors (u × r): reweighted unit vectors of the supervised words; pulls (u × r): what each of
    them contributes to the displacement of a word, per unit of κ.
    """

    weights: Float64
    anchors: Float64
    pulls: Float64
    power: int

    def __call__(self, units: Float64) -> Float64:
        """Return the moved vectors (n × r) of unit vectors."""
        reweighted = unit(units * self.weights)
        return np.asarray(reweighted + (reweighted @ self.anchors.T) ** self.power @ self.pulls)


def smooth_axis_weights(units: Float64, pairs: ScoredPairs, variance: float) -> Float64:
    """Return the weights (r) of the principal axes, all 1 for a variance of 0.

    units (u × r): unit vectors of the supervised words.
    """
    rank = np.arange(1.0, units.shape[1] + 1)
    if variance == 0.0:
        return np.ones_like(rank)
    smooth = np.minimum(rank[:, None], rank) / np.maximum(rank[:, None], rank)
    return axis_weights(units, pairs, variance * smooth)


def pulls(
    anchors: Float64, pairs: ScoredPairs, power: int, variances: Iterable[float]
) -> Iterator[Float64]:
    """Yield for each variance what each supervised word pulls others by (u × r), per unit of κ.

    anchors (u × r): unit vectors of the supervised words.
    """
    covariance = displacement_covariance(anchors, pairs, power)
    cosines, (A, B) = pairs.cosines(anchors), tangents(anchors, pairs)
    for variance in variances:
        noisy = variance * covariance + np.eye(len(cosines))
        alpha = coefficients(partial(np.linalg.solve, noisy), cosines, pairs.scores)
        pulled = np.zeros_like(anchors)
        np.add.at(pulled, pairs.left, (variance * alpha)[:, None] * A)
        np.add.at(pulled, pairs.right, (variance * alpha)[:, None] * B)
        yield pulled


def fitted(units: Float64, pairs: ScoredPairs, given: Strength) -> Propagation:
    """Return the map that the pairs determine; units (u × r): those of the supervised words."""
    weights = smooth_axis_weights(units, pairs, given.metric)
    anchors = unit(units * weights)
    (pulled,) = pulls(anchors, pairs, given.power, [given.displacement])
    return Propagation(weights, anchors, pulled, given.power)


def propagate(vectors: Array, words: Int64, pairs: ScoredPairs, given: Strength) -> Float32:
    """Return the vectors (V × K) float32 of all words after both steps, of unchanged lengths.

    vectors (V × K); words (u): rows of the supervised words, whose vectors are not zero. Zero
    vectors stay zero.
    """
    frame = Frame.of(vectors)
    step = fitted(frame.inwards(vectors[words]), pairs, given)
    made = np.empty(vectors.shape, np.float32)
    at = 0
    for block in _blocks(vectors):
        moved = unit(step(frame.inwards(block))) @ frame.components.directions
        wide = np.asarray(block, np.float64)
        made[at : at + len(block)] = moved * np.linalg.norm(wide, axis=1, keepdims=True)
        at += len(block)
    return made


def _blocks(vectors: Array) -> Iterator[Array]:
    return (vectors[at : at + _ROWS] for at in range(0, len(vectors), _ROWS))

"""The correlation of mapped cosines with scores, and its gradient.

Carrington (2021), eq. 4.11 and methods of §3.4.2: with z the cosines of the pairs after the map C,
∂ρ/∂z = ((y − ȳ) − (S_yz/S_z)(z − z̄)) / √(S_y S_z).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wordgeom.core.types import Float64, Int64
from wordgeom.transforms.fit.scored_pairs import ScoredPairs


@dataclass(frozen=True, eq=False)
class Judged:
    """Pairs of words with scores.

    rows (m × K): a vector for each word; left, right (n): their rows; scores (n); spread (K × K):
    K times the mean of x xᵀ over the unit vectors x of the whole space, I for an isotropic one.
    """

    rows: Float64
    left: Int64
    right: Int64
    scores: Float64
    spread: Float64

    def part(self, pairs: Int64) -> Judged:
        """Return some of the pairs, with the words of all."""
        chosen = self.left[pairs], self.right[pairs], self.scores[pairs]
        return Judged(self.rows, *chosen, self.spread)

    @property
    def pairs(self) -> ScoredPairs:
        """The pairs without the vectors."""
        return ScoredPairs(self.left, self.right, self.scores)

    def cosines(self, C: Float64) -> Float64:
        """Return the cosines (n) of the pairs after x ↦ C x."""
        return self.pairs.cosines(self.rows @ C.T)

    @cached_property
    def centred(self) -> Float64:
        """The scores (n), centred and of unit length; 0 if they are constant."""
        return _centred(self.scores)[0]


def correlation(judged: Judged, C: Float64) -> tuple[float, Float64]:
    """Return Pearson's correlation of mapped cosines and scores, and its gradient (K × K) in C.

    It is 0 where the scores or the cosines are constant.
    """
    units, lengths = _units(judged.rows @ C.T)
    z = _products(units, judged)
    deviations, spread = _centred(z)
    rho = float(judged.centred @ deviations)
    if not spread:
        return 0.0, np.zeros_like(C)
    by_cosine = (judged.centred - rho * deviations) / spread
    left, right = units[judged.left], units[judged.right]
    by_row = np.zeros_like(units)
    np.add.at(by_row, judged.left, by_cosine[:, None] * (right - z[:, None] * left))
    np.add.at(by_row, judged.right, by_cosine[:, None] * (left - z[:, None] * right))
    return rho, (by_row / lengths[:, None]).T @ judged.rows


def _units(rows: Float64) -> tuple[Float64, Float64]:
    """Return rows of unit length, and the lengths; a row of zeros stays one."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0.0] = 1.0
    return rows / lengths[:, None], lengths


def _products(units: Float64, judged: Judged) -> Float64:
    return np.asarray(np.einsum("ij,ij->i", units[judged.left], units[judged.right]))


def _centred(values: Float64) -> tuple[Float64, float]:
    """Return values (n) centred and of unit length, and the length, 0 if they are constant."""
    if np.ptp(values) == 0.0:
        return np.zeros_like(values), 0.0
    # Scaled first, because squares of extreme scores would overflow or underflow.
    deviations = (values - values.mean()) / np.ptp(values)
    length = float(np.sqrt(deviations @ deviations))
    return deviations / length, length * float(np.ptp(values))

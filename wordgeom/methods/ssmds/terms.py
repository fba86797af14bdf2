"""The supervised terms g of Table 4.1, as functions of a measure of each pair.

`Order` (cases 1 and 2): Σ w̃ (δ̂ − d)², where d are distances or inner products and δ̂ is the
sequence in the order of the scores that is nearest to d, of fixed length Σ w̃ δ̂² = s² Σ w̃: the
monotone fit, rescaled. It is the exact minimum, since the fit is the projection onto a cone. Hence
g has the gradient 2 w̃ (d − δ̂), as if δ̂ were constant.

`Correlation` (case 3): 1 − Pearson's correlation of cosines with the scores.

A measure d_k of the pair of rows a and b has the derivative off · b + left · a with respect to a,
and off · a + right · b with respect to b.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from wordgeom.core.types import Float64, Int64
from wordgeom.methods.ssmds.supervision import Supervision
from wordgeom.optim.monotone import monotone_fit

_ROUNDING = 1e-12  # deviation of constant measures, relative to their length


@dataclass(frozen=True)
class Measured:
    """A measure of each pair, and its derivatives: values, off, left, right (m)."""

    values: Float64
    off: Float64
    left: Float64
    right: Float64


Measure = Callable[[Float64, Float64], Measured]


def products(a: Float64, b: Float64) -> Measured:
    """Return the inner products of the rows of a and b (m × K)."""
    values, none = _inner(a, b), np.zeros(len(a))
    return Measured(values, np.ones(len(a)), none, none)


def distances(a: Float64, b: Float64) -> Measured:
    """Return the distances of the rows of a and b (m × K); their derivative at 0 counts as 0."""
    values = np.sqrt(_inner(a - b, a - b))
    inverse = _inverse(values)
    return Measured(values, -inverse, inverse, inverse)


def cosines(a: Float64, b: Float64) -> Measured:
    """Return the cosines of the rows of a and b (m × K), 0 with derivative 0 for zero rows."""
    one, other = (_inverse(np.sqrt(_inner(side, side))) for side in (a, b))
    off = one * other
    values = off * _inner(a, b)
    return Measured(values, off, -values * one**2, -values * other**2)


class Term(Protocol):
    """A function of the measures (m) of the pairs."""

    @property
    def largest(self) -> float:
        """Its value for zero vectors."""

    def slope(self, values: Float64) -> tuple[float, Float64]:
        """Return the term and its gradient (m)."""


@dataclass(frozen=True)
class Order:
    """The non-metric term; square: s²; ascending: whether a higher score is a larger measure."""

    scores: Float64
    square: float
    ascending: bool

    @property
    def largest(self) -> float:
        """Its value for zero vectors."""
        return self.square * len(self.scores)

    @cached_property
    def _ranks(self) -> Int64:
        return np.asarray(np.unique(self.scores, return_inverse=True)[1])

    def fitted(self, values: Float64) -> Float64:
        """Return δ̂ (m) for the measures d (m)."""
        fit = monotone_fit(values, self._ranks, np.ones(len(values)), ascending=self.ascending)
        length = _length(fit)
        # Where the fit is 0 the mean of d is 0, and a constant is a nearest sequence.
        direction = fit / length if length > 0.0 else np.full(len(fit), len(fit) ** -0.5)
        return np.asarray(np.sqrt(self.largest) * direction)

    def slope(self, values: Float64) -> tuple[float, Float64]:
        """Return the term and its gradient (m)."""
        over = values - self.fitted(values)
        return _length(over) ** 2, 2.0 * over


@dataclass(frozen=True)
class Correlation:
    """1 − Pearson's correlation with the scores; 1, with gradient 0, for constant measures."""

    scores: Float64
    largest: float = 1.0

    @cached_property
    def _gold(self) -> Float64:
        """The scores, centred and of length 1; scaled first, since squares may overflow."""
        centred = self.scores / np.abs(self.scores).max()
        centred -= centred.mean()
        return np.asarray(centred / _length(centred))

    def slope(self, values: Float64) -> tuple[float, Float64]:
        """Return the term and its gradient (m)."""
        centred = values - values.mean()
        length = _length(centred)
        if length <= _ROUNDING * _length(values):
            return 1.0, np.zeros(len(values))
        unit = centred / length
        rho = float(np.einsum("i,i->", self._gold, unit))
        return 1.0 - rho, (rho * unit - self._gold) / length


@dataclass(frozen=True)
class Supervised:
    """A term of the measures of supervised pairs, as a function of all vectors."""

    pairs: Supervision
    measure: Measure
    term: Term

    def measured(self, vectors: Float64) -> Measured:
        """Return the measures of the pairs for vectors (V × K)."""
        left, right = self.pairs.rows
        return self.measure(vectors[left], vectors[right])

    def slope(self, vectors: Float64) -> tuple[float, Float64]:
        """Return the term and its gradient (u × K) with respect to the rows `pairs.words`."""
        found = self.measured(vectors)
        value, slope = self.term.slope(found.values)
        own = (slope * found.left, slope * found.right)
        return value, self.times(slope * found.off, own, vectors[self.pairs.words])

    def times(self, off: Float64, own: tuple[Float64, Float64], right: Float64) -> Float64:
        """Return a symmetric matrix (u × u) times right (u × k).

        off (m): its entries at each pair; own (m each): added to the diagonal at both words.
        """
        import scipy.sparse

        a, b = self.pairs.left, self.pairs.right
        rows, columns = np.concatenate((a, b, a, b)), np.concatenate((b, a, a, b))
        u = len(self.pairs.words)
        parts = (np.concatenate((off, off, *own)), (rows, columns))
        return np.asarray(scipy.sparse.coo_array(parts, shape=(u, u)).tocsr() @ right)


def _length(values: Float64) -> float:
    """Return the norm of values (m), not by BLAS, whose sum depends on the number of threads."""
    return float(np.sqrt(np.einsum("i,i->", values, values)))


def _inner(a: Float64, b: Float64) -> Float64:
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _inverse(values: Float64) -> Float64:
    return np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0.0)

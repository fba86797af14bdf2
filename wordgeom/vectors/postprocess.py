"""The components that all vectors share: a mean and leading directions, to be removed.

With `centre`, all-but-the-top (Mu and Viswanath 2018): the mean is subtracted, then the projections
on the leading principal components. Without it, the projections on the leading singular vectors
alone, as SIF removes them from text vectors (Arora, Liang and Ma 2017).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Float32, Float64
from wordgeom.linalg.gram import above_rounding, symmetric_eigh
from wordgeom.linalg.signs import fix_signs

_ROWS = 4096  # of a block


@dataclass(frozen=True)
class Components:
    """mean (K) float64, 0 where vectors are not centred; directions (D × K), orthonormal rows."""

    mean: Float64
    directions: Float64

    def remove(self, block: Array) -> Float64:
        """Return vectors (n × K) without the mean and without their share of the directions."""
        centred = block - self.mean
        return np.asarray(centred - (centred @ self.directions.T) @ self.directions)


@dataclass(frozen=True)
class Moments:
    """The number of vectors, their sum (K) and the sum of their outer products (K × K), float64."""

    number: int
    total: Float64
    products: Float64

    @classmethod
    def of(cls, block: Array) -> Moments:
        """Return the moments of vectors (n × K)."""
        wide = block.astype(np.float64, copy=False)
        return cls(len(wide), wide.sum(axis=0), wide.T @ wide)

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.number + other.number, self.total + other.total, self.products + other.products
        )

    @property
    def rank(self) -> int:
        """The number of dimensions that the vectors span, above rounding."""
        values, _ = symmetric_eigh(self.products)
        return int(above_rounding(values, self.products).sum())

    def components(self, number: int, *, centre: bool) -> Components:
        """Return the `number` leading components, fewer where the vectors have a lower rank."""
        mean = self.total / max(1, self.number) if centre else np.zeros_like(self.total)
        values, Z = symmetric_eigh(self.products - self.number * np.outer(mean, mean))
        order = np.argsort(-values, kind="stable")[:number]
        found = order[above_rounding(values, self.products)[order]]
        return Components(mean, np.ascontiguousarray(fix_signs(Z[:, found]).T))


def moments(blocks: Iterable[Array], columns: int) -> Moments:
    """Return the moments of all blocks (n × columns), added in their order."""
    return sum(map(Moments.of, blocks), Moments(0, np.zeros(columns), np.zeros((columns, columns))))


def all_but_the_top(matrix: Float32, number: int) -> Float32:
    """Return vectors (V × K) float32 without their mean and `number` principal components."""
    return without_components(matrix, principal_components(matrix, number))


def principal_components(matrix: Float32, number: int) -> Components:
    """Return the mean and the `number` principal components of vectors (V × K)."""
    blocks = (matrix[at : at + _ROWS] for at in range(0, len(matrix), _ROWS))
    return moments(blocks, matrix.shape[1]).components(number, centre=True)


def without_components(matrix: Float32, components: Components) -> Float32:
    """Return vectors (n × K) float32 without components."""
    made = np.empty_like(matrix)
    for at in range(0, len(matrix), _ROWS):
        made[at : at + _ROWS] = components.remove(matrix[at : at + _ROWS])
    return made

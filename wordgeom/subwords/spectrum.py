"""Vectors whose large singular values are cut, in the space of the given vectors.

With the singular value decomposition V = U S Qᵀ, the vectors V M have the singular values
c min(S, L), for M = c Q min(1, L/S) Qᵀ, where c keeps the sum of squares. The limit L is a multiple
of the root mean square of all singular values, so that a few directions do not decide cosines
alone. The first direction, in vectors of words nearly their mean, has a limit of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.ops import Ops
from wordgeom.core.types import Float32, Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.vectors.norms import row_norms

_ROWS = 1 << 14
_LEAST_NUMBER, _LARGEST = 1e-15, 1e15  # of the largest number of all vectors
_LEAST = 1e-3  # share of the largest singular value below which float32's squares do not reach
_FIRST = 2.0  # limit of the largest singular value, relative to the root mean square


@dataclass(frozen=True, eq=False)
class Mapped:
    """The vectors V M (V × K) float32, of which some rows or columns are made at a time.

    vectors: V (V × K); map: M (K × K), None for V itself.
    """

    vectors: Float32
    ops: Ops
    map: Float64 | None = None

    def rows(self, block: slice) -> Float32:
        """Return some rows of V M."""
        given = self.vectors[block]
        return given if self.map is None else self._times(given, self.map)

    def columns(self, block: slice) -> Float32:
        """Return some columns of V M."""
        if self.map is None:
            return self.vectors[:, block]
        part = self.map[:, block]  # by rows, since a copy of all vectors may not fit
        return np.concatenate([self._times(self.vectors[at], part) for at in self.blocks()])

    def norms(self) -> Float64:
        """Return the norms (V) of the rows of V M."""
        parts = [row_norms(self.rows(block)) for block in self.blocks()]
        return np.concatenate([np.zeros(0), *parts])

    def blocks(self) -> list[slice]:
        """Return the blocks of rows in which it is made."""
        return [slice(at, at + _ROWS) for at in range(0, len(self.vectors), _ROWS)]

    def _times(self, given: Float32, weights: Float64) -> Float32:
        ops = self.ops
        made = ops.to_numpy(ops.combine(ops.tall(given, np.float32), weights))
        return np.asarray(made, np.float32)


def with_clipped_spectrum(vectors: Float32, clip: float, ops: Ops) -> Mapped:
    """Return the vectors with singular values of at most `clip` times their root mean square.

    The largest may be twice the root mean square. vectors (V × K), finite; clip: 0 for the vectors
    as given. Raises RankError where float32 cannot hold their squares.
    """
    if clip == 0.0:
        return Mapped(vectors, ops)
    largest = max(vectors.max(initial=0.0), -vectors.min(initial=0.0))
    if largest and not _LEAST_NUMBER <= largest <= _LARGEST:
        do = "scale them with wordgeom transform --normalise"
        raise RankError("the squares of vectors are beyond the range of float32", do=do)
    gram = np.zeros((vectors.shape[1], vectors.shape[1]))
    for rows in Mapped(vectors, ops).blocks():
        tall = ops.tall(vectors[rows], np.float32)
        gram += ops.inner(tall, tall)
    with one_thread():
        values, Q = np.linalg.eigh((gram + gram.T) / 2.0)
    factors = _clipping(np.sqrt(np.maximum(values, 0.0)), clip)
    return Mapped(vectors, ops, (Q * factors) @ Q.T)


def _clipping(sigma: Float64, clip: float) -> Float64:
    """Return the factors (K) of the singular values (K), in ascending order."""
    used = sigma > _LEAST * sigma.max(initial=0.0)
    if not used.any():
        return np.ones(len(sigma))
    limits = np.full(len(sigma), clip)
    limits[-1] = max(_FIRST, clip)
    kept = np.minimum(sigma, limits * np.sqrt(np.mean(sigma[used] ** 2)))
    factors = np.divide(kept, sigma, out=np.ones(len(sigma)), where=sigma > 0.0)
    scaled: Float64 = factors * np.sqrt(np.sum(sigma**2) / np.sum(kept**2))
    return scaled

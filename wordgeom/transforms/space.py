"""A space: stored vectors, and the map that all steps so far make of them.

Steps are affine maps, after the scaling to unit length, which comes first. They are composed in
float64 and applied block by block, so that the stored float32 vectors are rounded once, at the end.
Zero vectors have no direction: they stay zero, and no step counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.types import Float32, Float64, Int64
from wordgeom.runtime.pool import Pool
from wordgeom.subwords.model import SubwordModel
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.postprocess import Moments

ROWS = 2048  # of a block: constant, so that sums have one order
_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Space:
    """Vectors x (V × K) and their images (x or x/‖x‖) M + b, for M (K × K') and b (K')."""

    stored: Vectors
    pool: Pool
    M: Float64
    b: Float64
    unit: bool = False

    @classmethod
    def of(cls, stored: Vectors, pool: Pool) -> Space:
        """Return the space of vectors as they are."""
        K = stored.matrix.shape[1]
        return cls(stored, pool, np.eye(K), np.zeros(K))

    @property
    def columns(self) -> int:
        """The dimension of the images."""
        return int(self.M.shape[1])

    def mapped(self, A: Float64, shift: Float64 | None = None) -> Space:
        """Return the space after y ↦ (y − shift) A."""
        b = self.b if shift is None else self.b - shift
        return replace(self, M=self.M @ A, b=b @ A)

    def image(self, block: Float32) -> Float64:
        """Return the images of stored vectors (n × K), zero for zero vectors."""
        wide = block.astype(np.float64)
        zero = ~block.any(axis=1)
        if self.unit:
            lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
            lengths[zero] = 1.0
            wide /= lengths[:, None]
        made = wide @ self.M + self.b
        made[zero] = 0.0
        return np.asarray(made)

    def rows(self, rows: Int64) -> Float64:
        """Return the images of some rows (n)."""
        return self.image(self.stored.matrix[rows])

    def blocks(self, of: Callable[[Float64], _T]) -> Iterator[_T]:
        """Yield of(images) of each block of rows, in their order, computed by the threads."""
        matrix = self.stored.matrix
        starts = range(0, len(matrix), ROWS)
        return self.pool.map(lambda at: of(self.image(matrix[at : at + ROWS])), starts)

    def moments(self) -> Moments:
        """Return the moments of the images of nonzero vectors."""
        # Not of images that are zero: the mean may be the image of a vector.
        matrix, K = self.stored.matrix, self.columns

        def of(at: int) -> Moments:
            block = matrix[at : at + ROWS]
            return Moments.of(self.image(block[block.any(axis=1)]))

        parts = self.pool.map(of, range(0, len(matrix), ROWS))
        return sum(parts, Moments(0, np.zeros(K), np.zeros((K, K))))

    def with_ngrams(self, model: SubwordModel) -> SubwordModel:
        """Return n-grams that give a word the image of the vector that they gave it before.

        The steps must be linear. Raises RankError for images that float32 cannot hold.
        """
        assert not self.unit
        assert not self.b.any()
        vectors = model.vectors
        made = np.empty((len(vectors), self.columns), np.float32)
        for at in range(0, len(vectors), ROWS):
            made[at : at + ROWS] = _narrowed(self.image(vectors[at : at + ROWS]))
        return replace(model, vectors=made)

    def store(self) -> Vectors:
        """Overwrite the stored vectors with their images (V × K'), K' ≤ K, and return them.

        Raises RankError for images that float32 cannot hold.
        """
        matrix, K = self.stored.matrix, self.columns
        made: Float32 = matrix.reshape(-1)[: len(matrix) * K].reshape(-1, K)
        at = 0
        # Images are narrower or as wide: a block is written where it or earlier ones were read.
        for block in self.blocks(_narrowed):
            made[at : at + len(block)] = block
            at += len(block)
        return Vectors(self.stored.words, made)


@dataclass(frozen=True)
class Step:
    """What a step made: the space, numbers for the run card, notes, and a line of its result."""

    space: Space
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    line: str = ""


def _narrowed(images: Float64) -> Float32:
    with np.errstate(over="ignore"):
        made: Float32 = images.astype(np.float32)
    if not np.isfinite(made).all():
        do = "choose a power nearer to 1, or add --normalise"
        raise RankError("the transformed vectors exceed the range of float32", do=do)
    return made

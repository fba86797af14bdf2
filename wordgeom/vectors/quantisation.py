"""Quantisation: vectors as a norm and codes of a few bits, by scalars or by products.

Codes are of unit vectors: the norms of words differ by orders of magnitude, and the codes of short
vectors would be coarse. A norm is a float16, after division by a power of two. Scalar quantisation
(4 or 8 bits) rounds each number to a multiple of its column's step. Product quantisation (Jégou,
Douze and Schmid 2011) splits the columns into M groups, and replaces each group of a vector by the
nearest of 256 centroids: M bytes a vector. Column j belongs to group j mod M, so that the groups of
principal components have similar lengths.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Bytes, Float32, Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.pool import Pool
from wordgeom.vectors.norms import with_norms

CENTROIDS = 256  # of a group: a code is a byte
_ROWS = 1 << 14  # of a block
_ROUNDS, _TRAINING = 12, 128  # iterations of k-means, and points per centroid
# The step of 4 bits, in standard deviations: 16 levels reach 2.75 of them, where the error of a
# normal distribution is smallest (Max 1960, table II: .3352).
_STEP = 0.3352
_LARGEST = 127  # code of 8 bits
_HALF = 8  # codes of 4 bits on each side of 0
_TOP = 15  # exponent of the largest norm: float16 ends at 2^16


@dataclass(frozen=True, eq=False)
class Codes:
    """Codes (V × C) uint8 of unit vectors (V × K), and norms (V) float16 / 2^exponent.

    bits: 4 or 8 of a scalar, 0 of a product; table: the steps of the columns (K) or the centroids
    of the groups (M × CENTROIDS × ⌈K / M⌉) float32, zero beyond a group's columns.
    """

    codes: Bytes
    bits: int
    columns: int
    table: Float32
    norms: Array
    exponent: int

    def decoded(self) -> Float32:
        """Return the vectors (V × K) that the codes stand for."""
        made = np.empty((len(self.codes), self.columns), np.float32)
        for at in range(0, len(made), _ROWS):
            self._decode(self.codes[at : at + _ROWS], made[at : at + _ROWS])
        norms = np.ldexp(self.norms.astype(np.float64), self.exponent)
        with np.errstate(over="ignore"):  # of a damaged file, which its reader checks
            return with_norms(made, norms)

    def _decode(self, codes: Bytes, made: Float32) -> None:
        if self.bits == 8:
            np.multiply(codes.view(np.int8), self.table, out=made)
        elif self.bits == 4:
            halves = np.stack([codes >> 4, codes & 15], axis=2).reshape(len(codes), -1)
            made[:] = (halves[:, : self.columns] - np.float32(_HALF - 0.5)) * self.table
        else:
            groups = len(self.table)
            for group, centroids in enumerate(self.table):
                width = len(range(group, self.columns, groups))
                made[:, group::groups] = centroids[codes[:, group], :width]


def scalar_codes(matrix: Float32, norms: Float64, bits: int) -> Codes:
    """Return the codes of finite vectors (V × K) with other norms (V), K or ⌈K / 2⌉ bytes each."""
    units = with_norms(matrix, np.ones(len(matrix)))
    steps = _steps(units, bits)
    safe = np.where(steps > 0, steps, np.float32(1))
    pack = _bytes_of if bits == 8 else _halves_of
    starts = range(0, len(units), _ROWS)
    blocks = [pack((units[at : at + _ROWS] / safe).astype(np.float32)) for at in starts]
    return Codes(np.concatenate(blocks), bits, matrix.shape[1], steps, *_half_precision(norms))


def _bytes_of(scaled: Float32) -> Bytes:
    codes: Bytes = np.clip(np.rint(scaled), -_LARGEST, _LARGEST).astype(np.int8).view(np.uint8)
    return codes


def _halves_of(scaled: Float32) -> Bytes:
    levels = np.clip(np.floor(scaled) + _HALF, 0, 2 * _HALF - 1).astype(np.uint8)
    levels = np.pad(levels, ((0, 0), (0, levels.shape[1] % 2)))
    codes: Bytes = levels[:, ::2] << 4 | levels[:, 1::2]
    return codes


def _half_precision(norms: Float64) -> tuple[Array, int]:
    """Return norms divided by a power of two, float16, and the exponent."""
    exponent = int(np.frexp(norms.max(initial=0.0))[1]) - _TOP
    return np.ldexp(norms, -exponent).astype(np.float16), exponent


def _steps(matrix: Float32, bits: int) -> Float32:
    """Return the step of each column (K): 8 bits reach the largest number."""
    if bits == 8:
        largest: Float32 = np.abs(matrix).max(axis=0, initial=0.0) / np.float32(_LARGEST)
        return largest
    squares = np.zeros(matrix.shape[1])
    for at in range(0, len(matrix), _ROWS):
        squares += np.sum(matrix[at : at + _ROWS].astype(np.float64) ** 2, axis=0)
    return np.asarray(_STEP * np.sqrt(squares / max(1, len(matrix))), np.float32)


def product_codes(matrix: Float32, norms: Float64, groups: int, seed: int, pool: Pool) -> Codes:
    """Return the codes of finite vectors (V × K) with other norms (V), M ≤ K bytes each.

    k-means is that of faiss. With fewer vectors than centroids, the vectors are the centroids.
    """
    K, units = matrix.shape[1], with_norms(matrix, np.ones(len(matrix)))
    table = np.zeros((groups, CENTROIDS, -(-K // groups)), np.float32)
    codes = np.empty((len(matrix), groups), np.uint8)

    def run(group: int) -> None:
        part = np.ascontiguousarray(units[:, group::groups])
        centroids, codes[:, group] = _clustered(part, seed + group)
        table[group, : len(centroids), : part.shape[1]] = centroids

    with one_thread():
        for _ in pool.map(run, range(groups)):
            pass
    return Codes(codes, 0, K, table, *_half_precision(norms))


def _clustered(points: Float32, seed: int) -> tuple[Float32, Bytes]:
    """Return the centroids (c × d) of points (n × d), and the nearest one of each point (n)."""
    if len(points) <= CENTROIDS:
        return points, np.arange(len(points), dtype=np.uint8)
    import faiss

    faiss.omp_set_num_threads(1)  # of this thread: sums have one order
    means = faiss.Clustering(points.shape[1], CENTROIDS)
    means.seed, means.niter, means.max_points_per_centroid = seed, _ROUNDS, _TRAINING
    means.min_points_per_centroid = 1  # no warning
    index = faiss.IndexFlatL2(points.shape[1])
    means.train(points, index)
    nearest = index.search(points, 1)[1][:, 0]
    return index.reconstruct_n(0, CENTROIDS), nearest.astype(np.uint8)

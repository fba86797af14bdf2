"""The choice of anchor words for the build-up.

* frequency: the most frequent words.
* coreness: the highest k-core numbers in the graph of entries, ties by frequency, as in the paper's
  experiments (§5).
* leverage: the rows with the highest leverage scores in the span of G times a first build-up
  (Mahoney 2011).
* random: words with at least one entry, uniformly.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.ops import Ops
from wordgeom.core.types import Csr, Int64
from wordgeom.linalg.gram import orthonormal
from wordgeom.matrices.interfaces import Matrix
from wordgeom.methods.gbu.algorithm1 import build_up

FREQUENCY, CORENESS, LEVERAGE, RANDOM = "frequency", "coreness", "leverage", "random"
CHOICES = (FREQUENCY, CORENESS, LEVERAGE, RANDOM)


def choose_anchors(
    matrix: Matrix, m: int, K: int, choice: str, rng: np.random.Generator, ops: Ops
) -> Int64:
    """Return the rows of m anchors, ascending; the order of anchors does not affect the result."""
    by_frequency = np.argsort(-matrix.frequencies, kind="stable")
    if choice == FREQUENCY:
        return np.sort(by_frequency[:m])
    full = matrix.full()
    if choice == CORENESS:
        return np.sort(by_coreness(full, matrix.frequencies)[:m])
    if choice == RANDOM:
        return _random(full, m, rng)
    first = np.sort(by_frequency[:m])
    return _by_leverage(full, build_up(matrix.columns(first), first, K, 0.5, ops).vectors, m, ops)


def by_coreness(graph: Csr, frequencies: Int64) -> Int64:
    """Return the vertices (V) by descending core number, ties by frequency, then row."""
    core = coreness(graph)
    return np.lexsort((np.arange(len(core)), -frequencies, -core))


def coreness(graph: Csr) -> Int64:
    """Return the k-core number of each vertex (V) of a symmetric graph, in linear time."""
    from wordgeom.methods.gbu.coreness_kernels import core_numbers

    core = np.empty(graph.rows, np.int64)
    core_numbers(graph.indptr, graph.indices, core)
    return core


def _random(full: Csr, m: int, rng: np.random.Generator) -> Int64:
    lengths = np.diff(full.indptr)
    filled, empty = np.flatnonzero(lengths), np.flatnonzero(lengths == 0)
    order = np.concatenate((rng.permutation(filled), empty))  # empty rows only if m requires them
    return np.sort(order[:m])


def _by_leverage(full: Csr, vectors: np.ndarray, m: int, ops: Ops) -> Int64:
    product = ops.operator(full).multiply(ops.tall(vectors, vectors.dtype))
    basis = ops.to_numpy(orthonormal(product, ops))
    scores = np.einsum("ij,ij->i", basis, basis)
    return np.sort(np.argsort(-scores, kind="stable")[:m])

"""Which words the build-up is built on.

By frequency; by coreness, the order of the paper's runs (§5): the k-core numbers of the graph of
entries, ties by frequency; by leverage, the rows that weigh most in the span of G times a first
build-up (Mahoney 2011); or at random among words with an entry.
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


def choose(
    matrix: Matrix, m: int, K: int, choice: str, rng: np.random.Generator, ops: Ops
) -> Int64:
    """Return the rows of m anchors, ascending: their order among themselves changes nothing."""
    by_frequency = np.argsort(-matrix.frequencies, kind="stable")
    if choice == FREQUENCY:
        return np.sort(by_frequency[:m])
    whole = matrix.full()
    if choice == CORENESS:
        return np.sort(by_coreness(whole, matrix.frequencies)[:m])
    if choice == RANDOM:
        return _drawn(whole, m, rng)
    first = np.sort(by_frequency[:m])
    return _by_leverage(whole, build_up(matrix.columns(first), first, K, 0.5, ops).vectors, m, ops)


def by_coreness(graph: Csr, frequencies: Int64) -> Int64:
    """Return the vertices (V) by core number, the highest first, ties by frequency and row."""
    core = coreness(graph)
    return np.lexsort((np.arange(len(core)), -frequencies, -core))


def coreness(graph: Csr) -> Int64:
    """(V) the k-core number of each vertex of a symmetric graph, in time linear in its edges."""
    from wordgeom.methods.gbu.coreness_kernels import core_numbers

    core = np.empty(graph.rows, np.int64)
    core_numbers(graph.indptr, graph.indices, core)
    return core


def _drawn(whole: Csr, m: int, rng: np.random.Generator) -> Int64:
    lengths = np.diff(whole.indptr)
    there, empty = np.flatnonzero(lengths), np.flatnonzero(lengths == 0)
    drawn = np.concatenate((rng.permutation(there), empty))  # without an entry only where need be
    return np.sort(drawn[:m])


def _by_leverage(whole: Csr, vectors: np.ndarray, m: int, ops: Ops) -> Int64:
    product = ops.operator(whole).multiply(ops.tall(vectors, vectors.dtype))
    basis = ops.to_numpy(orthonormal(product, ops))
    scores = np.einsum("ij,ij->i", basis, basis)
    return np.sort(np.argsort(-scores, kind="stable")[:m])

"""The two halves of a sweep of dynamic LSA, each an exact least-squares solution.

Both halves minimise the same objective,

    J(A, B) + μ ‖A‖² + λ Σ_k ‖B_k‖²,

one over the B_k, the other over A. The ridges μ, λ are constant, so the objective never increases.
No array of size n × p is formed. Products with X use the dtype of A; Gram matrices and small
systems use float64. BLAS runs on one thread, so the bytes do not depend on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.ops import Ops
from wordgeom.core.types import Array, Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.methods.dlsa.problem import Problem
from wordgeom.runtime.pool import Pool

_WORDS = 4096  # words in a block
_DOCUMENTS, _TIMES = 4096, 64  # a block of times ends at either number


@dataclass(frozen=True)
class Ridges:
    """Ridges: λ of the words, μ of the documents."""

    words: float
    documents: float


@dataclass(frozen=True)
class Half:
    """The solution of a half sweep, A or the list of B_k, and the penalised objective."""

    solution: Any
    objective: float


@dataclass(frozen=True)
class Sweeper:
    """Solver of half sweeps."""

    problem: Problem
    ridges: Ridges
    ops: Ops
    pool: Pool

    def words(self, A: Array) -> Half:
        """Return the transposed B_k, q + 1 arrays (p × r), for fixed documents A (n × r).

        Moving words share the Gram matrix DᵀD of D = [A, diag(p_1) A, …], the others AᵀA.
        """
        with one_thread():
            return self._words(A)

    def _words(self, A: Array) -> Half:
        problem = self.problem
        p, terms = len(problem.moving), problem.basis.shape[1]
        D = [_scaled(problem.basis[:, k], A) for k in range(terms)]
        gram = self._gram(D) + self.ridges.words * np.eye(terms * A.shape[1])
        of_effects = [problem.effects.T @ Dk for Dk in D]
        solution = [self._product(problem.transposed, Dk) for Dk in D]
        solver = _WordSolver(gram, solution, of_effects, problem)
        blocks = [(start, min(start + _WORDS, p)) for start in range(0, p, _WORDS)]
        explained = sum(self.pool.map(solver.block, blocks))
        penalty = self.ridges.documents * float(np.sum(np.square(A, dtype=np.float64)))
        return Half(solution, problem.total - explained + penalty)

    def documents(self, B: list[Array]) -> Half:
        """Return A (n × r) for fixed, transposed B_k (p × r).

        Documents of the same time share B(t) B(t)ᵀ.
        """
        with one_thread():
            return self._documents(B)

    def _documents(self, B: list[Array]) -> Half:
        problem, r = self.problem, B[0].shape[1]
        right = np.zeros((len(problem.basis), r))
        for k, Bk in enumerate(B):
            product = self._product(problem.matrix, Bk) - problem.effects @ (problem.means @ Bk)
            right += _scaled(problem.basis[:, k], product)
        gram = self._gram(B).reshape(len(B), r, len(B), r).transpose(0, 2, 1, 3)
        A = np.empty((len(right), r), B[0].dtype)
        solver = _DocumentSolver(gram, self.ridges.documents, right, A, problem)
        explained = sum(self.pool.map(solver.block, _time_blocks(problem.by_time[1])))
        squares = sum(float(np.sum(np.square(Bk, dtype=np.float64))) for Bk in B)
        return Half(A, problem.total - explained + self.ridges.words * squares)

    def _product(self, operator: Any, tall: Array) -> Array:
        return self.ops.to_numpy(operator.multiply(self.ops.tall(tall, tall.dtype)))

    def _gram(self, columns: list[Array]) -> Float64:
        """Return the Gram matrix of [C_0, C_1, …] in float64, for arrays C_k (n × r)."""
        talls = [self.ops.tall(Ck, np.float64) for Ck in columns]
        count, r = len(talls), columns[0].shape[1]
        gram = np.empty((count, r, count, r))
        for k in range(count):
            for j in range(k, count):
                gram[k, :, j] = self.ops.inner(talls[k], talls[j])
                gram[j, :, k] = gram[k, :, j].T
        return gram.reshape(count * r, count * r)


class _WordSolver:
    """Solver of blocks of words, in place: `solution` holds XᵀD, then the B_k.

    of_effects: GᵀD.
    """

    def __init__(
        self, gram: Float64, solution: list[Array], of_effects: list[Array], problem: Problem
    ) -> None:
        self._gram, self._solution, self._of_effects = gram, solution, of_effects
        self._problem = problem

    def block(self, words: tuple[int, int]) -> float:
        """Solve the words [start, stop); return the sum of squares that they explain."""
        part, r = slice(*words), self._solution[0].shape[1]
        means = self._problem.means[:, part].T
        products = zip(self._solution, self._of_effects, strict=True)
        right = np.concatenate([XtD[part] - means @ GtD for XtD, GtD in products], axis=1)
        right[self._problem.squares[part] == 0.0] = 0.0
        moving = self._problem.moving[part]
        solved = np.zeros_like(right)
        solved[moving] = np.linalg.solve(self._gram, right[moving].T).T
        solved[~moving, :r] = np.linalg.solve(self._gram[:r, :r], right[~moving, :r].T).T
        for k, Bk in enumerate(self._solution):
            Bk[part] = solved[:, k * r : (k + 1) * r]
        return float(np.sum(solved * right))


class _DocumentSolver:
    """Solver of blocks of times, in place in A.

    gram (q + 1 × q + 1 × r × r): B_k B_lᵀ; right (n × r): right-hand sides.
    """

    def __init__(
        self, gram: Float64, ridge: float, right: Float64, A: Array, problem: Problem
    ) -> None:
        self._gram, self._ridge, self._right, self._A = gram, ridge, right, A
        self._basis, (self._order, self._starts) = problem.basis, problem.by_time

    def block(self, times: tuple[int, int]) -> float:
        """Solve the documents of times [start, stop); return the sum of squares they explain."""
        explained, ridge = 0.0, self._ridge * np.eye(self._A.shape[1])
        for t in range(*times):
            rows = self._order[self._starts[t] : self._starts[t + 1]]
            f = self._basis[rows[0]]
            right = self._right[rows]
            system = np.tensordot(np.outer(f, f), self._gram, 2) + ridge
            solved = np.linalg.solve(system, right.T).T
            self._A[rows] = solved
            explained += float(np.sum(solved * right))
        return explained


def _scaled(weights: Float64, tall: Array) -> Array:
    """Return diag(weights) tall, in the dtype of `tall`."""
    return np.asarray(tall * weights[:, None].astype(tall.dtype))


def _time_blocks(starts: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return blocks of times, which depend only on the number of documents at each."""
    blocks, first = [], 0
    for t in range(1, len(starts)):
        if t - first == _TIMES or starts[t] - starts[first] >= _DOCUMENTS or t == len(starts) - 1:
            blocks.append((first, t))
            first = t
    return blocks

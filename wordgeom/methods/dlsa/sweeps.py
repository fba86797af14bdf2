"""The two halves of a sweep of dynamic LSA, each an exact least squares solution.

What both make smaller, by turns, is one function of A and the B_k,

    J(A, B) + μ ‖A‖² + λ Σ_k ‖B_k‖²,

with ridges μ, λ that stay as they were at the start: so it never rises. Neither half forms
anything of n × p. Products with X are taken in the type of A, sums of products of A and of the
B_k with each other in float64, and small systems solved in it. BLAS takes one thread
throughout, so that a fit has the same bytes however many it might take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.ops import Ops
from wordgeom.core.types import Array, Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.methods.dlsa.problem import Problem
from wordgeom.runtime.pool import Pool

_Item = TypeVar("_Item")
_Value = TypeVar("_Value")
_WORDS = 4096  # of a block that is solved
_DOCUMENTS, _TIMES = 4096, 64  # of a block of times: at least so many, or so many


@dataclass(frozen=True)
class Ridges:
    """λ, of the words' side, and μ, of the documents'."""

    words: float
    documents: float


@dataclass(frozen=True)
class Half:
    """One side's solution, and J with its ridges, as it is then."""

    solution: Any
    objective: float


@dataclass(frozen=True)
class Sweeper:
    """Solves a problem by turns; pool: None for the calling thread."""

    problem: Problem
    ridges: Ridges
    ops: Ops
    pool: Pool | None = None

    def words(self, A: Array) -> Half:
        """Return the B_k, transposed, as a list of q + 1 arrays (p × r), for documents A (n × r).

        All words that move share DᵀD, D = [A, diag(p_1) A, …]; the others share AᵀA.
        """
        with one_thread():
            return self._words(A)

    def _words(self, A: Array) -> Half:
        at = self.problem
        columns = [_scaled(at.basis[:, k], A) for k in range(at.basis.shape[1])]
        gram = self._gram(columns) + self.ridges.words * np.eye(len(columns) * A.shape[1])
        held = [at.effects.T @ D for D in columns]
        found = [self._product(at.transposed, D) for D in columns]
        solve = _WordSolver(gram, found, held, at)
        blocks = [(s, min(s + _WORDS, len(at.moving))) for s in range(0, len(at.moving), _WORDS)]
        explained = sum(_mapped(self.pool, solve.block, blocks))
        size = self.ridges.documents * float(np.sum(np.square(A, dtype=np.float64)))
        return Half(found, at.total - explained + size)

    def documents(self, B: list[Array]) -> Half:
        """Return A (n × r) for the transposed B_k (p × r); documents of a time share B(t) B(t)ᵀ."""
        with one_thread():
            return self._documents(B)

    def _documents(self, B: list[Array]) -> Half:
        at, r = self.problem, B[0].shape[1]
        pulled = np.zeros((len(at.basis), r))
        for k, words in enumerate(B):
            freed = self._product(at.matrix, words) - at.effects @ (at.means @ words)
            pulled += _scaled(at.basis[:, k], freed)
        gram = self._gram(B).reshape(len(B), r, len(B), r).transpose(0, 2, 1, 3)
        A = np.empty((len(pulled), r), B[0].dtype)
        solve = _DocumentSolver(gram, self.ridges.documents, pulled, A, at)
        explained = sum(_mapped(self.pool, solve.block, _time_blocks(at.by_time[1])))
        size = self.ridges.words * sum(float(np.sum(np.square(b, dtype=np.float64))) for b in B)
        return Half(A, at.total - explained + size)

    def _product(self, operator: Any, tall: Array) -> Array:
        return self.ops.to_numpy(operator.multiply(self.ops.tall(tall, tall.dtype)))

    def _gram(self, columns: list[Array]) -> Float64:
        """Return [C_0, C_1, …]ᵀ[C_0, C_1, …] of arrays (n × r), in float64."""
        talls = [self.ops.tall(one, np.float64) for one in columns]
        count, r = len(talls), columns[0].shape[1]
        gram = np.empty((count, r, count, r))
        for k in range(count):
            for j in range(k, count):
                gram[k, :, j] = self.ops.inner(talls[k], talls[j])
                gram[j, :, k] = gram[k, :, j].T
        return gram.reshape(count * r, count * r)


class _WordSolver:
    """Solves blocks of words in place: `found` holds XᵀD, and then the solution."""

    def __init__(
        self, gram: Float64, found: list[Array], held: list[Array], problem: Problem
    ) -> None:
        self._gram, self._found, self._held, self._at = gram, found, held, problem

    def block(self, words: tuple[int, int]) -> float:
        """Solve the words [start, stop); return what they explain, Σ B ∘ C."""
        part, r = slice(*words), self._found[0].shape[1]
        means = self._at.means[:, part].T
        freed = [f[part] - means @ h for f, h in zip(self._found, self._held, strict=True)]
        right = np.concatenate(freed, axis=1)
        right[self._at.squares[part] == 0.0] = 0.0
        moving = self._at.moving[part]
        solved = np.zeros_like(right)
        solved[moving] = np.linalg.solve(self._gram, right[moving].T).T
        solved[~moving, :r] = np.linalg.solve(self._gram[:r, :r], right[~moving, :r].T).T
        for k, one in enumerate(self._found):
            one[part] = solved[:, k * r : (k + 1) * r]
        return float(np.sum(solved * right))


class _DocumentSolver:
    """Solves blocks of times in place in A; gram (q + 1 × q + 1 × r × r): B_k B_lᵀ."""

    def __init__(
        self, gram: Float64, ridge: float, pulled: Float64, A: Array, problem: Problem
    ) -> None:
        self._gram, self._ridge, self._pulled, self._A = gram, ridge, pulled, A
        self._basis, (self._order, self._starts) = problem.basis, problem.by_time

    def block(self, times: tuple[int, int]) -> float:
        """Solve the documents of the times [start, stop); return what they explain."""
        explained, ridge = 0.0, self._ridge * np.eye(self._A.shape[1])
        for t in range(*times):
            rows = self._order[self._starts[t] : self._starts[t + 1]]
            f = self._basis[rows[0]]
            right = self._pulled[rows]
            system = np.tensordot(np.outer(f, f), self._gram, 2) + ridge
            solved = np.linalg.solve(system, right.T).T
            self._A[rows] = solved
            explained += float(np.sum(solved * right))
        return explained


def _scaled(weights: Float64, tall: Array) -> Array:
    """Return diag(weights) tall, in its type."""
    return np.asarray(tall * weights[:, None].astype(tall.dtype))


def _time_blocks(starts: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut the times into blocks, by what they hold alone."""
    blocks, first = [], 0
    for t in range(1, len(starts)):
        if t - first == _TIMES or starts[t] - starts[first] >= _DOCUMENTS or t == len(starts) - 1:
            blocks.append((first, t))
            first = t
    return blocks


def _mapped(
    pool: Pool | None, function: Callable[[_Item], _Value], items: Iterable[_Item]
) -> Iterator[_Value]:
    """Yield function(item) in order."""
    yield from map(function, items) if pool is None else pool.map(function, items)

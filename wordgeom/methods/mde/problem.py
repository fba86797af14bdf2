"""The average distortion E(X) of an embedding, and its gradient (eq. 2.3, 5.1).

E(X) = (1/p) Σ f_ij(d_ij) over p pairs, with d_ij = ‖x_i − x_j‖. Its gradient is (1/p) Σ (f′(d)/d)
(x_i − x_j): a product with the Laplacian of the graph of pairs, weighted by f′(d)/d. No array of
differences (p × m) is formed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from wordgeom.core.types import Array, Int32
from wordgeom.methods.mde import kernels
from wordgeom.methods.mde.edges import Rows, earlier, later
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.runtime.pool import Pool

_PARTS = 8  # of the pairs, in which the gradient of narrow vectors is summed
_BLOCK = 1 << 14  # pairs whose distortion is computed at once: their numbers stay in the cache


class Distortion(Protocol):
    """A distortion function f, of a distance and of what is given about a pair."""

    def at(self, distances: Any, given: Any, xp: ModuleType) -> tuple[Any, Any]:
        """Return f (b) and f′(d)/d (b) at distances d (b), in the namespace xp."""


@dataclass(frozen=True)
class Term:
    """Pairs that share a distortion function."""

    pairs: Pairs
    distortion: Distortion


class Problem:
    """The average distortion of n items over the pairs of all terms, on the CPU.

    size: p, the number of pairs. Vectors (n × m) are float32 or float64, and so is the gradient.
    """

    def __init__(self, items: int, terms: Sequence[Term], pool: Pool) -> None:
        self.items, self.terms, self._pool = items, tuple(terms), pool
        self._later = [later(term.pairs, items) for term in self.terms]
        self.size = sum(len(term.pairs) for term in self.terms)

    def distances(self, vectors: Array) -> list[Array]:
        """Return the distance of each pair, by term."""
        found = []
        for rows, term in zip(self._later, self.terms, strict=True):
            out = np.empty(len(term.pairs), vectors.dtype)

            def run(block: tuple[int, int], rows: Any = rows, out: Array = out) -> None:
                kernels.set_distances(rows.indptr, rows.others, vectors, *block, out)

            self._each(run, rows.blocks(vectors.shape[1]))
            found.append(out)
        return found

    def distortions(self, vectors: Array) -> list[Array]:
        """Return the distortion of each pair, by term."""
        found = []
        for rows, term in zip(self._later, self.terms, strict=True):
            room = np.empty(len(term.pairs), vectors.dtype)
            parts = self._evaluated(rows, term, vectors, room, lambda *found: found[2])
            found.append(np.concatenate([room[:0], *parts]))
        return found

    def __call__(self, vectors: Array) -> tuple[float, Array]:
        """Return E and its gradient (n × m)."""
        total, slopes, start = 0.0, np.empty(self.size, vectors.dtype), 0
        wide = vectors.shape[1] > kernels.NARROW
        gradient = np.zeros_like(vectors) if wide else vectors[:0]
        for rows, term in zip(self._later, self.terms, strict=True):
            own = slopes[start : start + len(term.pairs)]

            def add(
                block: tuple[int, int], pairs: slice, values: Array, slope: Array,
                rows: Rows = rows, own: Array = own,
            ) -> float:  # fmt: skip
                near = np.divide(slope, self.size, out=own[pairs])
                if wide:  # while the vectors of the block are in the cache
                    kernels.add_pulls(rows.indptr, rows.others, near, vectors, *block, gradient)
                return float(values.sum(dtype=np.float64))

            total += sum(self._evaluated(rows, term, vectors, own, add))
            start += len(own)
        if wide:
            self._add_earlier(slopes, vectors, gradient)
        else:
            gradient = self._added(slopes, vectors)
        return total / self.size, gradient

    def _evaluated(
        self, rows: Rows, term: Term, vectors: Array, distances: Array,
        use: Callable[[tuple[int, int], slice, Array, Array], Any],
    ) -> Iterator[Any]:  # fmt: skip
        """Yield use(rows, pairs, f, f′(d)/d) for blocks of the pairs of a term, in order.

        distances: overwritten, a block before it is used.
        """

        def run(block: tuple[int, int]) -> Any:
            kernels.set_distances(rows.indptr, rows.others, vectors, *block, distances)
            pairs = slice(*(int(rows.indptr[row]) for row in block))
            with np.errstate(all="ignore"):  # an infinite distortion is a number here
                found = term.distortion.at(distances[pairs], term.pairs.given[pairs], np)
                return use(block, pairs, *found)

        return self._pool.each(run, rows.blocks(vectors.shape[1], _BLOCK))

    @cached_property
    def _earlier(self) -> tuple[Rows, Int32]:
        return earlier([term.pairs for term in self.terms], self.items)

    def _added(self, slopes: Array, vectors: Array) -> Array:
        """Return Σ_j slope_ij (x_i − x_j) for all i, (n × m): the sum of parts of the pairs.

        Each part has an array of its own and reads its slopes in order, which is faster for few
        columns. The number of parts, not that of threads, decides the order of the sums.
        """
        ends = np.cumsum([0, *(len(term.pairs) for term in self.terms)])

        def run(part: int) -> Array:
            out = np.zeros_like(vectors)
            for rows, start, end in zip(self._later, ends[:-1], ends[1:], strict=True):
                first, last = (
                    int(np.searchsorted(rows.indptr, (end - start) * k // _PARTS))
                    for k in (part, part + 1)
                )
                last = self.items if part == _PARTS - 1 else last
                own = slopes[start:end]
                kernels.add_gradient(rows.indptr, rows.others, own, vectors, first, last, out)
            return out

        parts = self._pool.each(run, range(_PARTS))
        total = next(parts)
        for part in parts:
            total += part
        return total

    def _add_earlier(self, slopes: Array, vectors: Array, gradient: Array) -> None:
        """Add Σ_j slope_ij (x_i − x_j) to row i of a gradient (n × m), over earlier items j."""
        rows, numbers = self._earlier

        def run(block: tuple[int, int]) -> None:
            entries = slice(*(int(rows.indptr[row]) for row in block))
            own = slopes[numbers[entries]]
            kernels.add_pulls(rows.indptr, rows.others, own, vectors, *block, gradient)

        self._each(run, rows.blocks(vectors.shape[1]))

    def _each(self, run: Callable[[Any], None], blocks: list[Any]) -> None:
        for _ in self._pool.each(run, blocks):
            pass

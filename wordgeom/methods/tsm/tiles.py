"""A symmetric matrix that is multiplied by tiles of its upper triangle, on the pool.

Panels of rows go to threads, their results are added in order, so that bytes are the same at any
number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Csr, Float32, Float64, offsets
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.pool import LOOKAHEAD, Pool

WIDTH = 256  # columns of a tile: with the panel's rows, 0.5 MB in each of three arrays


@dataclass(frozen=True)
class Panel:
    """Rows [start, stop) and the columns from start to n; place: of its first number when stored.

    similar: its rows of S, whose columns are those of the whole matrix.
    """

    start: int
    stop: int
    columns: int
    place: int
    similar: Csr

    @property
    def stride(self) -> int:
        """Numbers of a stored row."""
        return self.columns - self.start

    def flat(self, stored: Float32) -> Float32:
        """Return the panel's numbers in an array of all panels."""
        return stored[self.place : self.place + (self.stop - self.start) * self.stride]

    def tiles(self) -> Iterator[slice]:
        """Yield the columns of each tile; none crosses the end of the diagonal block."""
        yield from _cut(self.start, self.stop)
        yield from _cut(self.stop, self.columns)


def panels_of(similar: list[Csr]) -> list[Panel]:
    """Return the panels of a matrix from those of S."""
    starts = offsets(np.array([each.rows for each in similar]))
    n, panels, place = int(starts[-1]), [], 0
    for each, start in zip(similar, starts.tolist(), strict=False):
        panels.append(Panel(start, start + each.rows, n, place, each))
        place += each.rows * (n - start)
    return panels


def stored_size(panels: list[Panel]) -> int:
    """Return the numbers in all panels."""
    return sum((panel.stop - panel.start) * panel.stride for panel in panels)


def scratch_bytes(n: int, columns: int, threads: int) -> int:
    """Return the memory of products with `columns` columns in flight."""
    return 4 * n * columns * (threads * LOOKAHEAD + 2)


class Tiles:
    """Multiplies by tiles that a function returns."""

    def __init__(self, panels: list[Panel], pool: Pool) -> None:
        self.panels, self._pool = panels, pool

    def multiply(
        self, right: Float32, tiles: Callable[[Panel, Float64], Iterator[tuple[slice, Float32]]]
    ) -> tuple[Float32, Float64]:
        """Return the matrix times `right` (n × p), and the sums (2) over the whole matrix.

        tiles(panel, sums): yields the columns and the numbers of each tile, and adds to `sums`,
        of which row 0 is for the diagonal block and row 1 for the columns beyond it.
        """
        out, totals = np.zeros(right.shape, np.float32), np.zeros((2, 2))

        def run(panel: Panel) -> tuple[Float32, Float32, Float64]:
            start, stop = panel.start, panel.stop
            own = np.zeros((stop - start, right.shape[1]), np.float32)
            beyond = np.empty((panel.columns - stop, right.shape[1]), np.float32)
            sums = np.zeros((2, 2))
            for columns, tile in tiles(panel, sums):
                own += tile @ right[columns]
                if columns.start >= stop:
                    part = beyond[columns.start - stop : columns.stop - stop]
                    np.matmul(tile.T, right[start:stop], out=part)
            return own, beyond, sums

        with one_thread():
            done = self._pool.map(run, self.panels)
            for panel, (own, beyond, sums) in zip(self.panels, done, strict=True):
                out[panel.start : panel.stop] += own
                out[panel.stop :] += beyond
                totals += sums
        return out, totals[0] + 2.0 * totals[1]

    def each(self, function: Callable[[Panel], None]) -> None:
        """Run a function on every panel."""
        for _ in self._pool.map(function, self.panels):
            pass


def _cut(start: int, stop: int) -> Iterator[slice]:
    return (slice(at, min(at + WIDTH, stop)) for at in range(start, stop, WIDTH))

"""The pairs of vectors whose cosine exceeds a threshold, and the threshold of a share of pairs.

Both multiply blocks of unit vectors in float32: n² K flops, without an n × n array. Cosines near
the threshold are decided to the rounding of float32, 1e-6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Csr, Float32, Int64, offsets
from wordgeom.linalg import join_kernels
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress

PANEL = 512  # rows of a panel
_ROWS = 128  # rows multiplied at once
BINS = 1 << 16  # of the histogram of cosines


def thresholded_join(
    units: Float32, threshold: float, pool: Pool, progress: Progress | None = None
) -> list[Csr]:
    """Return the cosines above the threshold, in panels of PANEL rows of the upper triangle.

    units (n × K) of length 1. The panel of rows [s, e) has the columns from s on, so that its first
    block, [s, e) × [s, e), holds each pair twice. Diagonal entries are 1 and always present.
    """

    def run(start: int) -> Csr:
        return _stacked([_block(units, rows, start, threshold)
                         for rows in _blocks(start, min(start + PANEL, len(units)))])  # fmt: skip

    starts = range(0, len(units), PANEL)
    with one_thread():
        found = pool.map(run, starts)
        shown = progress or Progress()
        return list(shown.follow(found, "join", len(units), "rows", lambda panel: panel.rows))


@dataclass(frozen=True)
class Cosines:
    """The cosines of all pairs of different rows, counted in equal bins of [−1, 1]."""

    counts: Int64

    def quantile(self, share: float) -> float:
        """Return a cosine that `share` of the pairs do not exceed.

        A multiple of 2/BINS, less than that above the exact quantile.
        """
        pairs = int(self.counts.sum())
        later = pairs - np.cumsum(self.counts)
        place = int(np.argmax(later <= (1.0 - share) * pairs))
        return (place + 1) * 2.0 / len(self.counts) - 1.0

    def above(self, threshold: float) -> int:
        """Return an upper bound of the pairs above a threshold, exact to one bin."""
        place = int((threshold + 1.0) * len(self.counts) / 2.0)
        return int(self.counts[place:].sum())


def count_cosines(units: Float32, pool: Pool, progress: Progress | None = None) -> Cosines:
    """Return the histogram of the cosines of all pairs; units (n × K) of length 1, n ≥ 2."""

    def run(rows: slice) -> Int64:
        counts = np.zeros(BINS, np.int64)
        join_kernels.count_bins(units[rows] @ units[rows.start :].T, counts)
        return counts

    total = np.zeros(BINS, np.int64)
    blocks = list(_blocks(0, len(units)))
    with one_thread():
        done = pool.map(run, blocks)
        shown = progress or Progress()
        for counts in shown.follow(done, "cosines", len(blocks), "blocks", lambda _: 1):
            total += counts
    return Cosines(total)


def pair_counts(panels: list[Csr], n: int) -> Int64:
    """Return the number of entries of each row (n) of the whole matrix, its diagonal included."""
    counts = np.zeros(n, np.int64)
    start = 0
    for panel in panels:
        stop = start + panel.rows
        counts[start:stop] += np.diff(panel.indptr)
        beyond = panel.indices[panel.indices >= stop]
        counts += np.bincount(beyond, minlength=n)
        start = stop
    return counts


def _blocks(start: int, stop: int) -> Iterator[slice]:
    return (slice(at, min(at + _ROWS, stop)) for at in range(start, stop, _ROWS))


def _block(units: Float32, rows: slice, first: int, threshold: float) -> Csr:
    """Return the entries of some rows in the columns from `first` on."""
    products = units[rows] @ units[first:].T
    places = np.arange(rows.start, rows.stop)
    products[places - rows.start, places - first] = 1.0
    counts = np.empty(len(products), np.int64)
    join_kernels.count_above(products, threshold, counts)
    indptr = offsets(counts)
    indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    join_kernels.collect_above(products, threshold, first, indptr[1:], indices, data)
    return Csr(indptr, indices, data, len(units))


def _stacked(blocks: list[Csr]) -> Csr:
    """Return the rows of several blocks as one."""
    lengths = np.concatenate([np.diff(block.indptr) for block in blocks])
    indices, data = (
        np.concatenate([getattr(block, name) for block in blocks]) for name in ("indices", "data")
    )
    return Csr(offsets(lengths), indices, data, blocks[0].columns)

"""Sum or subtract count matrices over the same words, one block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from wordgeom.counts import cluster_merge
from wordgeom.counts.count_rows import ENTRIES, BufferedRows, Rows, Workspace, cut_rows, lend
from wordgeom.counts.summands import Negative, SharedSummands, Summand, combined
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.scheduler import Scheduler


def merge(
    summands: Sequence[Summand],
    words: int,
    symmetric: bool,
    dtype: np.dtype[np.uint32] | np.dtype[np.int64],
    pool: Pool,
    first: int = 0,
    entries: int = ENTRIES,
    *,
    subtract: Negative | None = None,
    remote: tuple[Scheduler, SharedSummands] | None = None,
) -> tuple[Iterator[Rows], Workspace]:
    """Return the rows of the sum in blocks, and the workspace with its row and column sums.

    The workspace is complete after the last block. symmetric: the summands are upper triangles;
    first: the first row to return; entries: of a block; subtract: subtract the others from the
    first, and raise what this returns for row, column and value of the first negative count;
    remote: a cluster that adds up many entries, and the same summands for its workers.
    """
    lengths = sum((np.diff(s.indptr) for s in summands), np.zeros(words, np.int64))
    blocks = cut_rows(lengths, lengths, entries, entries, first)
    room = max((int(lengths[a:b].sum()) for a, b in blocks), default=0)
    workspace = Workspace(words, symmetric, room, dtype)
    if remote is not None and lengths.sum() >= cluster_merge.WORTH:
        there = cluster_merge.merge_on_cluster(*remote, blocks, workspace, room, subtract)
        return there, workspace

    def run(block: tuple[int, int]) -> BufferedRows:
        made, negative = combined(summands, block, workspace, subtract=subtract is not None)
        if subtract is not None and negative[2]:
            raise subtract(*negative.tolist())
        return made

    return lend(pool.map(run, blocks), workspace), workspace

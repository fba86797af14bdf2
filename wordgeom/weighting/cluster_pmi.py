"""PMI of stored counts on a cluster, in blocks of rows that the workers read from the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core.types import Csr, offsets
from wordgeom.matrices.shared_rows import SharedRows
from wordgeom.runtime.scheduler import Result, Scheduler, Shared
from wordgeom.weighting.pmi import PmiWeights, WeightedMatrix

WORTH = 1 << 26  # stored counts, from which their PMI is worth its messages
_BLOCKS = 4  # consecutive blocks of a task
_Blocks = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class _Weighting:
    """The counts, and PmiWeights: its arrays and its other fields."""

    counts: SharedRows
    arrays: tuple[Shared, Shared]
    others: tuple[Any, ...]


def weigh_on_cluster(
    matrix: WeightedMatrix, blocks: _Blocks, scheduler: Scheduler
) -> Iterator[Csr]:
    """Yield the weighted rows of consecutive blocks, several blocks at a time."""
    at = matrix.weights
    arrays = scheduler.share(at.rows), scheduler.share(at.columns)
    counts = SharedRows.of([matrix.counts], scheduler)
    spec = _Weighting(counts, arrays, (at.shift, at.clip, at.both, at.total))
    tasks = [blocks[k : k + _BLOCKS] for k in range(0, len(blocks), _BLOCKS)]
    columns = len(matrix.vocabulary)
    for made in scheduler.map(_weigh, tasks, spec):
        yield Csr(offsets(made["lengths"]), made["indices"], made["data"], columns)
    scheduler.release(*arrays, counts.indptr)


def _weigh(blocks: _Blocks, spec: _Weighting) -> Result:
    """Return the lengths, columns and values of weighted rows."""
    rows, columns = (array.open() for array in spec.arrays)
    weights = PmiWeights(rows, columns, *spec.others)
    (counts,) = spec.counts.open()
    parts = [weights.weigh(counts.rows(*block), block[0]) for block in blocks]
    return {
        "lengths": np.concatenate([np.diff(part.indptr) for part in parts]),
        "indices": np.concatenate([part.indices for part in parts]),
        "data": np.concatenate([part.data for part in parts]),
    }

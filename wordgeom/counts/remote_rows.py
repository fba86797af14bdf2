"""Blocks of rows that a cluster computes: grouped into tasks, and received in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from wordgeom.core.types import Csr, offsets
from wordgeom.counts.count_rows import Rows, Workspace
from wordgeom.runtime.scheduler import Result

Blocks = list[tuple[int, int]]
_BLOCKS = 4  # consecutive blocks of a task: about .2 s


def tasks_of(blocks: Blocks) -> list[Blocks]:
    """Group consecutive blocks into tasks."""
    return [blocks[k : k + _BLOCKS] for k in range(0, len(blocks), _BLOCKS)]


def result_of(parts: Sequence[Rows]) -> Result:
    """Return consecutive rows as the result of a task."""
    return {
        "lengths": np.concatenate([part.lengths for part in parts]),
        "indices": np.concatenate([part.indices for part in parts]),
        "values": np.concatenate([part.values for part in parts]),
    }


def received(
    tasks: Sequence[Blocks], results: Iterator[Result], workspace: Workspace
) -> Iterator[Rows]:
    """Yield the rows of each task, and add them to the sums of the workspace."""
    for task, result in zip(tasks, results, strict=True):
        lengths, indices, values = (result[name] for name in ("lengths", "indices", "values"))
        workspace.add(task[0][0], Csr(offsets(lengths), indices, values, workspace.words))
        yield Rows(task[0][0], lengths, indices, values)

"""Put documents into cells: groups of documents of one time and one fold, which flip together.

Passages of a document stay together, because they are alike. Folds are for topics that a document
has not influenced; several documents share a cell where there are more documents than CELLS.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Float64, Int64

FOLDS = 5
CELLS = 1024  # the cost of a flip grows with their number, its precision hardly


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of passages (n): of (n) the cell of each; time, fold (c) of each cell."""

    of: Int64
    time: Int64
    fold: Int64

    def __len__(self) -> int:
        return len(self.time)

    def add(self, out: Float64, passages: slice, values: Array) -> None:
        """Add values (m, …) of some passages to the sums out (c, …) of their cells."""
        np.add.at(out, self.of[passages], values)


def assign_cells(codes: Array, units: Int64, rng: np.random.Generator) -> Cells:
    """Return the cells of passages with times `codes` (n), of the documents `units` (n)."""
    _, first, unit = np.unique(units, return_index=True, return_inverse=True)
    times = codes[first].astype(np.int64)
    order = np.lexsort((rng.permutation(len(times)), times))
    place = np.empty(len(times), np.int64)
    place[order] = np.arange(len(times))
    starts = np.searchsorted(times[order], np.arange(times.max() + 1))
    several = max(1, CELLS // (len(np.unique(times)) * FOLDS))
    fold, bucket = place % FOLDS, (place - starts[times]) // FOLDS % several
    keys = (times * FOLDS + fold) * several + bucket
    distinct, of = np.unique(keys[unit], return_inverse=True)
    return Cells(of, distinct // (several * FOLDS), distinct // several % FOLDS)

"""Collect the two triangles of an imported matrix and test whether it is symmetric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wordgeom.core.types import Int64
from wordgeom.counts.count_rows import Rows, Workspace
from wordgeom.counts.merge import merge
from wordgeom.formats import grouping_kernels as kernels
from wordgeom.formats.row_grouping import RowGrouper
from wordgeom.runtime.context import Context
from wordgeom.storage.files import Closing

_SEED = 1  # of the symmetry test
_MODULUS = 1 << 64


class Triangles(Closing):
    """Integer entries of a matrix C (V × V), in any order; dtype: uint32 or int64.

    folded: an entry (i, j) also stands for (j, i). Otherwise C counts as symmetric if
    xᵀCy = yᵀCx for random 64-bit vectors x, y (Freivalds 1977): exact sums modulo 2^64 that do not
    depend on order or repeated entries.
    """

    def __init__(self, words: int, folded: bool, dtype: np.dtype[Any], context: Context) -> None:
        self._words, self._folded, self._dtype, self._context = words, folded, dtype, context
        self._upper, self._lower = (RowGrouper(words, dtype, context) for _ in range(2))
        random = np.random.default_rng(_SEED).integers(0, _MODULUS, (2, words), np.uint64)
        self._x, self._y = random
        self._difference = 0
        self.zeros = 0

    def add(self, rows: Int64, columns: Int64, units: Int64) -> None:
        """Add entries; skip and count zeros. Raises WriteError if scratch space is full."""
        nonzero = units != 0
        if not nonzero.all():
            self.zeros += len(units) - int(nonzero.sum())
            rows, columns, units = rows[nonzero], columns[nonzero], units[nonzero]
        if self._folded:
            self._upper.add(np.minimum(rows, columns), np.maximum(rows, columns), units)
            return
        more = int(kernels.asymmetry(rows, columns, units, self._x, self._y))
        self._difference = (self._difference + more) % _MODULUS
        upper = rows <= columns
        self._upper.add(rows[upper], columns[upper], units[upper])
        self._lower.add(rows[~upper], columns[~upper], units[~upper])

    @property
    def symmetric(self) -> bool:
        """Whether the entries added so far form a symmetric matrix."""
        return self._folded or self._difference == 0

    @property
    def entries(self) -> int:
        """Number of entries that `rows` merges; repeated ones count separately."""
        return self._upper.entries + (0 if self.symmetric else self._lower.entries)

    def rows(self) -> tuple[Iterator[Rows], Workspace]:
        """Return blocks of rows, of the upper triangle only if the matrix is symmetric."""
        parts = list(self._upper.parts())
        parts += [] if self.symmetric else self._lower.parts()
        return merge(parts, self._words, self.symmetric, self._dtype, self._context.pool)

    def close(self) -> None:
        """Close the scratch files."""
        self._upper.close()
        self._lower.close()

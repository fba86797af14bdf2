"""Partial count matrices, stored in temporary files or by another `Parts` until they are merged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from wordgeom.core.types import Csr, Int64
from wordgeom.counts.count_rows import Rows
from wordgeom.counts.summands import Summand
from wordgeom.storage.scratch import Scratch

Span = tuple[int, int]  # the range of the stream that a part counts


class Part(Summand, Protocol):
    """A stored partial matrix."""

    def close(self) -> None:
        """Free its storage."""


class Parts(Protocol):
    """Storage of the parts of a count."""

    def find(self, span: Span, words: int) -> Part | None:
        """Return a part that an earlier run finished, or None."""

    def spill(self, span: Span, blocks: Iterable[Rows], words: int, dtype: np.dtype[Any]) -> Part:
        """Write the rows of a part."""


@dataclass(frozen=True)
class ScratchParts:
    """Parts in temporary files, which no later run can find."""

    folder: str | None

    def find(self, span: Span, words: int) -> Part | None:
        """Return None."""
        return None

    def spill(self, span: Span, blocks: Iterable[Rows], words: int, dtype: np.dtype[Any]) -> Part:
        """Write the rows of a part; raises WriteError when the disk is full."""
        return Partial.spill(blocks, words, dtype, self.folder)


@dataclass(frozen=True)
class Partial:
    """indptr (V + 1), and the columns and values of the entries in two temporary files."""

    indptr: Int64
    words: int
    dtype: np.dtype[np.generic]
    _indices: Scratch
    _values: Scratch

    @classmethod
    def spill(
        cls, blocks: Iterable[Rows], words: int, dtype: DTypeLike, folder: str | None
    ) -> Partial:
        """Write rows to temporary files in `folder`; raises WriteError when the disk is full."""
        lengths = np.zeros(words + 1, np.int64)
        indices, values = Scratch(folder), Scratch(folder)
        for rows in blocks:
            lengths[rows.start + 1 : rows.start + 1 + len(rows.lengths)] = rows.lengths
            indices.put(rows.indices)
            values.put(rows.values)
        return cls(np.cumsum(lengths), words, np.dtype(dtype), indices, values)

    def close(self) -> None:
        """Close the temporary files."""
        self._indices.close()
        self._values.close()

    def rows(self, start: int, stop: int) -> Csr:
        """Return the rows [start:stop)."""
        begin, end = int(self.indptr[start]), int(self.indptr[stop])
        indices, values = np.empty(end - begin, np.int32), np.empty(end - begin, self.dtype)
        for file, out in ((self._indices, indices), (self._values, values)):
            file.read(begin * out.itemsize, out)
        return Csr(self.indptr[start : stop + 1] - begin, indices, values, self.words)

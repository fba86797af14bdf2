"""Partial count matrices, stored in scratch files or by another `Parts` until they are merged."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol, cast

import numpy as np
from numpy.typing import DTypeLike

from wordgeom.core.errors import WriteError
from wordgeom.core.types import Array, Csr, Int64
from wordgeom.counts.count_rows import Rows
from wordgeom.counts.merge import Summand

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
    """Parts in scratch files, which no later run can find."""

    folder: str | None

    def find(self, span: Span, words: int) -> Part | None:
        """Return None."""
        return None

    def spill(self, span: Span, blocks: Iterable[Rows], words: int, dtype: np.dtype[Any]) -> Part:
        """Write the rows of a part; raises WriteError when the disk is full."""
        return Partial.spill(blocks, words, dtype, self.folder)


@dataclass(frozen=True)
class Partial:
    """A matrix in memory and scratch: indptr (V + 1), unnamed files of columns and of values."""

    indptr: Int64
    words: int
    dtype: np.dtype[np.generic]
    _indices: BinaryIO
    _values: BinaryIO

    @classmethod
    def spill(
        cls, blocks: Iterable[Rows], words: int, dtype: DTypeLike, folder: str | None
    ) -> Partial:
        """Write rows to scratch files in `folder`; raises WriteError when the disk is full."""
        lengths = np.zeros(words + 1, np.int64)
        try:
            files = [
                cast(BinaryIO, tempfile.TemporaryFile(dir=folder, buffering=0)) for _ in range(2)
            ]
            for rows in blocks:
                lengths[rows.start + 1 : rows.start + 1 + len(rows.lengths)] = rows.lengths
                for file, array in zip(files, (rows.indices, rows.values), strict=True):
                    _write(file, array)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            do = "free room there or name another folder with --tmp-dir"
            where = folder or tempfile.gettempdir()
            raise WriteError(f"scratch space: {reason}", where=where, do=do) from error
        return cls(np.cumsum(lengths), words, np.dtype(dtype), *files)

    def close(self) -> None:
        """Close the scratch files."""
        self._indices.close()
        self._values.close()

    def rows(self, start: int, stop: int) -> Csr:
        """Return the rows [start:stop)."""
        begin, end = int(self.indptr[start]), int(self.indptr[stop])
        indices = _read(self._indices, begin, end, np.dtype(np.int32))
        values = _read(self._values, begin, end, self.dtype)
        return Csr(self.indptr[start : stop + 1] - begin, indices, values, self.words)


def _write(file: BinaryIO, array: Array) -> None:
    raw = memoryview(array.data).cast("B") if len(array) else memoryview(b"")
    while raw:
        raw = raw[file.write(raw) :]


def _read(file: BinaryIO, begin: int, end: int, dtype: np.dtype[np.generic]) -> Array:
    out = np.empty(end - begin, dtype)
    raw = memoryview(out.data).cast("B") if len(out) else memoryview(b"")
    at = begin * dtype.itemsize
    while raw:
        done = os.preadv(file.fileno(), [raw], at)
        raw, at = raw[done:], at + done
    return out

"""A partial matrix in a scratch file that has no name, so that nothing is left when we die."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import DTypeLike

from wordgeom.counts.rows import Rows
from wordgeom.errors import WriteError
from wordgeom.types import Array, Csr, Int64


@dataclass(frozen=True)
class Partial:
    """indptr (V + 1) and two scratch files that hold the columns and the values."""

    indptr: Int64
    words: int
    dtype: np.dtype[np.generic]
    _indices: BinaryIO
    _values: BinaryIO

    @classmethod
    def spill(
        cls, blocks: Iterable[Rows], words: int, dtype: DTypeLike, folder: str | None
    ) -> Partial:
        """Write rows to scratch files in `folder`; raises WriteError when it is full."""
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
        """Let go of the scratch files."""
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

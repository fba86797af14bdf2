"""GloVe's co-occurrence records (cooccurrence.bin): int32 row and column from 1, float64 value.

GloVe's `cooccur` writes them sorted, its `shuffle` in random order; `glove` accepts both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from wordgeom.core.errors import FormatError
from wordgeom.core.types import Array, Int64
from wordgeom.formats.entries import BLOCK, Block
from wordgeom.formats.matrix_entries import blocks, values
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.storage.opening import opened

_RECORD = np.dtype([("row", "<i4"), ("column", "<i4"), ("value", "<f8")])


@dataclass(frozen=True)
class GloveFile:
    """A file of records over a vocabulary of `words` words (entries.EntryFile)."""

    path: Path
    words: int
    symmetric: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """V × V; the file does not store its shape."""
        return self.words, self.words

    @property
    def entries(self) -> int:
        """Number of records. Raises FormatError if the last one is incomplete."""
        size = self.path.stat().st_size
        if size % _RECORD.itemsize:
            what = f"{size:,} bytes are not whole records of {_RECORD.itemsize} bytes"
            do = "the file is truncated or was not written by GloVe's cooccur"
            raise FormatError(what, where=self.path, do=do)
        return size // _RECORD.itemsize

    def blocks(self) -> Iterator[Block]:
        """Yield all entries. Raises FormatError."""
        with opened(self.path, "a file of GloVe records") as source:
            for first in range(0, self.entries, BLOCK):
                records = np.empty(min(BLOCK, self.entries - first), _RECORD)
                if source.readinto(records.view(np.uint8)) != records.nbytes:  # type: ignore[attr-defined]
                    raise FormatError("the file shrank while being read", where=self.path)
                row, column = (self._places(records, part, first) for part in ("row", "column"))
                yield row, column, records["value"].astype(np.float64)

    def _places(self, records: Array, part: str, first: int) -> Int64:
        places = records[part].astype(np.int64)
        bad = (places < 1) | (places > self.words)
        if bad.any():
            at = int(np.argmax(bad))
            what = f"record {first + at + 1:,} has a {part} not between 1 and {self.words:,}"
            do = "name the vocabulary of these counts with --words"
            raise FormatError(what, where=self.path, found=f"{places[at]:,}", do=do)
        return places - 1


def write_glove(out: BinaryIO, matrix: StoredMatrix) -> None:
    """Write a record per entry of both triangles, (i, j) followed by (j, i)."""
    for row, column, data in blocks(matrix):
        twins = 1 + (matrix.symmetric & (row != column))
        records = np.empty(int(twins.sum()), _RECORD)
        at = np.cumsum(twins) - twins
        _put(records, at, row, column, values(matrix, data))
        second = twins == 2
        _put(records, at[second] + 1, column[second], row[second], values(matrix, data[second]))
        out.write(cast(Array, records).data)


def _put(records: Array, at: Int64, row: Int64, column: Int64, data: Array) -> None:
    records["row"][at], records["column"][at], records["value"][at] = row + 1, column + 1, data

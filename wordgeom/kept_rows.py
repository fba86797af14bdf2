"""Rows of a matrix that are kept as they are written, so that a later run goes on behind them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from wordgeom.blocks import row_blocks
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.errors import FormatError
from wordgeom.kept import Kept
from wordgeom.matrix import MatrixWriter
from wordgeom.store import StoredArray, StoreWriter, marked_array
from wordgeom.types import Array, Csr, Int64
from wordgeom.undisturbed import undisturbed

_ROWS, _LENGTHS, _MARK = "rows", "lengths", "mark"


class KeptRows:
    """Writes a matrix into the store `path`: `with KeptRows(…) as rows: rows.begin(…) …`.

    Raises what StoreWriter raises, and FormatError where the rows of an earlier run are damaged.
    """

    def __init__(self, kept: Kept, path: str | os.PathLike[str], kind: str) -> None:
        self._kept, self._path = kept, Path(path)
        piece = kept.find(_ROWS)
        self._lengths = np.empty(0, np.int64) if piece is None else piece.array(_LENGTHS).read()
        self._mark: dict[str, Any] = {} if piece is None else piece.attributes[_MARK]
        for entry in self._mark.values():
            marked_array(self._path, entry)  # there, and long enough
        self.writer = StoreWriter(path, kind, mark=self._mark)

    def __enter__(self) -> KeptRows:
        self.writer.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.writer.__exit__(*error)

    @property
    def done(self) -> int:
        """How many rows an earlier run wrote."""
        return len(self._lengths)

    def begin(self, vocabulary: Vocabulary, dtype: DTypeLike) -> None:
        """Make ready to write rows behind those that are done."""
        self._matrix = MatrixWriter(self.writer, vocabulary, dtype, self._lengths)

    def write(self, rows: Iterable[tuple[Int64, Array, Array]]) -> None:
        """Write blocks of rows: lengths, columns, values; keep what is written, now and then."""
        try:
            for lengths, indices, data in rows:
                with undisturbed():
                    self._matrix.write(lengths, indices, data)
                if self._kept.due():
                    self._keep()
        except KeyboardInterrupt:
            self._keep()
            raise

    def finish(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """Write what is left but the commit; return the attributes with those of the shape."""
        return self._matrix.finish(attributes)

    def earlier(self) -> Iterator[tuple[int, Csr]]:
        """Yield the rows that an earlier run wrote, checked, in blocks with their first number."""
        indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(self._lengths)))
        for start, stop in row_blocks(indptr):
            begin, end = int(indptr[start]), int(indptr[stop])
            indices, data = (self._part(name).read(begin, end) for name in ("indices", "data"))
            yield start, Csr(indptr[start : stop + 1] - begin, indices, data, 0)

    def _part(self, name: str) -> StoredArray:
        try:
            return marked_array(self._path, self._mark[name])
        except KeyError:
            raise FormatError("its mark was edited", where=self._path) from None

    def _keep(self) -> None:
        with undisturbed(), self._kept.writer(_ROWS) as piece:
            lengths = self._matrix.lengths
            piece.array(_LENGTHS, np.int64).write(lengths)
            piece.commit({_MARK: self.writer.mark()}, {})
            self._kept.saved()

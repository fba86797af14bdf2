"""Rows of a matrix that are kept as they are written, so that a later run goes on behind them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from wordgeom.checkpoint.state import Kept
from wordgeom.core.errors import FormatError
from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Array, Csr, Int64
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.matrices.cooccurrence import MatrixWriter
from wordgeom.runtime.signals import deferred_signals
from wordgeom.storage.store import LOCK, Store, StoreWriter, exists, marked_array

_ROWS, _LENGTHS, _MARK = "rows", "lengths", "mark"
_PARTS = ("indices", "data")


class KeptRows:
    """Writes a matrix into the store `path`: `with KeptRows(…) as rows: rows.begin(…) …`.

    Raises what StoreWriter raises, and FormatError where the rows of an earlier run are damaged.
    """

    def __init__(self, kept: Kept, path: str | os.PathLike[str], kind: str) -> None:
        self._kept, self._path = kept, Path(path)
        self._lengths, self._mark = np.empty(0, np.int64), dict[str, Any]()
        if (piece := kept.find(_ROWS)) is not None:
            self._lengths, self._mark = _read(piece, self._path)
        self.writer = StoreWriter(path, kind, mark=self._mark)

    def __enter__(self) -> KeptRows:
        # An empty folder is somebody's; one with a lock is what a run that was killed left.
        self._ours = not self._path.exists() or (self._path / LOCK).exists()
        self.writer.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.writer.__exit__(*error)
        if self._ours and not exists(self._path):
            with contextlib.suppress(OSError):  # it holds rows that are kept
                self._path.rmdir()

    @property
    def done(self) -> int:
        """How many rows an earlier run wrote."""
        return len(self._lengths)

    def begin(self, vocabulary: Vocabulary, dtype: DTypeLike) -> None:
        """Make ready to write rows behind those that are done. Raises FormatError."""
        if self.done > len(vocabulary) or (
            self._mark and np.dtype(self._mark["data"]["dtype"]) != dtype
        ):
            raise FormatError("its rows are not those of this text", where=self._path)
        self._matrix = MatrixWriter(self.writer, vocabulary, dtype, self._lengths)

    def write(self, rows: Iterable[tuple[Int64, Array, Array]]) -> None:
        """Write blocks of rows: lengths, columns, values; keep what is written, now and then."""
        try:
            for lengths, indices, data in rows:
                with deferred_signals():
                    self._matrix.write(lengths, indices, data)
                if self._kept.due():
                    self._keep()
        except KeyboardInterrupt:
            if len(self._matrix.lengths):
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
            indices, data = (
                marked_array(self._path, self._mark[name]).read(begin, end) for name in _PARTS
            )
            yield start, Csr(indptr[start : stop + 1] - begin, indices, data, 0)

    def _keep(self) -> None:
        with deferred_signals(), self._kept.writer(_ROWS) as piece:
            lengths = self._matrix.lengths
            piece.array(_LENGTHS, np.int64).write(lengths)
            piece.commit({_MARK: self.writer.mark()}, {})
            self.writer.keep_parts()
            self._kept.saved()


def _read(piece: Store, path: Path) -> tuple[Int64, dict[str, Any]]:
    """Return the lengths of the rows that were written, and the mark of the arrays they fill."""
    mark, lengths = piece.attributes.get(_MARK), piece.array(_LENGTHS).read()
    if isinstance(mark, dict) and set(mark) == set(_PARTS) and lengths.dtype == np.int64:
        held = {marked_array(path, entry).length for entry in mark.values()}
        # Added up as they are: a sum of numbers that lie may pass an int64.
        if np.all(lengths >= 0) and held == {sum(lengths.tolist())}:
            return lengths, mark
    raise FormatError("its state was edited", where=piece.path)

"""Rows of a matrix in a checkpoint: a resumed run appends to those already written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from wordgeom.checkpoint.state import State
from wordgeom.core.errors import FormatError
from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Array, Csr, Int64, offsets
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.matrices.cooccurrence import MatrixWriter
from wordgeom.runtime.signals import deferred_signals
from wordgeom.storage.arrays import marked_array
from wordgeom.storage.meta import LOCK
from wordgeom.storage.store import StoreWriter, exists

_ROWS, _LENGTHS, _MARK = "rows", "lengths", "mark"
_PARTS = ("indices", "data")


class MatrixRows:
    """Writes a matrix into the store `path`: `with MatrixRows(…) as rows: rows.begin(…) …`.

    Raises what StoreWriter raises, and FormatError for damaged rows.
    """

    def __init__(self, state: State, path: str | os.PathLike[str], kind: str) -> None:
        self._state, self._path = state, Path(path)
        self._lengths, self._mark = np.empty(0, np.int64), dict[str, Any]()
        if (piece := state.find(_ROWS)) is not None:
            self._lengths = piece.array(_LENGTHS).read()
            self._mark = piece.attributes[_MARK]
        self.writer = StoreWriter(path, kind, mark=self._mark)

    def __enter__(self) -> MatrixRows:
        # An empty directory is the user's; one with a lock was left by a killed run.
        self._ours = not self._path.exists() or (self._path / LOCK).exists()
        self.writer.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.writer.__exit__(*error)
        if self._ours and not exists(self._path):
            with contextlib.suppress(OSError):  # not empty: it holds checkpointed rows
                self._path.rmdir()

    @property
    def done(self) -> int:
        """The number of rows written before the interruption."""
        return len(self._lengths)

    def begin(self, vocabulary: Vocabulary, dtype: DTypeLike) -> None:
        """Prepare to append rows. Raises FormatError where the earlier rows are of another text."""
        if self.done > len(vocabulary) or (
            self._mark and np.dtype(self._mark["data"]["dtype"]) != dtype
        ):
            raise FormatError("its checkpointed rows belong to a different text", where=self._path)
        self._matrix = MatrixWriter(self.writer, vocabulary, dtype, self._lengths)

    def write(self, rows: Iterable[tuple[Int64, Array, Array]]) -> None:
        """Write blocks of rows (lengths, columns, values), with a checkpoint when one is due."""
        try:
            for lengths, indices, data in rows:
                with deferred_signals():
                    self._matrix.write(lengths, indices, data)
                if self._state.due():
                    self._save()
        except KeyboardInterrupt:
            if len(self._matrix.lengths):
                self._save()
            raise

    def finish(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """Write the other parts of the matrix; return the attributes with those of its shape."""
        return self._matrix.finish(attributes)

    def earlier(self) -> Iterator[tuple[int, Csr]]:
        """Yield the rows written before the interruption, verified, as (first row, block)."""
        indptr = offsets(np.asarray(self._lengths))
        for start, stop in row_blocks(indptr):
            begin, end = int(indptr[start]), int(indptr[stop])
            indices, data = (
                marked_array(self.writer.folder, self._mark[name]).read(begin, end)
                for name in _PARTS
            )
            yield start, Csr(indptr[start : stop + 1] - begin, indices, data, 0)

    def _save(self) -> None:
        with deferred_signals(), self._state.writer(_ROWS) as piece:
            lengths = self._matrix.lengths
            piece.array(_LENGTHS, np.int64).write(lengths)
            piece.commit({_MARK: self.writer.mark()}, {})
            self.writer.keep_parts()
            self._state.saved()

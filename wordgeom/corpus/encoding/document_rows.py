"""The row of each document in a document-term matrix, and its entry in `documents.tsv`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from wordgeom.core.types import Int32, Int64
from wordgeom.corpus.encoding.row_kernels import find_documents
from wordgeom.corpus.inputs.document_index import Record
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import formats

_LINES = 1 << 16  # documents added at once
_LinesToRows = Callable[[Int64], Int64]  # for documents of one file


class RowNumbering:
    """Numbers documents in stream order; adds those that are not records to their source."""

    def __init__(self, sources: list[Source], options: CorpusOptions) -> None:
        self._sources, self._options = sources, options
        self._state = np.zeros(3, np.int64)
        self._file = 0
        self._base = 0  # rows of the files before
        self._in_file = self._begin() if sources else None

    def rows(self, ids: Int32) -> Int64:
        """Return the rows of the documents that begin among the next provisional ids."""
        most = int(np.count_nonzero(ids < 0)) + 1
        files, lines = np.empty((2, most), np.int64)
        number = find_documents(ids, self._state, files, lines)
        files, lines = files[:number], lines[:number]
        starts = np.flatnonzero(np.diff(files, prepend=-1)).tolist()
        rows = np.empty(number, np.int64)
        for start, stop in pairwise([*starts, number]):
            self._advance(int(files[start]))
            assert self._in_file is not None
            rows[start:stop] = self._base + self._in_file(lines[start:stop])
        return rows

    def finish(self) -> int:
        """Return the number of rows; the stream has ended."""
        self._advance(len(self._sources))
        return self._base

    def _advance(self, file: int) -> None:
        while self._file < file:
            self._base += len(self._sources[self._file].documents)
            self._file += 1
            self._in_file = self._begin() if self._file < len(self._sources) else None

    def _begin(self) -> _LinesToRows:
        """Return the map from the lines of a file's documents to rows."""
        source, options = self._sources[self._file], self._options
        format_name = formats.format_of(source.name, options)
        if format_name == "text" and options.document == "file":
            source.documents.add([Record("", "", 1)])
            return np.zeros_like
        if source.every_line and format_name == "text":
            for first in range(1, source.lines + 1, _LINES):
                last = min(first + _LINES, source.lines + 1)
                source.documents.add_lines(np.arange(first, last))
            return lambda lines: lines
        if format_name == "text":
            return self._add
        if format_name in formats.SINGLE_LINE:
            known = source.documents.lines()
            return lambda lines: np.searchsorted(known, lines + 1)
        return lambda lines: lines

    def _add(self, lines: Int64) -> Int64:
        """Add documents of plain text to the source; their rows follow its other rows."""
        documents = self._sources[self._file].documents
        first = len(documents)
        documents.add_lines(lines + 1)
        return np.arange(first, first + len(lines))

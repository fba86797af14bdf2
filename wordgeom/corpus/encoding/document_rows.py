"""Which row of a matrix each document has, and what stands in `documents.tsv` for it."""

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

_Rows = Callable[[Int64], Int64]  # of the lines of documents of one file


class Numbering:
    """Rows of documents as they go by; adds to a source's `documents` those that are no records."""

    def __init__(self, sources: list[Source], options: CorpusOptions) -> None:
        self._sources, self._options = sources, options
        self._state = np.zeros(3, np.int64)
        self._file = 0
        self._above = 0  # rows of the files before
        self._of_file = self._begin() if sources else None

    def rows(self, ids: Int32) -> Int64:
        """Return the rows of the documents that begin among the next provisional ids."""
        most = int(np.count_nonzero(ids < 0)) + 1
        files, lines = np.empty((2, most), np.int64)
        found = find_documents(ids, self._state, files, lines)
        files, lines = files[:found], lines[:found]
        starts = np.flatnonzero(np.diff(files, prepend=-1)).tolist()
        rows = np.empty(found, np.int64)
        for start, stop in pairwise([*starts, found]):
            self._go_to(int(files[start]))
            assert self._of_file is not None
            rows[start:stop] = self._above + self._of_file(lines[start:stop])
        return rows

    def finish(self) -> int:
        """Return the number of rows: all documents have gone by."""
        self._go_to(len(self._sources))
        return self._above

    def _go_to(self, file: int) -> None:
        while self._file < file:
            self._above += len(self._sources[self._file].documents)
            self._file += 1
            self._of_file = self._begin() if self._file < len(self._sources) else None

    def _begin(self) -> _Rows:
        """Return how the rows of a file's documents follow from their lines."""
        source, options = self._sources[self._file], self._options
        form = formats.form_of(source.name, options)
        if form == "text" and options.document == "file":
            source.documents.add([Record("", "", 1)])
            return np.zeros_like
        if form == "text":
            return self._listed
        if form in formats.OF_ONE_LINE:
            known = source.documents.lines()
            return lambda lines: np.searchsorted(known, lines + 1)
        return lambda lines: lines

    def _listed(self, lines: Int64) -> Int64:
        """Note the documents of a text, which have rows in their order."""
        held = self._sources[self._file].documents
        first = len(held)
        held.add_lines(lines + 1)
        return np.arange(first, first + len(lines))

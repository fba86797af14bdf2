"""Document-term matrices with the rows of several appended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from wordgeom.core.errors import FormatError, OptionError
from wordgeom.core.formatting import plural, several
from wordgeom.core.types import Array, Int64
from wordgeom.corpus.united_vocabulary import unite
from wordgeom.corpus.vocabulary import Vocabulary, vocabulary_bytes
from wordgeom.counts.count_rows import value_type
from wordgeom.counts.merge_options import MergeOptions
from wordgeom.matrices.cooccurrence import DTM, MatrixWriter, csr_bytes, sums_bytes
from wordgeom.matrices.document_term import (
    DOCUMENT_FREQUENCIES,
    DOCUMENTS,
    SUMS,
    StoredDocuments,
)
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.stages.merging import compatibility
from wordgeom.stages.merging.combination import common_options, total
from wordgeom.stages.stage import Job
from wordgeom.storage.disk_space import Demand, Space
from wordgeom.storage.store import Store, StoreWriter

_TOTALS = ("tokens", "kept", "documents", "empty")  # attributes that are added up
# Bytes of a word with its sums; of a row besides its line in documents.tsv, which is held twice; of
# an entry of the block that is moved.
_WORD_BYTES, _ROW_BYTES, _ENTRY_BYTES = 200, 24, 48
_FILE = re.compile(rb"^\d+(?=\t)", re.MULTILINE)


@dataclass(frozen=True)
class AppendedDocuments:
    """The rows of several matrices, in their order; places: of each one's words, as columns."""

    matrices: Sequence[StoredDocuments]
    vocabulary: Vocabulary
    places: list[Int64]
    options: MergeOptions

    @classmethod
    def of(
        cls, matrices: Sequence[compatibility.Mergeable], options: MergeOptions
    ) -> AppendedDocuments:
        """Check that rows can be appended; raises InputError, and OptionError for --subtract."""
        if options.subtract:
            what = "--subtract applies to co-occurrence counts, not to document-term matrices"
            raise OptionError(what, do="leave it out")
        if options.part:
            what = "--part applies to shards of a count, not to document-term matrices"
            raise OptionError(what, do="leave it out")
        compatibility.check_addable(matrices)
        first = matrices[0]
        for other in matrices[1:]:
            if options.union:
                compatibility.check_reading(first, other)
            else:
                compatibility.check_vocabulary(first, other)
            compatibility.check_passages(first, other)
        vocabulary, places = unite([m.vocabulary for m in matrices])
        return cls(cast("Sequence[StoredDocuments]", matrices), vocabulary, places, options)

    @property
    def request(self) -> dict[str, Any]:
        """The options, and the texts of all matrices, which documents.tsv numbers."""
        inputs = [one for m in self.matrices for one in m.store.request["inputs"]]
        options = common_options(self.matrices) | self.options.result_options()
        digests = [m.store.digest for m in self.matrices]
        return {"command": "merge", "options": options, "inputs": inputs, "matrices": digests}

    @property
    def covered(self) -> None:
        """None: its matrices are whole counts."""

    @property
    def demand(self) -> Demand:
        """The rows of all matrices, and their documents."""
        rows, entries = sum(map(len, self.matrices)), sum(m.stored for m in self.matrices)
        dtype = value_type(int(self.vocabulary.counts.max(initial=0)))
        size = csr_bytes(rows, entries, dtype, len(vocabulary_bytes(self.vocabulary)))
        size += sum(m.store.array(DOCUMENTS).length for m in self.matrices)
        return Demand(Space.exactly(size + sums_bytes(2, len(self.vocabulary))))

    def write(self, out: Path, job: Job) -> Store:
        """Append all rows, and commit the store."""
        documents = self._documents()
        rows = sum(map(len, self.matrices))
        self._check_memory(rows, len(documents), job.context)
        dtype = value_type(int(self.vocabulary.counts.max(initial=0)))
        with StoreWriter(out, DTM) as writer:
            matrix = MatrixWriter(writer, self.vocabulary, dtype, rows=rows)
            followed = job.context.progress.follow(
                self._rows(dtype), "merging", rows, "rows", lambda block: len(block[0])
            )
            for block in followed:
                matrix.write(*block)
            writer.text(DOCUMENTS, documents)
            writer.array(SUMS, np.int64).write(self._sums("column_sums"))
            frequencies = self._sums("document_frequencies")
            writer.array(DOCUMENT_FREQUENCIES, np.int64).write(frequencies)
            attributes = {name: total(self.matrices, name) for name in _TOTALS}
            first = self.matrices[0].store.attributes
            if "passages" in first:
                attributes["passages"] = first["passages"]
            return writer.commit(matrix.finish(attributes), job.card(self.request))

    def summary(self, made: Store) -> str:
        """Return the size and the number of matrices."""
        rows, words = made.attributes["shape"]
        held = f"{plural(rows, self.matrices[0].unit)} × {plural(words, 'word')}"
        return f"{held} from {several(len(self.matrices), 'matrix', 'matrices')}"

    def _rows(self, dtype: np.dtype[Any]) -> Iterator[tuple[Int64, Array, Array]]:
        """Yield lengths, columns and counts of blocks of rows."""
        for matrix, place in zip(self.matrices, self.places, strict=True):
            moved = bool((place != np.arange(len(place))).any())
            for start, stop in matrix.row_blocks():
                block = matrix.rows(start, stop)
                columns, values = place[block.indices].astype(np.int32), block.data.astype(dtype)
                if moved:
                    order = np.lexsort((columns, block.entry_rows))
                    columns, values = columns[order], values[order]
                yield np.diff(block.indptr), columns, values

    def _sums(self, name: str) -> Int64:
        """Return a sum (V) of each word over all matrices."""
        sums = np.zeros(len(self.vocabulary), np.int64)
        for matrix, place in zip(self.matrices, self.places, strict=True):
            sums[place] += getattr(matrix, name)
        return sums

    def _documents(self) -> bytes:
        """Return documents.tsv with the files numbered over all matrices. Raises FormatError."""
        parts, before = [], 0
        for matrix in self.matrices:
            content = matrix.store.text(DOCUMENTS)
            renumbered, lines = _renumbered(content, before)
            if not lines == len(matrix) == content.count(b"\n"):
                what, do = "its documents do not match its rows", "rebuild the matrix"
                raise FormatError(what, where=matrix.path, do=do)
            parts.append(renumbered)
            before += len(matrix.store.request["inputs"])
        return b"".join(parts)

    def _check_memory(self, rows: int, size: int, context: Context) -> None:
        largest = max(int(m.indptr[b] - m.indptr[a]) for m in self.matrices
                      for a, b in m.row_blocks() or [(0, 0)])  # fmt: skip
        needed = len(self.vocabulary) * _WORD_BYTES + rows * _ROW_BYTES + 2 * size
        what = f"{rows:,} rows of {len(self.vocabulary):,} words"
        check_memory(what, needed + largest * _ENTRY_BYTES, context.memory, "raise --memory")


def _renumbered(documents: bytes, before: int) -> tuple[bytes, int]:
    """Return documents.tsv with `before` added to the number of each file, and its lines."""

    def add(number: re.Match[bytes]) -> bytes:
        return b"%d" % (int(number[0]) + before)

    return _FILE.subn(add, documents)

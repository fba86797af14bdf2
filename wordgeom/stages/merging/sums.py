"""Sums and differences of co-occurrence counts: shards of one text, several texts, unions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from wordgeom.checkpoint.matrix_rows import MatrixRows
from wordgeom.core.errors import InputError
from wordgeom.core.formatting import several
from wordgeom.core.requests import request_of
from wordgeom.core.types import Int64
from wordgeom.corpus.shard_range import ShardRange, shard_note
from wordgeom.corpus.united_vocabulary import unite
from wordgeom.corpus.vocabulary import Vocabulary, vocabulary_bytes
from wordgeom.counts.merge import merge
from wordgeom.counts.merge_options import MergeOptions
from wordgeom.counts.summands import Summand
from wordgeom.counts.windows import WindowOptions
from wordgeom.formats.row_grouping import RowGrouper
from wordgeom.matrices.cooccurrence import (
    COOC,
    INDEX_BYTES,
    StoredMatrix,
    csr_bytes,
    sums_bytes,
)
from wordgeom.matrices.count_request import made_options
from wordgeom.matrices.document_term import DOCUMENTS
from wordgeom.matrices.shared_rows import SharedRows
from wordgeom.runtime.context import Context
from wordgeom.runtime.scheduler import Scheduler
from wordgeom.stages.count_matrix import (
    count_type,
    counting_room,
    matrix_shape,
    rows_at_once,
    write_rows,
    write_sums,
)
from wordgeom.stages.counting_space import combined_pairs
from wordgeom.stages.merging import compatibility
from wordgeom.stages.merging.combination import common_options, total
from wordgeom.stages.merging.shards import (
    PART,
    check_shards,
    joined_inputs,
    shard_attributes,
)
from wordgeom.stages.stage import Job
from wordgeom.storage.disk_space import Demand, Space
from wordgeom.storage.store import Store

_OWN = ("shape", "stored", "shard", PART)  # attributes that a combination does not inherit
_TEXTS = ("tokens", "kept", "documents")  # attributes that are added up over texts


@dataclass(frozen=True)
class CombinedCounts:
    """A sum or a difference of counts.

    places: the row (V) in the vocabulary of each matrix's words, None where all have the same
    words; subtract: the others from the first one; documents: documents.tsv of the text, if it is
    one text whose records have labels.
    """

    matrices: Sequence[StoredMatrix]
    vocabulary: Vocabulary
    request: dict[str, Any]
    attributes: dict[str, Any]
    places: list[Int64] | None = None
    subtract: bool = False
    documents: bytes = b""

    @property
    def covered(self) -> ShardRange | None:
        """The shards that it holds, None for a whole count."""
        return ShardRange.read(self.attributes)

    @property
    def demand(self) -> Demand:
        """The entries of all matrices, as far as they differ; in temporary files if words move."""
        words, stored = len(self.vocabulary), [m.stored for m in self.matrices]
        window = WindowOptions.take(made_options(self.matrices[0].store.request))
        dtype, names = self._type(window), len(vocabulary_bytes(self.vocabulary))
        fixed = sums_bytes(1 if window.context == "both" else 2, words)
        least, expected = max(stored), combined_pairs(stored)
        if self.subtract:
            least, expected = max(0, 2 * stored[0] - sum(stored)), stored[0]
        sizes = (csr_bytes(words, n, dtype, names) + fixed for n in (least, expected))
        moved = 0 if self.places is None else sum(stored) * (INDEX_BYTES + dtype.itemsize)
        return Demand(Space(*sizes), Space(0, moved))

    def _type(self, window: WindowOptions) -> np.dtype[Any]:
        return count_type(int(self.vocabulary.counts.max()), window)

    def write(self, out: Path, job: Job) -> Store:
        """Combine all rows, and commit the store. Raises InputError for a negative count."""
        context, words = job.context, len(self.vocabulary)
        room = counting_room(words, context, len(self.matrices))
        window = WindowOptions.take(made_options(self.matrices[0].store.request))
        dtype = self._type(window)
        with MatrixRows(job.checkpoint, out, COOC) as rows, self._summands(dtype, context) as all_:
            entries = rows_at_once(room, dtype, context, len(self.matrices))
            rows.begin(self.vocabulary, dtype)
            combined, shop = merge(
                all_, words, self.matrices[0].symmetric, dtype, context.pool, rows.done, entries,
                subtract=self._negative if self.subtract else None, remote=self._remote(context),
            )  # fmt: skip
            write_sums(rows.writer, *write_rows(combined, shop, rows, context), window)
            if self.documents:
                rows.writer.text(DOCUMENTS, self.documents)
            return rows.writer.commit(rows.finish(self.attributes), job.card(self.request))

    def summary(self, made: Store) -> str:
        """Return the size and the number of matrices."""
        number = several(len(self.matrices), "matrix", "matrices")
        return f"{matrix_shape(made)} from {number}{shard_note(made)}"

    @contextlib.contextmanager
    def _summands(self, dtype: np.dtype[Any], context: Context) -> Iterator[Sequence[Summand]]:
        """Yield matrices over the vocabulary: as they are stored, or with their words moved."""
        if self.places is None:
            yield self.matrices
            return
        with RowGrouper(len(self.vocabulary), dtype, context) as grouper:
            for matrix, place in zip(self.matrices, self.places, strict=True):
                blocks = matrix.row_blocks()
                for start, stop in context.progress.follow(
                    iter(blocks), "reading", len(place), "rows", lambda b: b[1] - b[0]
                ):
                    _move(matrix, start, stop, place, grouper)
            yield grouper.parts()

    def _remote(self, context: Context) -> tuple[Scheduler, SharedRows] | None:
        """Return the cluster and the matrices for its workers, None where words are moved here."""
        if context.cluster is None or self.places is not None:
            return None
        return context.cluster, SharedRows.of(self.matrices, context.cluster)

    def _negative(self, row: int, column: int, value: int) -> Exception:
        """Return the error for a pair that the first matrix has fewer times than the others."""
        words = self.vocabulary.words
        unit = self.matrices[0].denominator
        pair = f"the pair {words[row]!r}, {words[column]!r} would have the count {value / unit:g}"
        return _not_contained(self.matrices, pair)


def combined_counts(
    matrices: Sequence[compatibility.Mergeable], options: MergeOptions
) -> CombinedCounts:
    """Return the combination that the options ask for; raises InputError where there is none."""
    compatibility.check_addable(matrices)
    counts = cast("Sequence[StoredMatrix]", matrices)
    for other in counts[1:]:
        if options.union:
            compatibility.check_reading(counts[0], other)
        else:
            compatibility.check_vocabulary(counts[0], other)
        compatibility.check_windows(counts[0], other)
    if options.union or options.subtract:
        compatibility.check_whole(counts, "--union" if options.union else "--subtract")
        return _united(counts, options) if options.union else _difference(counts, options)
    if options.part or any(compatibility.shards_of(counts)):
        return _shards(counts, check_shards(counts, part=options.part))
    return _sum(counts)


def _shards(matrices: Sequence[StoredMatrix], covered: ShardRange | None) -> CombinedCounts:
    """Return the count of some shards, or of all. Raises InputError for all without words."""
    first, held = matrices[0], shard_attributes(matrices, covered)
    if PART not in first.store.attributes:  # each of them has read the whole text
        labelled = DOCUMENTS in first.store.parts()
        return CombinedCounts(
            matrices, first.vocabulary, first.store.request, _inherited(first) | held,
            documents=first.store.text(DOCUMENTS) if labelled else b"",
        )  # fmt: skip
    counts = _added(matrices)
    if covered is None and not counts.any():
        what, do = "contain none of the words", "check --read-vocab and --tokeniser"
        raise InputError(f"the shards {what}", where=matrices[0].path, do=do)
    request = {**first.store.request, "inputs": joined_inputs(matrices)}
    attributes = _inherited(first) | held | {name: total(matrices, name) for name in _TEXTS}
    return CombinedCounts(matrices, Vocabulary(first.vocabulary.words, counts), request, attributes)


def _added(matrices: Sequence[StoredMatrix]) -> Int64:
    """Return the sum (V) of the counts of each word."""
    zeros = np.zeros(len(matrices[0].vocabulary), np.int64)
    return sum((m.vocabulary.counts for m in matrices), zeros)


def _sum(matrices: Sequence[StoredMatrix]) -> CombinedCounts:
    """Return the sum of several texts' counts of the same words."""
    first = matrices[0]
    request = request_of("merge", first.store.request["options"], _digests(matrices))
    attributes = _inherited(first) | {name: total(matrices, name) for name in _TEXTS}
    vocabulary = Vocabulary(first.vocabulary.words, _added(matrices))
    return CombinedCounts(matrices, vocabulary, request, attributes)


def _united(matrices: Sequence[StoredMatrix], options: MergeOptions) -> CombinedCounts:
    """Return the sum over all words of any matrix."""
    vocabulary, places = unite([m.vocabulary for m in matrices])
    asked = common_options(matrices) | options.result_options()
    request = request_of("merge", asked, _digests(matrices))
    attributes = _inherited(matrices[0]) | {name: total(matrices, name) for name in _TEXTS}
    moved = any(m.vocabulary.words != vocabulary.words for m in matrices)
    return CombinedCounts(matrices, vocabulary, request, attributes, places if moved else None)


def _difference(matrices: Sequence[StoredMatrix], options: MergeOptions) -> CombinedCounts:
    """Return the first counts less the others. Raises InputError for a negative number."""
    first, others = matrices[0], matrices[1:]
    words = first.vocabulary.words
    counts = first.vocabulary.counts - _added(others)
    if (counts < 0).any():
        row = int(np.argmax(counts < 0))
        word = f"the word {words[row]!r} would have the count {int(counts[row]):,}"
        raise _not_contained(matrices, word)
    asked = first.store.request["options"] | options.result_options()
    request = request_of("merge", asked, _digests(matrices))
    at = first.store.attributes
    left = {name: at[name] - total(others, name) for name in _TEXTS}
    if min(left.values()) < 0:
        name = min(left, key=lambda one: left[one])
        raise _not_contained(matrices, f"the number of {name} would be {left[name]:,}")
    attributes = _inherited(first) | left
    return CombinedCounts(matrices, Vocabulary(words, counts), request, attributes, subtract=True)


def _not_contained(matrices: Sequence[StoredMatrix], found: str) -> InputError:
    others = ", ".join(str(m.path) for m in matrices[1:])
    what = f"does not contain the counts of {others}: {found}"
    do = "subtract only counts of text that the first matrix includes"
    return InputError(what, where=matrices[0].path, do=do)


def _move(matrix: StoredMatrix, start: int, stop: int, place: Int64, grouper: RowGrouper) -> None:
    """Add the rows [start:stop) of a matrix to the grouper, at the places of their words."""
    block = matrix.rows(start, stop)
    rows, columns = place[start + block.entry_rows], place[block.indices]
    if matrix.symmetric:  # the order of two words may be the other one there
        rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
    grouper.add(rows, columns, block.data)


def _inherited(matrix: StoredMatrix) -> dict[str, Any]:
    return {k: v for k, v in matrix.store.attributes.items() if k not in _OWN}


def _digests(matrices: Sequence[StoredMatrix]) -> list[str]:
    return [m.store.digest for m in matrices]

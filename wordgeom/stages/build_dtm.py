"""The stage that counts the words of each document. No numerics here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.checkpoint.state import Kept, ResumeOptions
from wordgeom.core.errors import FormatError, InputError
from wordgeom.core.formatting import plural, several
from wordgeom.corpus.inputs.segments import Keeper
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens.encode import Encoded, encode_documents
from wordgeom.corpus.tokens.row_mapping import MakeSink
from wordgeom.counts.count_rows import value_type
from wordgeom.counts.documents import DocumentCounts
from wordgeom.linalg.device import open_context
from wordgeom.matrices.cooccurrence import DTM, MatrixWriter
from wordgeom.matrices.document_term import DOCUMENT_FREQUENCIES, DOCUMENTS, SUMS, StoredDocuments
from wordgeom.matrices.times import parse_times
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.runtime.provenance import Clock
from wordgeom.runtime.run_options import FLOOR, RunOptions
from wordgeom.stages import corpus_inputs
from wordgeom.stages.corpus_inputs import Inputs
from wordgeom.stages.counting import Asked, Built, kept_text
from wordgeom.storage.store import Store, StoreWriter

_NO_RESUME = ResumeOptions()
# Bytes of a word and its sums; of its cell in a thread; of a row beside its line in documents.tsv,
# which is there twice while it is written.
_WORD_BYTES, _CELL_BYTES, _ROW_BYTES = 160, 5, 24


def build_dtm(
    names: Sequence[str],
    out: str | os.PathLike[str],
    corpus: CorpusOptions,
    run: RunOptions,
    *,
    save_vocab: str | None = None,
    resume: ResumeOptions = _NO_RESUME,
    show: bool = False,
) -> Built:
    """Count the words of each document of the files `names` into the store `out`."""
    clock = Clock()
    found = corpus_inputs.find(names, corpus)
    options = corpus_inputs.request_options(found.corpus, run)
    del options["oov"]  # of windows
    words = None if save_vocab is None else Path(save_vocab)
    asked = Asked("build-dtm", DTM, out, found, options, words)
    if there := asked.made(force=run.force):
        return there
    kept = asked.kept(resume, force=run.force)
    with kept.stoppable(), open_context(run, show=show) as context, StoreWriter(out, DTM) as writer:
        encoded, documents = _text(found, context, kept)
        with closing(encoded.stream):
            attributes = _write(encoded, documents, writer, context)
        made = asked.commit(writer, attributes, encoded, clock)
    kept.remove()
    told = [*_empty_rows(made.attributes), *_time_notes(made, found.corpus)]
    return Built(made, _summary(made, encoded, clock), asked.warnings(encoded, told))


def _text(found: Inputs, context: Context, kept: Kept) -> tuple[Encoded, bytes]:
    """Return the text and its documents.tsv."""

    def read(sink: MakeSink, keeper: Keeper) -> Encoded:
        return encode_documents(found.names, found.corpus, context, sink=sink, keeper=keeper)

    return kept_text(kept, read, beyond=False)


def _write(
    encoded: Encoded, documents: bytes, writer: StoreWriter, context: Context
) -> dict[str, Any]:
    """Write all rows and what belongs to them; return the attributes of the store."""
    words, rows = encoded.vocabulary, documents.count(b"\n")
    _check_room(len(words), rows, len(documents), context)
    matrix = MatrixWriter(writer, words, value_type(int(words.counts.max())), rows=rows)
    counts = DocumentCounts(encoded.stream, len(words), context.pool)
    empty = _write_rows(counts, matrix, rows, writer.path, context)
    writer.text(DOCUMENTS, documents)
    writer.array(SUMS, np.int64).write(counts.sums)
    writer.array(DOCUMENT_FREQUENCIES, np.int64).write(counts.holders)
    told = {"tokens": encoded.tokens, "kept": encoded.kept, "documents": encoded.documents}
    return matrix.finish({**told, "empty": empty})


def _write_rows(
    counts: DocumentCounts, matrix: MatrixWriter, rows: int, out: Path, context: Context
) -> int:
    """Write all rows; return how many are empty. Raises FormatError where there are not `rows`."""
    followed = context.progress.follow(counts.rows(), "counting", rows, "rows", lambda r: len(r[0]))
    written = empty = 0
    for lengths, indices, values in followed:
        written += len(lengths)
        if written > rows:
            break
        matrix.write(lengths, indices, values)
        empty += int(np.count_nonzero(lengths == 0))
    if written != rows:
        found = f"rows for {written:,} documents of {rows:,}"
        raise FormatError("its state was edited", where=out, found=found)
    return empty


def _check_room(words: int, rows: int, bytes_of_rows: int, context: Context) -> None:
    """Refuse so many words and documents that what is held of each does not fit."""
    needed = words * (_WORD_BYTES + _CELL_BYTES * context.pool.threads)
    needed += rows * _ROW_BYTES + 2 * bytes_of_rows
    do = "raise --memory or --min-count, or count parts of the text apart"
    what = f"counts of {words:,} words in {plural(rows, 'document')}"
    check_memory(what, needed, max(context.memory, FLOOR), do)


def _empty_rows(attributes: dict[str, Any]) -> Iterator[str]:
    """Yield what is to be said of documents without a word that has a column."""
    empty, rows = attributes["empty"], attributes["shape"][0]
    if empty:
        one = f"of {rows:,} documents holds no word of the vocabulary: its row is empty"
        more = f"of {rows:,} documents hold no word of the vocabulary: their rows are empty"
        yield several(empty, one, more)


def _time_notes(made: Store, corpus: CorpusOptions) -> list[str]:
    """Return what whoever asked for times should hear of those that are none."""
    if corpus.time_field is None:
        return []
    counts = StoredDocuments.open(made.path)
    try:
        times = parse_times(counts.documents(), counts.names())
    except InputError as error:
        return [f"the times will serve no method: {error}"]
    unread = len(times.values) - len(times.known)
    have = several(unread, "document has no time", "documents have no time")
    return [f"{have} that can be read; the first: {times.problem}"] if unread else []


def _summary(made: Store, encoded: Encoded, clock: Clock) -> str:
    rows, words = made.attributes["shape"]
    shape = f"{plural(rows, 'document')} × {plural(words, 'word')}"
    entries = several(made.attributes["stored"], "entry", "entries")
    read = plural(encoded.tokens, "token")
    return f"{made.path}: {shape}, {entries} from {read}; {clock.seconds():.1f} s"

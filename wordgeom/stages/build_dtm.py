"""The stage that counts the words of each document."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from wordgeom.checkpoint.state import State
from wordgeom.core.errors import FormatError
from wordgeom.core.formatting import plural, several
from wordgeom.corpus.encoding.encode import EncodedCorpus, encode_documents
from wordgeom.corpus.encoding.row_mapping import MakeSink
from wordgeom.corpus.encoding.segments import CorpusCheckpoint
from wordgeom.corpus.inputs.document_index import distinct_documents
from wordgeom.corpus.options import PassageOptions
from wordgeom.counts.count_rows import value_type
from wordgeom.counts.documents import DocumentCounts, ids_at_once
from wordgeom.matrices.cooccurrence import DTM, INDEX_BYTES, MatrixWriter
from wordgeom.matrices.document_term import DOCUMENT_FREQUENCIES, DOCUMENTS, SUMS
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory, data_room
from wordgeom.runtime.run_options import FLOOR
from wordgeom.stages import corpus_inputs
from wordgeom.stages.counting import CountStage, stored_text
from wordgeom.stages.stage import Job, Outcome
from wordgeom.storage.store import Store, StoreWriter

_DISTINCT = 1.0  # of the tokens of a document are different words, at most
_BLOCKS_SHARE = 2  # half of the room for blocks of ids and counts
# Bytes of a word and its sums; of its cell in a thread; of a row besides its line in documents.tsv,
# which is held twice while it is written.
_WORD_BYTES, _CELL_BYTES, _ROW_BYTES = 160, 5, 24


@dataclass(frozen=True)
class BuildDtm(CountStage):
    """Count the words of each document in text files."""

    splitting: PassageOptions = field(default_factory=PassageOptions)

    command: ClassVar[str] = "build-dtm"
    kind: ClassVar[str] = DTM

    @cached_property
    def options(self) -> dict[str, Any]:
        """The options of the corpus, but for --oov, which concerns windows alone."""
        options = corpus_inputs.request_options(self.inputs.corpus, self.run)
        del options["oov"]
        return options | self.splitting.result_options()

    @property
    def noun(self) -> str:
        """What a row is."""
        return "document" if self.splitting.passages is None else "passage"

    @property
    def named(self) -> bool:
        """Whether ids or times come from the names of the files."""
        corpus = self.inputs.corpus
        of_names = corpus.time_from_name is not None or corpus.metadata is not None
        return of_names or corpus.document == "file"

    def expected_entries(self, tokens: int) -> int:
        """Return at most how many words the documents of a text have, each counted once."""
        return int(tokens * _DISTINCT)

    def entry_bytes(self, most: int) -> int:
        """Return the bytes of a column and a count."""
        return INDEX_BYTES + value_type(most).itemsize

    def work(self, job: Job) -> Outcome:
        """Count, and commit the store."""
        context, state = job.context, job.checkpoint
        with StoreWriter(self.out, DTM) as writer:
            encoded, documents = self._text(context, state)
            with closing(encoded.stream):
                attributes = _write(encoded, documents, writer, context, self.noun)
                if self.splitting.passages is not None:
                    attributes |= self.splitting.result_options()
            made = self.commit(job, writer, attributes, encoded)
        notes = [*_empty_rows(made.attributes, self.noun), *self.time_notes(documents)]
        summary = f"{self._summary(made, encoded, documents)}; {job.seconds()}"
        return Outcome(summary, self.out, self.notes(encoded, notes), value=made)

    def _text(self, context: Context, state: State) -> tuple[EncodedCorpus, bytes]:
        """Return the text and its documents.tsv."""

        def read(sink: MakeSink, checkpoint: CorpusCheckpoint) -> EncodedCorpus:
            names, corpus = self.inputs.names, self.inputs.corpus
            return encode_documents(
                names, corpus, context, passages=self.splitting.passages, sink=sink,
                checkpoint=checkpoint,
            )  # fmt: skip

        return stored_text(state, read, beyond=False)

    def _summary(self, made: Store, encoded: EncodedCorpus, documents: bytes) -> str:
        rows, words = made.attributes["shape"]
        held = plural(rows, self.noun)
        if self.splitting.passages is not None:
            number = distinct_documents(documents).count(b"\n")
            held = f"{plural(number, 'document')} in {held}"
        entries = several(made.attributes["stored"], "entry", "entries")
        text = plural(encoded.tokens, "token")
        return f"{made.path}: {held} × {plural(words, 'word')}, {entries} from {text}"


def _write(
    encoded: EncodedCorpus, documents: bytes, writer: StoreWriter, context: Context, noun: str
) -> dict[str, Any]:
    """Write the rows and the other parts; return the attributes of the store."""
    words, rows = encoded.vocabulary, documents.count(b"\n")
    room = _room(len(words), rows, len(documents), context, noun)
    matrix = MatrixWriter(writer, words, value_type(int(words.counts.max())), rows=rows)
    block = ids_at_once(room // _BLOCKS_SHARE, context.pool.threads)
    counts = DocumentCounts(encoded.stream, len(words), context.pool, block)
    empty = _write_rows(counts, matrix, rows, writer, context)
    writer.text(DOCUMENTS, documents)
    writer.array(SUMS, np.int64).write(counts.sums)
    writer.array(DOCUMENT_FREQUENCIES, np.int64).write(counts.document_frequencies)
    facts = {"tokens": encoded.tokens, "kept": encoded.kept, "documents": encoded.documents}
    return matrix.finish({**facts, "empty": empty})


def _write_rows(
    counts: DocumentCounts, matrix: MatrixWriter, rows: int, writer: StoreWriter, context: Context
) -> int:
    """Write the rows; return how many are empty. Raises FormatError where there are not `rows`."""
    followed = context.progress.follow(counts.rows(), "counting", rows, "rows", lambda r: len(r[0]))
    written = empty = 0
    for lengths, indices, values in followed:
        written += len(lengths)
        if written > rows:
            break
        matrix.write(lengths, indices, values)
        empty += int(np.count_nonzero(lengths == 0))
    if written != rows:
        what = f"its checkpoint is damaged: {written:,} documents instead of {rows:,}"
        raise FormatError(what, where=writer.path)
    return empty


def _room(words: int, rows: int, bytes_of_rows: int, context: Context, noun: str) -> int:
    """Return the bytes beside words and rows; raises InputError where these exceed --memory."""
    needed = words * (_WORD_BYTES + _CELL_BYTES * context.pool.threads)
    needed += rows * _ROW_BYTES + 2 * bytes_of_rows
    do = "raise --memory or --min-count, or count parts of the text separately"
    what = f"counts of {words:,} words in {plural(rows, noun)}"
    check_memory(what, needed, max(context.memory, FLOOR), do)
    return max(data_room(context.memory) - needed, 0)


def _empty_rows(attributes: dict[str, Any], noun: str) -> Iterator[str]:
    """Yield a note on rows without a word of the vocabulary."""
    empty, rows = attributes["empty"], attributes["shape"][0]
    if empty:
        one = f"of {rows:,} {noun}s contains no word of the vocabulary; its row is empty"
        more = f"of {rows:,} {noun}s contain no word of the vocabulary; their rows are empty"
        yield several(empty, one, more)

"""The stage that counts co-occurrences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from wordgeom.checkpoint.matrix_rows import MatrixRows
from wordgeom.checkpoint.state import State
from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import plural
from wordgeom.core.types import Int64
from wordgeom.corpus.encoding.encode import EncodedCorpus, encode
from wordgeom.corpus.encoding.encoded_text import no_vocabulary
from wordgeom.corpus.encoding.obstacles import obstacle, text_of
from wordgeom.corpus.encoding.part import TextPart, find_part
from wordgeom.corpus.encoding.row_mapping import MakeSink
from wordgeom.corpus.encoding.segments import CorpusCheckpoint
from wordgeom.corpus.encoding.stretches import StretchReader
from wordgeom.corpus.encoding.word_lists import WordLists, read_word_lists
from wordgeom.corpus.inputs.input_warnings import UNSEGMENTED
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.shard_range import shard_note
from wordgeom.counts.windows import WINDOWS, WindowOptions, denominator, weights
from wordgeom.matrices.cooccurrence import COOC, INDEX_BYTES
from wordgeom.runtime.context import Context
from wordgeom.stages import corpus_inputs
from wordgeom.stages.count_matrix import (
    count_type,
    counting_room,
    matrix_shape,
    rows_at_once,
    write_rows,
    write_sums,
)
from wordgeom.stages.counted_vocabulary import cut_of
from wordgeom.stages.counting import CountStage, stored_text
from wordgeom.stages.counting_space import expected_pairs
from wordgeom.stages.shard import Shard
from wordgeom.stages.stage import Job, Outcome
from wordgeom.storage.store import Store

# Documents that are larger than those of each --document.
_LARGER = {"line": "--document block or --document file", "block": "--document file"}


class _Counted(NamedTuple):
    """A text, the range of its stream to count, and attributes of the count of that range."""

    text: EncodedCorpus
    begin: int
    end: int
    facts: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class BuildCooc(CountStage):
    """Count the co-occurrences in text files."""

    window: WindowOptions = field(default_factory=WindowOptions)
    part: Shard | None = None

    command: ClassVar[str] = "build-cooc"
    kind: ClassVar[str] = COOC

    @property
    def shard(self) -> list[int] | None:
        """[i, N] of the shard, None for the whole text."""
        return None if self.part is None else [self.part.index, self.part.of]

    @cached_property
    def options(self) -> dict[str, Any]:
        """The options of the corpus and of the window. Raises OptionError."""
        if self.corpus.time_from_name is not None or self.corpus.metadata is not None:
            what = f"--time-from-name and --metadata apply to build-dtm, not to {self.command}"
            do = "leave them out: co-occurrences have no documents"
            raise OptionError(what, do=do)
        corpus = self.inputs.corpus
        asked = corpus_inputs.request_options(corpus, self.run, self.window)
        return asked | cut_of(corpus.read_vocab, self.inputs.names, asked)

    @cached_property
    def reads_part(self) -> bool:
        """Whether the shard is a range of bytes, beside which no others are read."""
        if self.part is None or self.corpus.read_vocab is None:
            return False
        return not obstacle(self.inputs.names, self.inputs.corpus)

    @cached_property
    def request(self) -> dict[str, Any]:
        """What is known before the text is read."""
        return super().request | ({"reads": "part"} if self.reads_part else {})

    def expected_entries(self, tokens: int) -> int:
        """Return about how many pairs of words a text has, those of its shard."""
        begin, end = self.part.span(tokens) if self.part else (0, tokens)
        pairs = expected_pairs(end - begin, self.window.window)
        words = self.inputs.corpus.max_vocab
        return min(pairs, words * (words + 1) // 2) if words else pairs

    def entry_bytes(self, most: int) -> int:
        """Return the bytes of a column and a count."""
        return INDEX_BYTES + count_type(most, self.window).itemsize

    def work(self, job: Job) -> Outcome:
        """Count, and commit the store. Raises InputError for a text without any pair."""
        state = job.checkpoint
        with MatrixRows(state, self.out, COOC) as rows:
            counted, documents = self._text(job.context, state)
            encoded = counted.text
            with closing(encoded.stream):
                sums = self._count(counted, job.context, state, rows)
            self._check_pairs(encoded, sums[0])
            write_sums(rows.writer, *sums, self.window)
            if documents:
                rows.writer.text("documents", documents)
            attributes = rows.finish({**self._attributes(encoded), **counted.facts})
            made = self.commit(job, rows.writer, attributes, encoded)
        more = [*self._short_documents(encoded), *self.time_notes(documents)]
        notes = self.notes(encoded, more)
        return Outcome(self._summary(made, encoded, job), self.out, notes, value=made)

    def _text(self, context: Context, state: State) -> tuple[_Counted, bytes]:
        """Return the text to count and its documents.tsv."""
        ends, reach = self.window.count == WINDOWS, self.window.window
        corpus, lists = self.inputs.corpus, None
        sources, part = [Source(name) for name in self.inputs.names], None
        if self.reads_part:
            lists = replace(read_word_lists(corpus), others=True)
            part = self._find_part(lists, context, reach, ends)
            sources = part.sources()

        def read(sink: MakeSink, checkpoint: CorpusCheckpoint) -> EncodedCorpus:
            return encode(
                sources, corpus, context, gap=reach, ends=ends, short=2 * reach, sink=sink,
                checkpoint=checkpoint, lists=lists,
            )  # fmt: skip

        encoded, documents = stored_text(state, read, beyond=ends)
        if part is not None:
            return _Counted(*part.within(encoded), {"part": part.range.facts()}), documents
        length = encoded.stream.length
        begin, end = self.part.span(length) if self.part else (0, length)
        return _Counted(encoded, begin, end), documents

    def _find_part(self, lists: WordLists, context: Context, reach: int, ends: bool) -> TextPart:
        """Return the part of the text that is read. Raises InputError without any word to count."""
        names, corpus = self.inputs.names, self.inputs.corpus
        if not lists.vocabulary:
            raise no_vocabulary(corpus)
        assert self.part is not None
        text = text_of(names, corpus)
        reader = StretchReader(corpus, lists, context, reach, ends)
        halo = 2 * reach if ends else reach
        return find_part(text, self.part.span(text.length), corpus, halo, reader)

    def _count(
        self, counted: _Counted, context: Context, state: State, rows: MatrixRows
    ) -> tuple[Int64, Int64]:
        """Write the rows of the counts; return the sums of all rows and columns."""
        from wordgeom.checkpoint.token_ids import PartialCounts
        from wordgeom.counts.cooccurrence import chunk_tokens, count, token_bytes
        from wordgeom.counts.plan import Plan

        encoded, window = counted.text, self.window
        words = len(encoded.vocabulary)
        sliding = window.count == WINDOWS
        dtype = count_type(int(encoded.vocabulary.counts.max()), window)
        room = counting_room(words, context)
        entries = rows_at_once(room, dtype, context)
        plan = Plan(words, weights(window), window.context == "both", dtype, sliding, entries)
        chunk = chunk_tokens(room, token_bytes(encoded.stream, sliding=sliding))
        rows.begin(encoded.vocabulary, plan.dtype)
        found, shop = count(
            encoded.stream, counted.begin, counted.end, plan, chunk, PartialCounts(state),
            context.pool, context.progress, rows.done, context.cluster,
        )  # fmt: skip
        return write_rows(found, shop, rows, context)

    def _check_pairs(self, encoded: EncodedCorpus, row_sums: Int64) -> None:
        if row_sums.any() or self.part is not None:
            return
        read = f"{plural(encoded.kept, 'token')} of {plural(encoded.documents, 'document')}"
        do = "check --document and --min-count"
        if any(source.looks == UNSEGMENTED for source in encoded.sources):
            do = "put spaces between words (docs/guide/tokenisers.md)"
        where = " ".join(self.inputs.names)
        raise InputError(f"no two words co-occur in {read}", where=where, do=do)

    def _attributes(self, encoded: EncodedCorpus) -> dict[str, Any]:
        attributes: dict[str, Any] = {
            "triangle": "upper" if self.window.context == "both" else "",
            "denominator": denominator(self.window),
            "tokens": encoded.tokens,
            "kept": encoded.kept,
            "documents": encoded.documents,
        }
        return attributes | ({"shard": self.shard} if self.shard else {})

    def _summary(self, made: Store, encoded: EncodedCorpus, job: Job) -> str:
        read = f"{plural(encoded.tokens, 'token')} in {plural(encoded.documents, 'document')}"
        return f"{made.path}: {matrix_shape(made)} from {read}{shard_note(made)}; {job.seconds()}"

    def _short_documents(self, encoded: EncodedCorpus) -> Iterator[str]:
        """Yield a warning where most documents are shorter than two windows."""
        corpus = self.inputs.corpus
        of_lines = corpus.input_format == "text" and corpus.tokeniser != "kmer"
        of_lines = of_lines and corpus.document in _LARGER
        wrapped = any(s.wrapped or s.looks == UNSEGMENTED for s in encoded.sources)
        of_lines = of_lines and not self.reads_part  # a document at the edge is not read whole
        if of_lines and not wrapped and 2 * encoded.short > encoded.documents:
            half = f"more than half of the {encoded.documents:,} documents are"
            larger = _LARGER[corpus.document]
            yield (
                f"{half if encoded.documents > 1 else 'the only document is'} shorter than two "
                f"windows ({2 * self.window.window} tokens); if lines are broken within a text, "
                f"pass {larger}"
            )

"""What the stages that count text share: is the count up to date, its checkpoint, its commit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from wordgeom.checkpoint.corpus_writer import CorpusWriter
from wordgeom.checkpoint.state import State
from wordgeom.checkpoint.token_ids import TokenIds, find_ids, save_ids
from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.requests import differing_option
from wordgeom.corpus.encoding.encode import EncodedCorpus
from wordgeom.corpus.encoding.row_mapping import MakeSink
from wordgeom.corpus.encoding.segments import CorpusCheckpoint
from wordgeom.corpus.expected_tokens import expected_tokens
from wordgeom.corpus.inputs.document_index import distinct_documents, documents_bytes
from wordgeom.corpus.inputs.held_texts import is_held
from wordgeom.corpus.inputs.input_warnings import input_warnings
from wordgeom.corpus.inputs.readers import Source, is_stream
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records.fields import lost_notes
from wordgeom.corpus.vocabulary import read_vocabulary_bytes, save_vocabulary
from wordgeom.linalg.device import memory_limit
from wordgeom.matrices import vocabulary_file
from wordgeom.matrices.count_request import made_options
from wordgeom.matrices.document_term import DOCUMENTS, parse_documents
from wordgeom.matrices.times import parse_times
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.stages import corpus_inputs
from wordgeom.stages.corpus_inputs import Inputs
from wordgeom.stages.counting_space import expected_most, temporary_bytes
from wordgeom.stages.stage import Job, Outcome
from wordgeom.stages.store_stage import StoreStage
from wordgeom.storage.disk_space import Demand, Space
from wordgeom.storage.files import same_file
from wordgeom.storage.store import Store, StoreWriter

_CERTAIN = 4  # a plain text has at least this part of the tokens that its head promises


@dataclass(frozen=True)
class CountStage(StoreStage):
    """A count of text files.

    names: files, directories, patterns or -; out: the store; save_vocab: a file for the vocabulary.
    """

    names: tuple[str, ...]
    out: Path
    corpus: CorpusOptions
    run: RunOptions
    resume: ResumeOptions = field(default_factory=ResumeOptions)
    save_vocab: Path | None = None

    command: ClassVar[str]

    @cached_property
    def inputs(self) -> Inputs:
        """The files to read. Raises MissingInputError, OptionError."""
        return corpus_inputs.find(self.names, self.corpus)

    @property
    def input_paths(self) -> list[str]:
        """The text, and the files that options name."""
        texts = [name for name in self.inputs.names if not is_stream(name)]
        return [*texts, *corpus_inputs.files_of(self.inputs.corpus)]

    @property
    def beside(self) -> tuple[Path, ...]:
        """The vocabulary file."""
        return () if self.save_vocab is None else (self.save_vocab,)

    @cached_property
    @abstractmethod
    def options(self) -> dict[str, Any]:
        """The options that decide the content of the count."""

    @property
    def shard(self) -> list[int] | None:
        """The part of the text that is counted, and of how many; None for all of it."""
        return None

    @property
    def reads_part(self) -> bool:
        """Whether only a part of the text is read."""
        return False

    @property
    def named(self) -> bool:
        """Whether the names of the files decide the content of the count."""
        return False

    @cached_property
    def request(self) -> dict[str, Any]:
        """What is known before the text is read."""
        known = corpus_inputs.of_request(self.inputs.names)
        request = {"command": self.command, "options": self.options, "inputs": known}
        return {**request, "shard": self.shard}

    @abstractmethod
    def expected_entries(self, tokens: int) -> int:
        """Return about how many entries the count of a text has."""

    @abstractmethod
    def entry_bytes(self, most: int) -> int:
        """Return the bytes of a stored entry if the most frequent word occurs `most` times."""

    @property
    def demand(self) -> Demand:
        """The ids of the text, and the counts; at least, a part of the ids."""
        corpus = self.inputs.corpus
        tokens = expected_tokens(self.inputs.names, corpus)
        output = self.entry_bytes(expected_most(tokens)) * self.expected_entries(tokens)
        if self.reads_part and self.shard is not None:
            tokens //= self.shard[1]
        certain = tokens // _CERTAIN if corpus.input_format == "text" else 0
        space = Space(self.temporary_bytes(certain, 0),
                      output + self.temporary_bytes(tokens, output))  # fmt: skip
        return Demand(space, do="count parts of the text separately")

    def temporary_bytes(self, tokens: int, output: int) -> int:
        """Return the bytes of temporary files beside an output of so many bytes, at the peak."""
        return temporary_bytes(tokens, output, memory_limit(self.run))

    def check(self) -> None:
        """Find the files to read. Raises MissingInputError, OptionError."""
        _ = self.inputs
        if self.save_vocab is not None and self.reads_part:
            do = "leave it out: merge counts the words of all shards"
            raise OptionError("--save-vocab needs the whole text, not a shard of it", do=do)
        if self.save_vocab is not None and same_file(self.save_vocab, self.out):
            what = f"--save-vocab and -o name the same file, {self.out}"
            raise OptionError(what, do="choose another file with --save-vocab")

    def up_to_date(self) -> Outcome | None:
        """Return the count if it exists as requested, and write a missing vocabulary file."""
        there = super().up_to_date()
        if self.save_vocab is None:
            return there
        if there is None:
            vocabulary_file.check(self.save_vocab, force=self.run.force)
            return None
        made: Store = there.value
        held = read_vocabulary_bytes(made.text("vocab"), made.path / "vocab.tsv")
        if not vocabulary_file.check_made(self.save_vocab, held):
            save_vocabulary(self.save_vocab, held)
        return there

    def commit(
        self, job: Job, writer: StoreWriter, attributes: dict[str, Any], encoded: EncodedCorpus
    ) -> Store:
        """Commit the store, and with it the vocabulary file."""
        read = corpus_inputs.cards(encoded.sources)
        request = {"command": self.command, "options": self.options, "inputs": read}
        with vocabulary_file.saved(self.save_vocab, encoded.vocabulary):
            return writer.commit(attributes, job.card(request))

    def notes(self, encoded: EncodedCorpus, more: Iterable[str] = ()) -> list[str]:
        """Return the input_warnings on the inputs, followed by those of the stage."""
        return self.notes_on(encoded.sources, encoded.notes, more)

    def notes_on(
        self, sources: Sequence[Source], first: Iterable[str], more: Iterable[str] = ()
    ) -> list[str]:
        """Return the notes on sources that were read, after those on words and before others."""
        found = input_warnings(sources, self.inputs.corpus.strip)
        return [*self.inputs.notes, *first, *found, *more, *lost_notes(sources)]

    def time_notes(self, documents: bytes) -> list[str]:
        """Return a note on documents without a readable time, where times were asked for.

        documents: the content of documents.tsv.
        """
        if not self.inputs.corpus.has_times:
            return []
        try:
            rows = parse_documents(distinct_documents(documents), Path(f"{DOCUMENTS}.tsv"))
            if not any(row.time.strip() for row in rows):
                return ["no document has a time, which dlsa needs; check --time-field"]
            times = parse_times(rows, self.inputs.names)
        except InputError as error:
            return [f"no method can use these times: {error}"]
        return [f"{times.unread}; the first: {times.problem}"] if times.unread else []

    def difference(self, made: Store) -> str | None:
        """Return how a count that exists differs from the one to make."""
        request = made.request
        how = differing_option(self.options, made_options(request))
        if how is not None:
            return how
        if made.attributes.get("shard") != self.shard:
            return "is another shard"
        if corpus_inputs.are_those(self.inputs.names, request["inputs"], named=self.named):
            return None
        streams = any(is_stream(n) and not is_held(n) for n in self.inputs.names)
        return f"was made from {'a pipe, which cannot be compared' if streams else 'other text'}"


def stored_text(
    state: State, read: Callable[[MakeSink, CorpusCheckpoint], EncodedCorpus], *, beyond: bool
) -> tuple[EncodedCorpus, bytes]:
    """Return a text and its documents.tsv, from the checkpoint or by `read`.

    beyond: ids go to V + 1, which separates documents, and not only to V.
    """
    found = find_ids(state)
    if found is not None:
        return found
    encoded = read(partial(TokenIds, state), CorpusWriter(state))
    documents = documents_bytes([source.documents for source in encoded.sources])
    save_ids(state, encoded, documents, len(encoded.vocabulary) + beyond)
    return encoded, documents

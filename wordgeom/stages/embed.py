"""The stage that gives each text a vector, and lists the texts in a table beside the vectors."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from wordgeom.core.errors import InputError, MissingInputError, OptionError
from wordgeom.core.formatting import listed, several
from wordgeom.core.requests import different_content
from wordgeom.corpus.inputs import paths
from wordgeom.corpus.inputs.input_warnings import input_warnings
from wordgeom.corpus.inputs.readers import Source, file_digest, is_stream
from wordgeom.corpus.records.fields import lost_notes
from wordgeom.formats.vector_files import ngram_digests, read_open_vectors
from wordgeom.linalg.device import memory_limit
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.stages import corpus_inputs
from wordgeom.stages.corpus_inputs import Inputs
from wordgeom.stages.inference import reading_notes
from wordgeom.stages.stage import Job, Outcome, Stage
from wordgeom.subwords.open_vocabulary import OpenVocabulary, subword_note
from wordgeom.texts.corpus_record import (
    TEXT_OPTIONS,
    CorpusRecord,
    corpus_record,
    reading_options,
    splitting_notes,
)
from wordgeom.texts.embedding import (
    Texts,
    check_texts_memory,
    check_words_known,
    check_words_memory,
    few_known_note,
    fit,
)
from wordgeom.texts.options import NAN, SIF, EmbedOptions
from wordgeom.texts.output import Output
from wordgeom.texts.words import usable_words
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors, digest_of

_SEPARATORS = {".npy": b"", ".txt": b" ", ".tsv": b"\t"}  # between numbers, by suffix
_SHOWN = 3
_log = logging.getLogger("wordgeom")


@dataclass(frozen=True)
class Embed(Stage):
    """Give each text a vector.

    names: files, directories, patterns or -; vectors: of words; counts: the counts that they were
    trained on, None to look beside the vectors; reading: options of the texts that were given, by
    name; out: a .npy, .txt or .tsv file, None for lines on standard output.
    """

    names: tuple[str, ...]
    vectors: Path
    counts: Path | None
    reading: Mapping[str, Any]
    options: EmbedOptions
    run: RunOptions
    out: Path | None
    resume: ResumeOptions = field(default_factory=ResumeOptions)

    @property
    def state(self) -> None:
        """None: embedding takes seconds, and is not resumed."""
        return

    @property
    def table(self) -> Path | None:
        """The table of the texts."""
        return None if self.out is None else self.out.with_suffix(".documents.tsv")

    @property
    def beside(self) -> tuple[Path, ...]:
        """The table."""
        return () if self.table is None else (self.table,)

    @property
    def input_paths(self) -> list[str | Path]:
        """The texts, the vectors and the counts behind them."""
        texts = [name for name in self.inputs.names if not is_stream(name)]
        return [*texts, self.vectors, *([] if self.counts is None else [self.counts])]

    @cached_property
    def record(self) -> CorpusRecord:
        """What is recorded of the text behind the vectors."""
        return corpus_record(self.vectors, self.counts)

    @cached_property
    def inputs(self) -> Inputs:
        """The texts, to be split as the text behind the vectors was. Raises OptionError."""
        given = reading_options(self.record, self.reading, paths.expand(self.names))
        return corpus_inputs.find(self.names, given)

    @cached_property
    def known(self) -> OpenVocabulary:
        """The vectors of words, and their n-grams."""
        return read_open_vectors(self.vectors, memory=memory_limit(self.run))

    @property
    def base(self) -> Vectors:
        """The vectors of words."""
        return self.known.vectors

    @cached_property
    def request(self) -> dict[str, Any]:
        """The options, and the digests of the vectors, the counts, the n-grams and the texts."""
        options = corpus_inputs.request_options(self.inputs.corpus, self.run)
        options = {name: options[name] for name in options if name in TEXT_OPTIONS}
        inputs: list[dict[str, Any]] = [
            {"name": name, "digest": None if is_stream(name) else file_digest(name)}
            for name in self.inputs.names
        ]
        known = [digest_of(self.base), self.record.digest, *ngram_digests(self.vectors)]
        return {
            "command": "embed",
            "options": {**options, **self.options.result_options()},
            "inputs": [*({"digest": digest} for digest in known), *inputs],
        }

    def check(self) -> None:
        """Check the options, and the names of the files to write and to read."""
        if self.options.weights != SIF and self.options.is_set("sif_a"):
            what = f"--sif-a has no effect with --weights {self.options.weights}"
            raise OptionError(what, do="leave it out")
        if not self.vectors.exists():
            do = "train vectors, or name them with --vectors"
            raise MissingInputError("no such file", where=self.vectors, do=do)
        if self.out is not None and self.table is not None:
            _check_output(self.out)
            _check_table(self.out, self.table)

    def up_to_date(self) -> Outcome | None:
        """Return the vectors if they exist as requested."""
        if self.out is None or self.table is None:
            return None
        piped = any(map(is_stream, self.inputs.names))
        if piped and self.out.exists() and not self.run.force:
            raise different_content(self.out, "was made from other text or from a pipe")
        if run_card.up_to_date(self.out, self.request, self.run.force, "text", self.beside):
            return Outcome(f"{self.out}: up to date", self.out)
        if self.table.exists() and not self.run.force:
            raise different_content(self.table, "belongs to no vectors")
        return None

    def work(self, job: Job) -> Outcome:
        """Read the texts, fit weights and components, and write the vectors."""
        check_words_memory(self.known, self.options, job.context)
        corpus, names = self.inputs.corpus, self.inputs.names
        try:
            usable = usable_words(self.known, corpus.normalise, self.options)
        except InputError as error:
            raise error.within(str(self.vectors)) from None
        encoded, words = usable.encode(names, corpus, job.context)
        with closing(encoded.stream):
            check_words_known(encoded, os.fspath(self.vectors), " ".join(self.names))
            check_texts_memory(self.base, encoded, job.context)
            texts = Texts(encoded, job.context)
            embedding, fitted = fit(words.words, texts, self.record, self.options)
            made = Output(embedding, texts)
            given = len(usable.words.words)
            added, their = words.words.words[given:], encoded.vocabulary.counts[given:-1]
            notes = [*self._notes(), *subword_note(added), *fitted]
            notes += [*encoded.notes, *few_known_note(encoded)]
            notes += input_warnings(encoded.sources, self.inputs.corpus.strip)
            notes += [*lost_notes(encoded.sources), *_repeated_ids(encoded.sources)]
            if self.out is None:
                made.write_lines(sys.stdout.buffer, b" ")
                sys.stdout.buffer.flush()
                for note in [*notes, *self._empty(made)]:
                    _log.info("note: %s", note)
                return Outcome("")
            facts = {"ngram_words": len(added), "ngram_tokens": int(their.sum())} if added else {}
            return self._written(self.out, made, notes, facts, job)

    def _written(
        self, out: Path, made: Output, notes: list[str], facts: dict[str, int], job: Job
    ) -> Outcome:
        """Write vectors, table and run card, with some facts, as one step."""
        assert self.table is not None
        between = _SEPARATORS[out.suffix]
        fill = partial(made.write_lines, between=between) if between else made.write_array
        parts: dict[Path, Callable[[BinaryIO], object]] = {out: fill, self.table: made.write_table}
        outcome = Outcome("", out)

        def card() -> dict[str, Any]:
            known, tokens = int(made.known.sum()), int(made.tokens.sum())
            empty = int(np.count_nonzero(made.known == 0))
            outcome.statistics = {
                "texts": made.shape[0], "dimension": made.shape[1], "tokens": tokens,
                "known": known, "empty": empty, **facts,
            }  # fmt: skip
            outcome.notes = [*notes, *self._empty(made)]
            return job.card(self.request, outcome)

        run_card.write_together(out, parts, card)
        share = outcome.statistics["known"] / max(1, outcome.statistics["tokens"])
        shape = f"{several(made.shape[0], 'text', 'texts')} × {made.shape[1]:,}"
        outcome.summary = f"{out}: {shape}, {share:.1%} of tokens known; {job.seconds()}"
        return outcome

    def _notes(self) -> Iterator[str]:
        """Yield notes on the vectors, and on how the texts are split."""
        yield from [*self.inputs.notes, *self.known.lost_notes]
        yield from reading_notes(self.base, os.fspath(self.vectors))
        vectors = os.fspath(self.vectors)
        yield from splitting_notes(self.record, self.inputs.corpus, self.reading, vectors)

    def _empty(self, made: Output) -> Iterator[str]:
        """Yield a note on texts without a known word."""
        rows = np.flatnonzero(made.known == 0).tolist()
        if rows:
            filled = "NaN" if self.options.empty == NAN else "zero"
            what = several(len(rows), "text has", "texts have")
            shown = ", ".join(map(str, rows[:_SHOWN])) + (", …" if len(rows) > _SHOWN else "")
            vectors = "its vector is" if len(rows) == 1 else "their vectors are"
            place = "row" if len(rows) == 1 else "rows"
            yield f"{what} no known word; {vectors} {filled} ({place} {shown}, from 0)"


def _repeated_ids(sources: Sequence[Source]) -> Iterator[str]:
    """Yield a note on IDs that several texts have; their hashes take less memory than they."""

    def ids() -> Iterator[str]:
        return (key for source in sources for key, _, _ in source.documents if key)

    hashes, times = np.unique(np.fromiter(map(hash, ids()), np.int64), return_counts=True)
    repeated = set(hashes[times > 1].tolist())
    if repeated:
        first = next(key for key in ids() if hash(key) in repeated)
        what = several(len(repeated), "ID occurs", "IDs occur")
        yield f"{what} more than once (the first: {first!r}); rows are in the order of the texts"


def _check_table(out: Path, table: Path) -> None:
    """Raise OptionError where the table belongs to vectors of another suffix, which stay."""
    for other in (out.with_suffix(suffix) for suffix in _SEPARATORS if suffix != out.suffix):
        card = run_card.read_card(other) if other.exists() and table.exists() else None
        if card is not None and card.get("request", {}).get("command") == "embed":
            what, do = f"lists the texts of {other}", "name another file with -o"
            raise OptionError(what, where=table, do=do)


def _check_output(out: Path) -> None:
    """Raise OptionError or MissingInputError where a file cannot be written."""
    if out.suffix not in _SEPARATORS:
        what, do = (
            "unknown suffix of a file of text vectors",
            f"use {listed(list(_SEPARATORS), 'or')}",
        )
        raise OptionError(what, where=out, found=repr(out.suffix), do=do)
    if not out.absolute().parent.is_dir():
        raise MissingInputError("no such directory", where=out.parent, do="create it")

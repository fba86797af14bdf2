"""The stage that transforms vectors, and scores them before and after."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.core.options import flag
from wordgeom.core.requests import request_of
from wordgeom.evaluation.answers import Task
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.sets import read_set
from wordgeom.formats.vector_files import (
    files_of,
    read_any_vectors,
    read_open_vectors,
    shape_of,
)
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.stages.before_after import changes, table, unused_tasks
from wordgeom.stages.evaluate import judge
from wordgeom.stages.given_vectors import Source
from wordgeom.stages.inference import reading_notes
from wordgeom.stages.revision import Revision
from wordgeom.stages.stage import Job, Outcome
from wordgeom.storage.disk_space import Demand, Space
from wordgeom.storage.scratch import mapped_array
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.open_vocabulary import OpenVocabulary
from wordgeom.subwords.stored import model_writer
from wordgeom.transforms.fit.pairs import read_pair_file
from wordgeom.transforms.options import TransformOptions
from wordgeom.transforms.pipeline import Files, Transformed, transformed
from wordgeom.transforms.space import ROWS
from wordgeom.vectors import run_card
from wordgeom.vectors.finite import nonfinite_rows, refuse_nonfinite
from wordgeom.vectors.keyed import Vectors, digest_of, vectors_space, writable_words

_WORD = 300  # bytes of a word, in lists and in tables that look it up
_NOT_LINEAR = ("normalise", "center", "remove_top")
_SPECTRUM = ("effective_rank", "spectrum_of", "spectrum")
_KEEPS_SPECTRUM = ("normalise", "center", "remove_top", "canonical", "power")


@dataclass(frozen=True)
class Transform(Revision):
    """Transform vectors.

    vectors: a file, or vectors in memory; out: None for nowhere; fit, power_pairs: files of word
    pairs, of --fit and --power best; align: vectors; report: evaluation sets; ngrams: of vectors in
    memory.
    """

    vectors: Source
    options: TransformOptions
    run: RunOptions
    out: Path | None = None
    fit: Path | None = None
    align: Path | None = None
    power_pairs: Path | None = None
    report: Sequence[str] = ()
    resume: ResumeOptions = field(default_factory=ResumeOptions)
    ngrams: SubwordModel | None = None

    @property
    def state(self) -> None:
        """None: a transformation takes seconds, and is not resumed."""
        return

    @property
    def obstacle(self) -> str:
        """Why the output cannot keep n-grams: a step that is not linear."""
        steps = [flag(name) for name in _NOT_LINEAR if getattr(self.options, name)]
        if not steps:
            return ""
        instead = "transform vectors without n-grams and apply subwords to the result"
        return f"omit {steps[0]}, or {instead}"

    @property
    def _files(self) -> list[list[Path]]:
        """The files of the vectors, of --align, of each file of pairs and of each set."""
        spaces: list[Any] = [self.vectors, self.align]
        found = [files_of(Path(one)) if isinstance(one, (str, os.PathLike)) else []
                 for one in spaces]  # fmt: skip
        pairs = [[] if path is None else [path] for path in (self.fit, self.power_pairs)]
        return [*found, *pairs, *([Path(path)] for path in self.report)]

    @property
    def input_paths(self) -> list[Path]:
        """All files that are read."""
        return [*(path for paths in self._files for path in paths), *self.stores_given]

    @cached_property
    def tasks(self) -> list[Task]:
        """The sets of the report. Raises what `read_set` raises."""
        return [read_set(path, EvalOptions()) for path in self.report]

    @cached_property
    def request(self) -> dict[str, Any]:
        """The options, and the digests of the files read, "" for those not given."""
        digests = [run_card.joint_digest(paths) if paths else "" for paths in self._files]
        if isinstance(self.vectors, Vectors):
            digests[0] = digest_of(self.vectors)
        digests += self.ngram_digests if self.kept else []
        options = {**self.options.result_options(), "seed": self.run.seed}
        return request_of("transform", options, digests)

    def check(self) -> None:
        """Check the options and the name of the output, and read the sets."""
        self.options.check_inputs(self.fit, self.align, self.power_pairs)
        if self.out is not None:
            writable_words(self.out, [], space=None)
        self.check_ngrams()
        _ = self.tasks, self.request

    @property
    def demand(self) -> Demand:
        """The vectors, once in their file and once, while they are transformed, in another."""
        if self.out is None:
            return Demand()
        words, columns = shape_of(self.vectors)
        mapped = 0 if isinstance(self.vectors, Vectors) else 4 * words * columns
        made = vectors_space(self.out, words, self.options.dim or columns)
        return Demand(made, Space.exactly(mapped))

    def work(self, job: Job) -> Outcome:
        """Score the vectors, transform them, score them again, and write them."""
        context = job.context
        read, notes = self._read(self.vectors, self.named, context, ngrams=self.kept)
        vectors, files = read.vectors, self._opened(read.vectors, context)
        judged = [file for file in (files.fitted, files.powered) if file is not None]
        used = {pair for file in judged for pair in file.used}
        tasks, left_out = unused_tasks(self.tasks, vectors, used)
        before, refused = judge(vectors, tasks, context) if tasks else ([], {})
        left_out += [f"{name}: skipped: {why}" for name, why in refused.items()]
        made = transformed(vectors, self.options, files, context)
        model = None if read.model is None else made.space.with_ngrams(read.model)
        result = made.space.store()
        after = judge(result, tasks, context)[0] if tasks else []
        report = list(changes(before, after, self.run.seed))
        left_out += [f"{each.name}: {note}" for each in after for note in each.notes]
        notes += [note for file in judged for note in file.notes]
        notes += [*made.notes, *left_out, *self.ngram_notes]
        lines = [*made.lines, *table(report)]
        statistics = {**_statistics(made), "report": report, "lines": lines}
        (rows, columns), steps = result.matrix.shape, ", ".join(made.facts).replace("_", "-")
        summary = f"{self.out or 'vectors'}: {rows:,} × {columns:,} by {steps}; {job.seconds()}"
        value = OpenVocabulary(result, model)
        outcome = Outcome(summary, self.out, notes, lines, statistics, value=value)
        if self.out is not None:
            card = job.card(self.request, outcome)
            with model_writer(self.out, model, result, card) as ready:
                run_card.write(self.out, result, card, ready=ready)
        return outcome

    def _read(
        self, source: Source, named: str, context: Context, *, ngrams: bool = False
    ) -> tuple[OpenVocabulary, list[str]]:
        """Return vectors to overwrite, in a temporary file where they will be written to one.

        ngrams: read those of the vectors too.
        """
        words, columns = shape_of(source)
        in_file = self.out is not None and not isinstance(source, Vectors)
        needed = words * (_WORD + (0 if in_file else 4 * columns))
        needed += 8 * columns * (columns + 3 * ROWS) * (3 * context.pool.threads)
        needed += 2 * self.ngram_bytes if ngrams else 0
        what = f"{words:,} vectors of {columns:,}" + (" with n-grams" if ngrams else "")
        check_memory(what, needed, context.memory, "raise --memory, or lower --threads")
        if isinstance(source, Vectors):
            vectors = Vectors(source.words, source.matrix.copy(), source.duplicates)
            read = OpenVocabulary(vectors, self.ngrams if ngrams else None)
        else:
            path, memory = Path(source), context.memory
            allocate = partial(mapped_array, context.scratch) if in_file else np.empty
            if ngrams:
                read = read_open_vectors(path, memory=memory, allocate=allocate)
            else:
                read = OpenVocabulary(read_any_vectors(path, memory=memory, allocate=allocate))
        vectors = read.vectors
        refuse_nonfinite(vectors.words, nonfinite_rows(vectors.matrix), named, "train again")
        return read, reading_notes(vectors, named)

    def _opened(self, vectors: Vectors, context: Context) -> Files:
        """Return what the steps read besides the vectors."""
        fitted, powered = (None if path is None else read_pair_file(path, vectors)
                           for path in (self.fit, self.power_pairs))  # fmt: skip
        if self.align is None:
            return Files(fitted, powered)
        other, _ = self._read(self.align, str(self.align), context)
        return Files(fitted, powered, other.vectors, str(self.align))


def _statistics(made: Transformed) -> dict[str, Any]:
    """Return the facts of each step, and the spectrum if the last steps keep it."""
    statistics: dict[str, Any] = {"steps": made.facts}
    if set(made.facts) <= set(_KEEPS_SPECTRUM):
        for facts in made.facts.values():
            statistics |= {name: facts[name] for name in _SPECTRUM if name in facts}
    return statistics

"""The stage that measures the change of words between two periods: `wordgeom drift --measure`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import several
from wordgeom.core.requests import request_of
from wordgeom.core.types import Float64, Int64
from wordgeom.drift.measures import gbu, neighbours, pmi, procrustes, sgns
from wordgeom.drift.measures.comparison import Compared, common_rows
from wordgeom.drift.measures.options import (
    GBU,
    NEIGHBOURS,
    OF_VECTORS,
    PMI,
    MeasureOptions,
    check_measure,
)
from wordgeom.drift.measures.passages import Passages, split_time
from wordgeom.drift.measures.results import Measured
from wordgeom.drift.options import DriftOptions
from wordgeom.drift.report import ReportOptions
from wordgeom.formats.vector_files import read_any_vectors
from wordgeom.linalg.device import memory_limit
from wordgeom.methods.dlsa.model import DynamicModel
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.runtime.run_options import ResumeOptions, UseOptions
from wordgeom.stages.inference import reading_notes
from wordgeom.stages.stage import Job, Outcome, Stage
from wordgeom.vectors.keyed import Vectors, digest_of
from wordgeom.vectors.nearest import row_of, unit_vectors

_ENTRY = 60  # bytes of an entry of the counts: three copies, and temporary arrays


@dataclass(frozen=True)
class MeasureChange(Stage):
    """Rank words by how much they changed between two periods.

    source: a model, or the later vectors; start: the earlier vectors; words: listed instead of
    those that changed most. Raises OptionError for options that contradict the measure.
    """

    source: Path | Vectors
    options: MeasureOptions
    testing: DriftOptions
    form: ReportOptions
    run: UseOptions
    words: tuple[str, ...] = ()
    start: Path | Vectors | None = None
    resume: ResumeOptions = field(default_factory=ResumeOptions)
    out: None = None

    def __post_init__(self) -> None:
        check_measure(self.options, self.testing, self.form, start=self.start is not None)
        if self.resume.scheduler is not None:
            what = "--scheduler applies to tests of a model, not to measures of change"
            raise OptionError(what, do="leave it out")

    @cached_property
    def files(self) -> tuple[Vectors, Vectors]:
        """The earlier and the later vectors. Raises what `read_any_vectors` raises."""
        assert self.start is not None
        limit = memory_limit(self.run)
        read = [
            each if isinstance(each, Vectors) else read_any_vectors(each, memory=limit)
            for each in (self.start, self.source)
        ]
        return read[0], read[1]

    @cached_property
    def fitted(self) -> DynamicModel:
        """The model. Raises MissingInputError, FormatError."""
        if isinstance(self.source, Vectors):
            what = f"--measure {self.options.measure} needs a model, not vectors"
            raise InputError(what, do="name the output of train --method dlsa")
        return DynamicModel.open(self.source)

    @cached_property
    def request(self) -> dict[str, Any]:
        """The options, and the digests of the model or the vectors."""
        options = {**self.options.result_options(), "seed": self.run.seed}
        if self.options.measure in OF_VECTORS:
            return request_of("drift", options, map(digest_of, self.files))
        return request_of("drift", options, [self.fitted.store.digest])

    def work(self, job: Job) -> Outcome:
        """Compute the measure, and return the report. Raises InputError, OptionError, RankError."""
        of_files = self.options.measure in OF_VECTORS
        compared = (self._files if of_files else self._periods)(job.context)
        report = compared.report(str(self.options.measure), self.words, self.form, job.context)
        text = report.to_json() if self.form.json else str(report)
        return Outcome("", report=text, value=report)

    def _files(self, context: Context) -> Compared:
        """Compare two files of vectors, on their common words."""
        then, now = self.files
        names = [_name(self.start, "the earlier vectors"), _name(self.source, "the later vectors")]
        notes = [*reading_notes(then, names[0]), *reading_notes(now, names[1])]
        rows = common_rows(then, now)
        if not len(rows):
            what = f"{names[0]} and {names[1]} have no word in common"
            raise InputError(what, do="train both with the same options of the text")
        left = len({*then.words} ^ {*now.words})
        if left:
            are = several(left, "word is", "words are")
            notes.append(f"{are} in one of the files alone, and left out")
        units = [unit_vectors(v.matrix[rows[:, k]]) for k, v in enumerate((then, now))]
        words = [now.words[row] for row in rows[:, 1].tolist()]
        return Compared(words, self._of_vectors(units[0], units[1], context), notes)

    def _of_vectors(self, then: Float64, now: Float64, context: Context) -> Measured:
        if self.options.measure != NEIGHBOURS:
            return procrustes.measure(then, now, procrustes.METHOD)
        number = self.options.frequent or len(then)
        return neighbours.measure(then, now, number, self.options.nearest, context)

    def _periods(self, context: Context) -> Compared:
        """Compare two periods of the documents of a model."""
        fitted, options = self.fitted, self.options
        counts = fitted.open_documents()
        check_memory("the counts", _ENTRY * counts.stored, context.memory, "raise --memory")
        X, documents = counts.full().select(fitted.rows), counts.documents()
        split = split_time(fitted.times, X, options.split)
        late = fitted.times >= split
        passages = Passages.of(X, [documents[row] for row in fitted.rows.tolist()], late)
        uses = passages.uses().astype(np.int64)
        rows = np.flatnonzero(uses.min(axis=0) >= options.min_uses)
        if not len(rows):
            what = f"no word has {options.min_uses} uses in both periods"
            do = "lower --min-uses, or choose another --split"
            raise InputError(what, where=fitted.store.path, do=do)
        self._check_named(uses)
        notes = passages.remarks()
        left = int(np.count_nonzero(uses.any(axis=0))) - len(rows)
        if left:
            were = several(left, "word was", "words were")
            notes.append(f"{were} left out, with fewer than {options.min_uses} uses in a period")
        periods: dict[str, Any] = {"split": split}
        periods |= {
            name: {
                "first": float(fitted.times[mask].min()), "last": float(fitted.times[mask].max()),
                "documents": int(np.count_nonzero(passages.late == (name == "now"))),
                "tokens": int(used.sum()),
            }
            for name, mask, used in zip(("then", "now"), (~late, late), uses, strict=True)
        }  # fmt: skip
        words = [fitted.words[row] for row in rows.tolist()]
        measured = self._of_passages(passages, rows, context)
        return Compared(words, measured, notes, uses[:, rows], periods)

    def _of_passages(self, passages: Passages, rows: Int64, context: Context) -> Measured:
        options, number = self.options, self.options.permutations(self.testing)
        if options.measure == PMI:
            return pmi.measure(passages, rows, options.contexts, number, context)
        if options.measure == GBU:
            return gbu.measure(passages, rows, options.dim, number, context)
        return sgns.measure(passages, self.fitted.words, rows, options.dim, context)

    def _check_named(self, uses: Int64) -> None:
        """Raise InputError for a word that is unknown, or rare in a period."""
        known = Vectors(self.fitted.words, np.zeros((len(self.fitted.words), 1), np.float32))
        for word in self.words:
            then, now = uses[:, row_of(known, word)].tolist()
            if min(then, now) < self.options.min_uses:
                what = f"{word!r} is used {then:,} times then and {now:,} times now"
                do = f"--min-uses {self.options.min_uses} needs more: lower it, or omit the word"
                raise InputError(what, do=do)


def _name(source: Path | Vectors | None, otherwise: str) -> str:
    return os.fspath(source) if isinstance(source, Path) else otherwise

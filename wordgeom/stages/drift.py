"""The stage that tests which words of a dynamic model changed over time."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from wordgeom.checkpoint.state import drift_state
from wordgeom.core.errors import InputError, MissingInputError, OptionError, RankError
from wordgeom.core.formatting import several
from wordgeom.core.requests import request_of
from wordgeom.core.types import Csr, Float64, Int64
from wordgeom.drift.diagnostics import Diagnostics, diagnose
from wordgeom.drift.factor_test import ASSUMPTION, factor_matrix, factor_test
from wordgeom.drift.groups import group_documents
from wordgeom.drift.options import (
    F_TAIL,
    FACTOR,
    FLIPS,
    MODEL,
    PERMUTATION,
    TIMES,
    DriftOptions,
)
from wordgeom.drift.passages import documents_of_words
from wordgeom.drift.ranking import RankedWords
from wordgeom.drift.report import FACTORS, ReportOptions, render
from wordgeom.drift.testing import test_directions, test_drift
from wordgeom.drift.time_axis import bin_times
from wordgeom.drift.verdict import Verdict
from wordgeom.linalg.svd import transpose
from wordgeom.matrices.document_term import StoredDocuments, source_documents
from wordgeom.matrices.times import parse_times, read_time
from wordgeom.methods.dlsa.model import DynamicModel
from wordgeom.methods.dlsa.problem import HOLD
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import ResumeOptions, UseOptions
from wordgeom.schedulers.shared_folder import folder_beside
from wordgeom.stages.stage import Job, Outcome, Stage
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.nearest import row_of
from wordgeom.weighting.documents import WeightedDocuments
from wordgeom.weighting.options import DocumentOptions

_FEW, _MANY = 5, 200  # distinct times
_log = logging.getLogger("wordgeom")


@dataclass(frozen=True)
class Drift(Stage):
    """Test whether the words of a model changed, and report by how much each did.

    words: listed instead of those that changed most.
    """

    model: Path
    options: DriftOptions
    form: ReportOptions
    run: UseOptions
    words: tuple[str, ...] = ()
    resume: ResumeOptions = field(default_factory=ResumeOptions)
    out: None = None

    @cached_property
    def fitted(self) -> DynamicModel:
        """The model. Raises MissingInputError, FormatError."""
        return DynamicModel.open(self.model)

    @cached_property
    def span(self) -> tuple[float, float]:
        """The two times that are compared. Raises OptionError."""
        times = self.fitted.times
        given = (self.form.then, times.min()), (self.form.now, times.max())
        what = "--then and --now must be times"
        then, now = (float(t) if text is None else read_time(text, what) for text, t in given)
        if then == now:
            what = f"--then and --now are the same time, {then:g}"
            raise OptionError(what, do="choose two times")
        if then > now:
            what = f"--then must be before --now {now:g}, found {then:g}"
            do = "swap the two"
            if self.form.then is None or self.form.now is None:
                do = f"the documents are from {times.min():g} to {times.max():g}"
            raise OptionError(what, do=do)
        return then, now

    @cached_property
    def rows(self) -> Int64:
        """The rows of the words that were named. Raises InputError."""
        known = Vectors(self.fitted.words, self.fitted.words_at(self.span[1]))
        return np.array([row_of(known, word) for word in dict.fromkeys(self.words)], np.int64)

    @cached_property
    def request(self) -> dict[str, Any]:
        """The options and the digest of the model."""
        options = {**self.options.result_options(), "seed": self.run.seed}
        digests = [self.fitted.store.digest]
        if self.options.counts is not None:
            digests.append(_open_counts(Path(self.options.counts)).store.digest)
        return request_of("drift", options, digests)

    @property
    def state(self) -> Path | None:
        """A directory beside the model, where that can be written."""
        folder = drift_state(self.model)
        return folder if os.access(folder.parent, os.W_OK) else None

    @property
    def shared_folder(self) -> Path:
        """The folder of the arrays that a cluster reads: beside the model, without an output."""
        return folder_beside(drift_state(self.model))

    def check(self) -> None:
        """Open the model, and check the times."""
        _ = self.span

    def work(self, job: Job) -> Outcome:
        """Run the tests, and return the report.

        Raises RankError, and MissingInputError and StaleError for the documents of the model.
        """
        fitted, span, rows = self.fitted, self.span, self.rows
        tests = _Tests(fitted, self.options, job.context, rows)
        verdicts = tests.verdicts()
        ranked = RankedWords(
            fitted, verdicts, tests.document_frequencies, span, self.form, job.context, tests.trend,
            (fitted.in_use(span[0]), fitted.in_use(span[1])), tests.diagnostics,
            tests.documents,
        )  # fmt: skip
        beyond = [
            fitted.extrapolation(time, f"{name} {time:g}")
            for name, time in zip(("--then", "--now"), span, strict=True)
        ]
        report = ranked.report(rows, [*tests.notes, *filter(None, beyond)])
        return Outcome("", report=render(report, self.form), value=report)


@dataclass(frozen=True, eq=False)
class _Tested:
    """The rows (n) of counts that are tested, and their times (n)."""

    counts: StoredDocuments
    rows: Int64
    times: Float64

    @classmethod
    def of(cls, fitted: DynamicModel) -> Self:
        """Return the model's own rows."""
        return cls(fitted.open_documents(), fitted.rows, fitted.times)

    @classmethod
    def read(cls, path: Path, fitted: DynamicModel) -> Self:
        """Return the rows of other counts with a time and a word.

        Raises MissingInputError, InputError without times, OptionError for other words.
        """
        counts = _open_counts(path)
        if counts.vocabulary.words != fitted.words:
            what = f"--counts {path}: its words differ from those of the model"
            do = "count the same text with the same options, but --passages"
            raise OptionError(what, do=do)
        times = parse_times(counts.documents(), counts.names())
        used = times.known[np.diff(counts.full().indptr)[times.known] > 0]
        return cls(counts, used, times.values[used])

    @cached_property
    def units(self) -> Int64:
        """The document (n) of each row."""
        return source_documents(self.counts.documents())[self.rows]

    @cached_property
    def chosen(self) -> Csr:
        """The counts (n × p)."""
        return self.counts.full().select(self.rows)

    def diagnostics(self, topics: Float64, width: float) -> Diagnostics:
        """Return what else depends on time, in bins of a width; topics (n × r)."""
        X = self.chosen
        lengths = np.bincount(X.entry_rows, X.data, X.rows).astype(np.float64)
        times = bin_times(self.times, width) if width else self.times
        return diagnose(times, lengths, topics, self.units)


class _Tests:
    """The tests of a model's documents, with as many topics as requested."""

    def __init__(
        self, fitted: DynamicModel, options: DriftOptions, context: Context, rows: Int64
    ) -> None:
        self._fitted, self._options, self._context = fitted, options, context
        self.trend = fitted.trend if options.trend == MODEL else options.trend
        self.notes: list[str] = []
        if options.test == FLIPS:
            self.trend = HOLD
        else:
            self._options = replace(options, trend=self.trend)
            self.notes += _trend_notes(self.trend, fitted.trend)
        own = _Tested.of(fitted)
        tested = own if options.counts is None else _Tested.read(Path(options.counts), fitted)
        counts, self._times = tested.counts, tested.times
        if options.width:
            self._times = bin_times(tested.times, options.width)
            joined, left = (len(np.unique(t)) for t in (tested.times, self._times))
            bins = several(left, "bin", "bins")
            self.notes.append(f"tested with {joined:,} times in {bins} of width {options.width:g}")
        self._basis = fitted.polynomials.at(self._times)
        self.notes += _time_notes(self._times, options, counts.unit)
        _announce(self._times)
        if absent := len(counts) - len(tested.rows):
            have = several(absent, f"{counts.unit} has", f"{counts.unit}s have")
            self.notes.append(f"{have} no readable time or no word; left out")
        if options.counts is not None:
            rows_of = several(len(tested.rows), counts.unit, f"{counts.unit}s")
            of = "displacement, movement, cosine and neighbours are of the model"
            self.notes.append(f"tested with {rows_of} of {options.counts}; {of}")
        self._groups: Int64 | None = None
        if options.group is not None:
            documents = counts.documents()
            chosen = [documents[row] for row in tested.rows.tolist()]
            self._groups = group_documents(chosen, options.group)
        if counts.unit == "passage" and _of_documents(options):
            what = "--permute documents and --test f or factor need independent rows, not passages"
            raise OptionError(what, do="use --test flips, or build-dtm without --passages")
        self._rows, self._units, self._X = rows, tested.units, tested.chosen
        self.diagnostics = own.diagnostics(fitted.documents.astype(np.float64), options.width)
        if options.test != FLIPS:
            self.notes += filter(None, [self.diagnostics.warning()])
            weighted = WeightedDocuments(counts, DocumentOptions(fitted.weight), context.pool)
            self._X = weighted.full().select(tested.rows)

    @property
    def documents(self) -> int:
        """The number of documents, whose passages are the rows."""
        return len(np.unique(self._units))

    @property
    def document_frequencies(self) -> Int64:
        """(p) the number of documents that contain each word."""
        return documents_of_words(transpose(self._X), self._units)

    def verdicts(self) -> list[Verdict]:
        """Return the verdict with r topics, and with 2 r where that can be tested."""
        rank = self._options.rank or self._fitted.dim
        found = [self._verdict(rank)]
        if self._options.both_ranks:
            try:
                found.append(self._verdict(2 * rank))
            except (InputError, OptionError, RankError) as error:
                self.notes.append(f"not tested with r = {2 * rank}: {error}")
        return found

    def _verdict(self, rank: int) -> Verdict:
        options, context = self._options, self._context
        if options.test == FLIPS:
            return test_directions(
                self._X, self._units, self._basis, self._times, options, rank, context
            )
        by_factors = options.test == FACTOR
        verdict = test_drift(
            self._X, self._basis, self._times,
            replace(options, test=F_TAIL) if by_factors else options,
            rank, self._groups, context,
        )  # fmt: skip
        return self._by_factors(verdict) if by_factors else verdict

    def _by_factors(self, observed: Verdict) -> Verdict:
        """Return the verdict of T on the named words, or on all; no word has a p-value."""
        X = self._X
        if len(self._rows):
            X = transpose(transpose(X).select(np.unique(self._rows)))
        found = factor_test(factor_matrix(X, self._context.memory), observed.rank)
        missing = np.full(len(observed.F), np.nan)
        note = (
            f"T = {found.statistic:.1f}, Bartlett-corrected, with "
            f"{several(found.degrees, 'degree', 'degrees')} of freedom; "
            f"uncorrected {found.plain:.1f}, p = {found.plain_p:.2g}"
        )
        return replace(
            observed, method="T of factor analysis", assumption=ASSUMPTION, statistic=FACTORS,
            words_null="none", global_p=found.p, pvalues=missing, qvalues=missing,
            notes=(note, *found.notes),
        )  # fmt: skip


def _open_counts(path: Path) -> StoredDocuments:
    """Return the counts of --counts. Raises MissingInputError, FormatError."""
    if not path.is_dir():
        do = "create it with wordgeom build-dtm"
        raise MissingInputError("no such directory", where=path, do=do)
    return StoredDocuments.open(path)


def _of_documents(options: DriftOptions) -> bool:
    """Return whether a test takes the rows of the matrix to be independent."""
    if options.test == PERMUTATION:
        return options.permute != TIMES
    return options.test != FLIPS


def _trend_notes(tested: str, fitted: str) -> list[str]:
    """Return a note where the test and the model treat trends differently."""
    if tested == fitted:
        return []
    of_model = "displacement, movement, cosine and neighbours come from the model"
    return [f"F is tested with --trend {tested}; {of_model}, fitted with --trend {fitted}"]


def _announce(times: Float64) -> None:
    """Log before a test of many times that it is slow, and what bins of width 1 would leave."""
    found, joined = (f"{len(np.unique(t)):,}" for t in (times, np.floor(times)))
    if len(np.unique(times)) > _MANY and joined != found:
        _log.info("note: %s distinct times take long to test; --bin 1 leaves %s", found, joined)


def _time_notes(times: Float64, options: DriftOptions, unit: str) -> list[str]:
    """Return notes on few distinct times, and on times with one row, a document or a passage."""
    sizes = np.unique(times, return_counts=True)[1]
    notes, single = [], int(np.count_nonzero(sizes == 1))
    if len(sizes) < _FEW:
        notes.append(f"only {len(sizes)} distinct times: one unusual time looks like change")
    if single and options.test == FLIPS:
        have = several(single, "time has", "times have")
        notes.append(f"{have} a single {unit}, which the test leaves out; use wider bins")
    if single and options.test == PERMUTATION and options.permute == TIMES:
        have = "time has" if single == 1 else "times have"
        why = "p is nearly exact only if times are of similar size, so consider wider bins"
        notes.append(f"{single:,} of {len(sizes):,} {have} a single document; {why}")
    return notes

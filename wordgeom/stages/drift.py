"""Drift: a model of dynamic LSA and its documents → words by how much they changed, tested."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wordgeom.core.errors import InputError, OptionError, RankError
from wordgeom.core.types import Array, Int64
from wordgeom.drift.attestation import attested
from wordgeom.drift.factor_test import ASSUMES, factor_matrix, factor_test
from wordgeom.drift.groups import group_documents
from wordgeom.drift.options import F_TAIL, FACTOR, MODEL, DriftOptions
from wordgeom.drift.ranking import Listing
from wordgeom.drift.report import FACTORS, DriftReport, ReportOptions
from wordgeom.drift.testing import test_drift
from wordgeom.drift.verdict import Verdict
from wordgeom.linalg.device import get_ops, open_context
from wordgeom.linalg.svd import transpose
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.matrices.times import FORMATS, parse_time
from wordgeom.methods.dlsa.model import DynamicModel
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import UseOptions
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.nearest import row_of
from wordgeom.weighting.documents import WeightedDocuments
from wordgeom.weighting.options import DocumentOptions


def drift(
    model: str | os.PathLike[str],
    options: DriftOptions,
    form: ReportOptions,
    run: UseOptions,
    *,
    words: Sequence[str] = (),
    show: bool = False,
) -> DriftReport:
    """Test whether the words of a model changed, and tell by how much each did.

    words: those to tell of, instead of those that changed most; show: tell progress. Raises
    InputError, OptionError, RankError, MissingInputError and StaleError for the documents that the
    model was made from.
    """
    fitted = DynamicModel.open(model)
    span = _time(form.then, fitted.times.min()), _time(form.now, fitted.times.max())
    known = Vectors(fitted.words, fitted.vectors_at(span[1]))
    rows = np.array([row_of(known, word) for word in dict.fromkeys(words)], np.int64)
    with open_context(run, show=show) as context:
        counts = fitted.open_documents()
        tests = _Tests(fitted, counts, options, context, rows)
        verdicts = tests.verdicts()
        listing = Listing(
            fitted, verdicts, tests.holders, span, form, context, tests.trend, tests.said(span)
        )
        return listing.report(rows, [*tests.notes, *_guesses(fitted, form, span)])


class _Tests:
    """The tests of a model's documents, with as many topics as are asked for."""

    def __init__(
        self,
        fitted: DynamicModel,
        counts: StoredDocuments,
        options: DriftOptions,
        context: Context,
        rows: Int64,
    ) -> None:
        trend = fitted.trend if options.trend == MODEL else options.trend
        self._fitted, self._options, self._context = fitted, replace(options, trend=trend), context
        self.trend, self.notes = trend, _trends(trend, fitted.trend)
        self._groups: Int64 | None = None
        if options.group is not None:
            documents = counts.documents()
            chosen = [documents[row] for row in fitted.rows.tolist()]
            self._groups = group_documents(chosen, options.group)
        weighted = WeightedDocuments(counts, DocumentOptions(fitted.weight), context.pool)
        self._X, self._rows = weighted.full().select(fitted.rows), rows

    @property
    def holders(self) -> Int64:
        """(p) how many of the model's documents hold each word."""
        return np.bincount(self._X.indices, minlength=self._X.columns)

    def said(self, span: tuple[float, float]) -> tuple[Array, Array]:
        """Return which words (p) are attested then, and now."""
        then, now = (attested(self._X, self._fitted.times, time) for time in span)
        return then, now

    def verdicts(self) -> list[Verdict]:
        """Return what is said with r topics, and with 2 r where that can be tested."""
        rank = self._options.rank or self._fitted.dim
        found = [self._verdict(rank)]
        if self._options.both_ranks:
            try:
                found.append(self._verdict(2 * rank))
            except (InputError, OptionError, RankError) as error:
                self.notes.append(f"not tested with r = {2 * rank}: {error}")
        return found

    def _verdict(self, rank: int) -> Verdict:
        options, context, fitted = self._options, self._context, self._fitted
        by_factors = options.test == FACTOR
        verdict = test_drift(
            self._X, fitted.polynomials.values, fitted.times,
            replace(options, test=F_TAIL) if by_factors else options,
            rank=rank, ops=get_ops("cpu", context.pool), seed=context.seed, pool=context.pool,
            memory=context.memory, progress=context.progress, groups=self._groups,
        )  # fmt: skip
        return self._by_factors(verdict) if by_factors else verdict

    def _by_factors(self, observed: Verdict) -> Verdict:
        """Return the verdict of T on the words that were named, or all; no word has a p."""
        X = self._X
        if len(self._rows):
            X = transpose(transpose(X).select(np.unique(self._rows)))
        found = factor_test(factor_matrix(X, self._context.memory), observed.rank)
        nothing = np.full(len(observed.F), np.nan)
        told = (
            f"r = {observed.rank}: T = {found.statistic:.1f}, Bartlett-corrected, of "
            f"{found.degrees:,} degrees of freedom; plain {found.plain:.1f}, "
            f"p = {found.plain_p:.2g}"
        )
        return replace(
            observed, method="T of factor analysis", assumption=ASSUMES, statistic=FACTORS,
            words_null="none", global_p=found.p, pvalues=nothing, qvalues=nothing,
            notes=(told, *found.notes),
        )  # fmt: skip


def _trends(tested: str, fitted: str) -> list[str]:
    """Return what to tell where the test's trend is not the model's."""
    if tested == fitted:
        return []
    of_model = "displacement, movement, cosine and neighbours are of the model's"
    return [f"F is of the trend {tested}; {of_model}, {fitted}"]


def _time(text: str | None, otherwise: float) -> float:
    """Return a time as it was written; raises OptionError."""
    if text is None:
        return float(otherwise)
    time = parse_time(text)
    if time is None:
        raise OptionError("--then and --now must be times", found=repr(text), do=FORMATS)
    return time.value


def _guesses(fitted: DynamicModel, form: ReportOptions, span: tuple[float, float]) -> list[str]:
    """Return what to tell of times that no document is of."""
    first, last = float(fitted.times.min()), float(fitted.times.max())
    asked = zip(("--then", "--now"), span, strict=True)
    return [
        f"{name} {time:g} lies outside of the documents' {first:g} to {last:g}: a guess"
        for name, time in asked
        if not first <= time <= last
    ]

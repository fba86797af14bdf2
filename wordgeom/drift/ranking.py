"""Words in order of how much they changed, with what is to be told of each."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np

from wordgeom.core.formatting import several
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.drift.controls import matched_controls
from wordgeom.drift.neighbours import nearest_words, unit_vectors
from wordgeom.drift.options import LEVEL
from wordgeom.drift.report import BY_F, Change, DriftReport, ReportOptions, Word, json_value
from wordgeom.drift.verdict import Verdict
from wordgeom.methods.dlsa.model import DynamicModel
from wordgeom.runtime.context import Context

_TOP = 20  # words that are listed, and that have a control
_FEW = 10  # documents
_OF_TEST = (
    "method", "assumption", "statistic", "words_null", "permutations", "smallest_p",
    "smallest_word_p", "left_out", "still",
)  # fmt: skip
_OF_RANK = ("rank", "global_p", "mixture_p")


class RankedWords:
    """The words of a model beside its tests: at r topics, and perhaps at 2 r.

    holders (p): documents that hold each word; span: the times then and now; trend: that of the
    tests; said (p) each: which words are attested then, and now.
    """

    def __init__(
        self,
        fitted: DynamicModel,
        verdicts: Sequence[Verdict],
        holders: Int64,
        span: tuple[float, float],
        form: ReportOptions,
        context: Context,
        trend: str,
        said: tuple[Array, Array],
    ) -> None:
        self._fitted, self._verdicts, self._holders = fitted, verdicts, holders
        self._span, self._form, self._context, self._trend = span, form, context, trend
        self._said = said
        self._displacement, self._movement = fitted.displacement(*span), fitted.movement()
        sizes = {BY_F: verdicts[0].F, "displacement": self._displacement}
        size = sizes.get(form.by, self._movement)
        # What has no figure comes last; equal ones stay in order of frequency.
        self._order = np.argsort(-np.where(np.isnan(size), -np.inf, size), kind="stable")
        self._ranks = np.empty(len(self._order), np.int64)
        self._ranks[self._order] = np.arange(1, len(self._order) + 1)

    def report(self, rows: Int64, notes: Sequence[str]) -> DriftReport:
        """Return the report of some words, or of the first where there are no `rows`."""
        if not len(rows):
            top = self._form.top if self._form.top is not None else 0 if self._form.json else _TOP
            rows = self._order[: top or None]
        told = [*self._notes(), *self._rare(rows), *notes]
        return DriftReport(self._model(), self._test(), self._span, self._words(rows), told)

    def _rare(self, rows: Int64) -> list[str]:
        """Return what to tell of listed words that hardly any document holds."""
        rare = int(np.count_nonzero(self._holders[rows] < _FEW))
        are = several(rare, "listed word is", "listed words are")
        do = "a few documents make a large F: count with a higher --min-count"
        return [f"{are} in fewer than {_FEW} documents; {do}"] if rare else []

    def _notes(self) -> list[str]:
        """Return the notes of both tests: one that only one of them has says with which r."""
        each = [verdict.notes for verdict in self._verdicts]
        shared = [note for note in each[0] if all(note in notes for notes in each)]
        own = [
            f"r = {verdict.rank}: {note}"
            for verdict in self._verdicts
            for note in verdict.notes
            if note not in shared
        ]
        return [*shared, *own]

    def _words(self, rows: Int64) -> list[Word]:
        units = [unit_vectors(self._fitted.vectors_at(time)) for time in self._span]
        cosines = np.einsum("ij,ij->i", *units)
        near = [
            self._nearby(each * said[:, None], rows)
            for each, said in zip(units, self._said, strict=True)
        ]
        # Of all words there is none outside of the list.
        first = rows if 2 * len(rows) <= len(self._fitted.words) else rows[:_TOP]
        controls = matched_controls(first, self._holders, ~np.isnan(self._verdicts[0].F)).tolist()
        controls += [-1] * (len(rows) - len(first))
        return [
            self._word(row, float(cosines[row]), then, now, control)
            for row, then, now, control in zip(rows.tolist(), *near, controls, strict=True)
        ]

    def _nearby(self, units: Float64, rows: Int64) -> list[list[str]]:
        context, words = self._context, self._fitted.words
        k = self._form.neighbours
        found = nearest_words(units, rows, k, context.pool, context.progress, "neighbours")
        return [[words[row] for row in near] for near in found]

    def _word(self, row: int, cosine: float, then: list[str], now: list[str], control: int) -> Word:
        f, p, q = [nan] * 3
        if len(self._verdicts) > 1:
            other = self._verdicts[1]
            f, p, q = (float(each[row]) for each in (other.F, other.pvalues, other.qvalues))
        return Word(
            int(self._ranks[row]), self._change(row), int(self._fitted.counts[row]),
            int(self._holders[row]), cosine, f, p, q, bool(self._said[0][row]),
            bool(self._said[1][row]), then, now,
            None if control < 0 else self._change(control),
        )  # fmt: skip

    def _change(self, row: int) -> Change:
        verdict = self._verdicts[0]
        figures = (verdict.F, verdict.r2, verdict.pvalues, verdict.qvalues)
        of_word = (self._displacement, self._movement, *figures)
        return Change(self._fitted.words[row], *(float(each[row]) for each in of_word))

    def _model(self) -> dict[str, Any]:
        fitted = self._fitted
        return {
            "model": str(fitted.store.path), "words": len(fitted.words),
            "documents": len(fitted.rows), "times": len(np.unique(fitted.times)),
            "first": float(fitted.times.min()), "last": float(fitted.times.max()),
            "weight": fitted.weight, "dim": fitted.dim, "degree": fitted.degree,
            "trend": fitted.trend,
        }  # fmt: skip

    def _test(self) -> dict[str, Any]:
        """Return what JSON says of the test; what is of twice the topics ends in _2r."""
        told = {name: json_value(getattr(self._verdicts[0], name)) for name in _OF_TEST}
        told["trend"] = self._trend
        for verdict, suffix in zip(self._verdicts, ("", "_2r"), strict=False):
            told |= {f"{name}{suffix}": json_value(getattr(verdict, name)) for name in _OF_RANK}
            tested = verdict.qvalues[~np.isnan(verdict.qvalues)]
            told[f"significant{suffix}"] = int(np.sum(tested <= LEVEL)) if len(tested) else None
        return told

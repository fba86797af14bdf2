"""Rank words by how much they changed, and collect the figures of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from wordgeom.core.formatting import several
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.drift.controls import matched_controls
from wordgeom.drift.diagnostics import Diagnostics
from wordgeom.drift.neighbours import nearest_words
from wordgeom.drift.options import LEVEL
from wordgeom.drift.report import (
    BY_F,
    BY_TURN,
    Change,
    DriftReport,
    ReportOptions,
    Word,
    json_value,
)
from wordgeom.drift.verdict import Verdict
from wordgeom.methods.dlsa.model import DynamicModel
from wordgeom.runtime.context import Context
from wordgeom.vectors.nearest import unit_vectors

_TOP = 20  # words listed by default, and words with a control
_FEW = 10  # documents
_OF_TEST = (
    "method", "assumption", "statistic", "words_null", "permutations", "smallest_p",
    "smallest_word_p", "left_out", "still",
)  # fmt: skip
_OF_RANK = ("rank", "global_p", "mixture_p")


@dataclass(eq=False)
class RankedWords:
    """The words of a model, ranked, with the verdicts at r and perhaps 2 r topics.

    frequencies (p): document frequencies; span: start and end time; trend: of the tests; attested:
    masks (p) of the words attested at the start and at the end; diagnostics, documents: what else
    depends on time, and the number of documents.
    """

    fitted: DynamicModel
    verdicts: Sequence[Verdict]
    frequencies: Int64
    span: tuple[float, float]
    form: ReportOptions
    context: Context
    trend: str
    attested: tuple[Array, Array]
    diagnostics: Diagnostics
    documents: int

    def __post_init__(self) -> None:
        self._displacement = self.fitted.moved(*self.span)
        self._movement = self.fitted.movement()
        keys = {
            BY_F: self.verdicts[0].F, BY_TURN: self.verdicts[0].turn,
            "displacement": self._displacement, "movement": self._movement,
        }  # fmt: skip
        key = keys[self.form.by]
        # Words without a value come last; ties stay in order of frequency.
        self._order = np.argsort(-np.where(np.isnan(key), -np.inf, key), kind="stable")
        self._ranks = np.empty(len(self._order), np.int64)
        self._ranks[self._order] = np.arange(1, len(self._order) + 1)

    def report(self, rows: Int64, notes: Sequence[str]) -> DriftReport:
        """Return the report of the words in `rows`, or of the top words if `rows` is empty."""
        if not len(rows):
            top = self.form.top if self.form.top is not None else 0 if self.form.json else _TOP
            rows = self._order[: top or None]
        notes = [*self._notes(), *self._rare(rows), *notes]
        return DriftReport(self._model(), self._test(), self.span, self._words(rows), notes)

    def _rare(self, rows: Int64) -> list[str]:
        """Return a note if some listed words occur in very few documents."""
        rare = int(np.count_nonzero(self.frequencies[rows] < _FEW))
        are = several(rare, "listed word is", "listed words are")
        why = "F may rest on a few of them (raise --min-count of build-dtm)"
        return [f"{are} in fewer than {_FEW} documents; {why}"] if rare else []

    def _notes(self) -> list[str]:
        """Return the notes of the verdicts; a note on one of two names its r."""
        each = [verdict.notes for verdict in self.verdicts]
        shared = [note for note in each[0] if all(note in notes for notes in each)]
        own = [
            f"r = {verdict.rank}: {note}"
            for verdict in self.verdicts
            for note in verdict.notes
            if note not in shared
        ]
        return [*shared, *own]

    def _words(self, rows: Int64) -> list[Word]:
        units = [unit_vectors(self.fitted.words_at(time)) for time in self.span]
        cosines = np.einsum("ij,ij->i", *units)
        near = [
            self._nearest(each * attested[:, None], rows)
            for each, attested in zip(units, self.attested, strict=True)
        ]
        # Controls are words outside the list, so a long list has only those of its first words.
        first = rows if 2 * len(rows) <= len(self.fitted.words) else rows[:_TOP]
        tested = ~np.isnan(self.verdicts[0].F)
        controls = matched_controls(first, self.frequencies, tested).tolist()
        controls += [-1] * (len(rows) - len(first))
        return [
            self._word(row, float(cosines[row]), then, now, control)
            for row, then, now, control in zip(rows.tolist(), *near, controls, strict=True)
        ]

    def _nearest(self, units: Float64, rows: Int64) -> list[list[str]]:
        context, words = self.context, self.fitted.words
        k = self.form.neighbours
        nearest = nearest_words(units, rows, k, context.pool, context.progress, "neighbours")
        return [[words[row] for row in near] for near in nearest]

    def _word(self, row: int, cosine: float, then: list[str], now: list[str], control: int) -> Word:
        f, p, q = [nan] * 3
        if len(self.verdicts) > 1:
            other = self.verdicts[1]
            f, p, q = (float(each[row]) for each in (other.F, other.pvalues, other.qvalues))
        return Word(
            int(self._ranks[row]), self._change(row), int(self.fitted.counts[row]),
            int(self.frequencies[row]), cosine, f, p, q, bool(self.attested[0][row]),
            bool(self.attested[1][row]), then, now,
            None if control < 0 else self._change(control),
        )  # fmt: skip

    def _change(self, row: int) -> Change:
        verdict = self.verdicts[0]
        tested = (verdict.turn, verdict.F, verdict.r2, verdict.pvalues, verdict.qvalues)
        figures = (self._displacement, self._movement, *tested)
        return Change(self.fitted.words[row], *(float(each[row]) for each in figures))

    def _model(self) -> dict[str, Any]:
        fitted = self.fitted
        return {
            "model": str(fitted.store.path), "words": len(fitted.words),
            "documents": self.documents, "passages": len(fitted.rows),
            "times": len(np.unique(fitted.times)),
            "first": float(fitted.times.min()), "last": float(fitted.times.max()),
            "weight": fitted.weight, "dim": fitted.dim, "degree": fitted.degree,
            "trend": fitted.trend,
        }  # fmt: skip

    def _test(self) -> dict[str, Any]:
        """Return the test's JSON values; names of those at twice the topics end in _2r."""
        facts = {name: json_value(getattr(self.verdicts[0], name)) for name in _OF_TEST}
        facts |= {"trend": self.trend, "diagnostics": str(self.diagnostics)}
        for verdict, suffix in zip(self.verdicts, ("", "_2r"), strict=False):
            facts |= {f"{name}{suffix}": json_value(getattr(verdict, name)) for name in _OF_RANK}
            tested = verdict.qvalues[~np.isnan(verdict.qvalues)]
            facts[f"significant{suffix}"] = int(np.sum(tested <= LEVEL)) if len(tested) else None
        return facts

"""Words that two periods have in common, ranked by how much they changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wordgeom.core.types import Int64
from wordgeom.drift.measures.report import MeasuredWord, MeasureReport
from wordgeom.drift.measures.results import Measured
from wordgeom.drift.neighbours import nearest_words
from wordgeom.drift.options import LEVEL
from wordgeom.drift.p_values import q_values
from wordgeom.drift.report import ReportOptions
from wordgeom.runtime.context import Context
from wordgeom.vectors.finite import nonfinite_rows
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.nearest import row_of
from wordgeom.vectors.zeros import zero_rows

_TOP = 20  # words listed by default


@dataclass(frozen=True, eq=False)
class Compared:
    """Words (w), how much they changed, and notes.

    uses (2 × w): in both periods; periods: JSON values of their documents; of documents alone.
    """

    words: list[str]
    measured: Measured
    notes: list[str]
    uses: Int64 | None = None
    periods: dict[str, Any] = field(default_factory=dict)

    def report(
        self, measure: str, named: Sequence[str], form: ReportOptions, context: Context
    ) -> MeasureReport:
        """Return the report of the named words, or of those that changed most.

        Raises InputError for an unknown word.
        """
        found, tested = self.measured, self.measured.permutations
        q = q_values(found.p, False) if tested else found.p
        order = np.argsort(-found.distances, kind="stable")  # ties stay in order of frequency
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(1, len(order) + 1)
        rows = self._rows(order, named, form)
        near = [
            nearest_words(
                units, rows, form.neighbours, context.pool, context.progress, "neighbours"
            )
            for units in (found.then, found.now)
        ]
        words = [
            self._word(row, int(ranks[row]), float(q[row]), *both)
            for row, *both in zip(rows.tolist(), *near, strict=True)
        ]
        test = {
            "measure": measure, "method": found.method, "assumption": found.assumption,
            "permutations": tested, "smallest_p": 1.0 / (1 + tested) if tested else None,
            "significant": int(np.count_nonzero(q <= LEVEL)) if tested else None,
            "words": len(self.words), **self.periods,
        }  # fmt: skip
        return MeasureReport(test, words, self.notes)

    def _rows(self, order: Int64, named: Sequence[str], form: ReportOptions) -> Int64:
        if named:
            known = Vectors(self.words, np.zeros((len(self.words), 1), np.float32))
            return np.array([row_of(known, word) for word in dict.fromkeys(named)], np.int64)
        top = form.top if form.top is not None else 0 if form.json else _TOP
        return order[: top or None]

    def _word(self, row: int, rank: int, q: float, then: list[int], now: list[int]) -> MeasuredWord:
        counts = (None, None) if self.uses is None else self.uses[:, row].tolist()
        near = [[self.words[other] for other in rows] for rows in (then, now)]
        distance, p = float(self.measured.distances[row]), float(self.measured.p[row])
        return MeasuredWord(rank, self.words[row], distance, p, q, *counts, *near)


def common_rows(then: Vectors, now: Vectors) -> Int64:
    """Return the rows (w × 2) of the words with a direction in both, the most frequent first.

    Files are usually in order of frequency, so the order is that of the later of a word's two rows.
    """
    without = [
        {*zero_rows(vectors.matrix).tolist(), *nonfinite_rows(vectors.matrix).tolist()}
        for vectors in (then, now)
    ]
    pairs = [
        (then.index[word], row)
        for row, word in enumerate(now.words)
        if word in then.index and row not in without[1] and then.index[word] not in without[0]
    ]
    return np.array(sorted(pairs, key=lambda pair: (max(pair), pair)), np.int64).reshape(-1, 2)

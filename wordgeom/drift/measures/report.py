"""The report of a measure of change, as an aligned table or as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wordgeom.core.formatting import aligned, first_few, plural
from wordgeom.core.frames import data_frame, html_table
from wordgeom.drift.options import LEVEL
from wordgeom.drift.report import json_value

if TYPE_CHECKING:
    from pandas import DataFrame

_HEAD = ("", "word", "distance", "p", "q", "then", "now", "neighbours then", "neighbours now")
_NUMBERS = {"distance": ".3f", "p": ".2g", "q": ".2g", "count_then": ",", "count_now": ","}


@dataclass(frozen=True)
class MeasuredWord:
    """A word of the report: rank from 1; p, q: NaN without a test; counts: None if unknown."""

    rank: int
    word: str
    distance: float
    p: float
    q: float
    count_then: int | None
    count_now: int | None
    neighbours_then: Sequence[str]
    neighbours_now: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the word as JSON values."""
        return {name: json_value(value) for name, value in vars(self).items()}


@dataclass(frozen=True)
class MeasureReport:
    """Ranked words, the test and notes.

    test: measure, method, assumption, permutations, smallest_p, significant, words and, of
    documents, the periods.
    """

    test: Mapping[str, Any]
    words: Sequence[MeasuredWord]
    notes: Sequence[str]

    def __repr__(self) -> str:
        words = first_few([f"{word.word} ({word.distance:.2f})" for word in self.words])
        measure = self.test["measure"]
        return f"<MeasureReport of {plural(len(self.words), 'word')} by {measure}: {words}>"

    def __str__(self) -> str:
        return "\n".join([*aligned(self._rows(), words=2, last=2), "", *self._footer()])

    def _repr_html_(self) -> str:
        return html_table(self._rows(), 2)

    def to_frame(self) -> DataFrame:
        """Return the words as a DataFrame of pandas. Raises UnavailableError."""
        return data_frame([word.to_dict() for word in self.words])

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values: None for what is unknown."""
        words = [word.to_dict() for word in self.words]
        return {"words": words, "test": dict(self.test), "notes": list(self.notes)}

    def to_json(self) -> str:
        """Return the report as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)

    def _rows(self) -> list[list[str]]:
        """Return the cells of the table, without columns that are unknown for all words."""
        rows = [list(_HEAD), *map(_cells, self.words)]
        test = self.test
        unknown = {*([] if test["permutations"] else [3, 4]), *([] if "split" in test else [5, 6])}
        return [[cell for k, cell in enumerate(row) if k not in unknown] for row in rows]

    def _footer(self) -> list[str]:
        test, lines = self.test, []
        if "split" in test:
            then, now = test["then"], test["now"]
            lines.append(f"then: {_period(then)}; now: {_period(now)}; split at {test['split']:g}")
        lines.append(f"{plural(test['words'], 'word')}; measure: {test['method']}")
        if test["permutations"]:
            lines.append(f"assumes: {test['assumption']}")
            lines.append(
                f"{test['permutations']:,} permutations; smallest possible p: "
                f"{test['smallest_p']:.2g}; {test['significant']:,} words with q ≤ {LEVEL:g}"
            )
        else:
            lines.append("no test: this measure has no p")
        return [*lines, *self.notes]


def _period(period: Mapping[str, Any]) -> str:
    sizes = plural(period["documents"], "document"), plural(period["tokens"], "token")
    return f"{period['first']:g} to {period['last']:g}, {', '.join(sizes)}"


def _cells(word: MeasuredWord) -> list[str]:
    given = word.to_dict()
    figures = ["–" if given[k] is None else f"{given[k]:{form}}" for k, form in _NUMBERS.items()]
    near = [" ".join(words) or "–" for words in (word.neighbours_then, word.neighbours_now)]
    return [f"{word.rank:,}", word.word, *figures, *near]

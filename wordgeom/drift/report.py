"""Render a drift report as an aligned table or as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from wordgeom.core.formatting import aligned, first_few, plural
from wordgeom.core.frames import data_frame, html_table
from wordgeom.core.options import Options, option
from wordgeom.drift.options import LEVEL

if TYPE_CHECKING:
    from pandas import DataFrame

_NONE = "–"
BY_F, BY_TURN = "f", "turn"
_SMALLEST = 1e-300  # smaller p values are printed as a bound
FACTORS = "T"  # the statistic of the factor test


@dataclass(frozen=True)
class ReportOptions(Options):
    """How a drift report is printed."""

    top: int | None = option(
        None, "number of words to list (0: all)  [20; all with --json]", low=0, metavar="N",
    )  # fmt: skip
    by: str = option(
        BY_F, "sort words by F, turn (degrees), displacement (start to end) or movement",
        choices=(BY_F, BY_TURN, "displacement", "movement"),
    )  # fmt: skip
    then: str | None = option(None, "start time  [the first]", metavar="TIME")
    now: str | None = option(None, "end time  [the last]", metavar="TIME")
    neighbours: int = option(
        3, "number of nearest neighbours to list at each time", low=0, high=1000, metavar="N",
    )  # fmt: skip
    json: bool = option(False, "print JSON")


@dataclass(frozen=True)
class Change:
    """How much one word changed; NaN if it was left out, p and q also without a word test.

    turn: degrees between its direction in topics and its mean direction, root mean square over
    time, without noise; NaN for tests other than by sign flips.
    """

    word: str
    displacement: float
    movement: float
    turn: float
    f: float
    r2: float
    p: float
    q: float


@dataclass(frozen=True)
class Word:
    """A word of the report.

    rank: from 1; documents: document frequency; cosine: of the vectors at start and end; f_2r,
    p_2r, q_2r: with twice the topics; attested: in documents near that time, else the vector is an
    extrapolation and neighbours are not listed; control: a word of similar document frequency.
    """

    rank: int
    change: Change
    count: int
    documents: int
    cosine: float
    f_2r: float
    p_2r: float
    q_2r: float
    attested_then: bool
    attested_now: bool
    neighbours_then: Sequence[str]
    neighbours_now: Sequence[str]
    control: Change | None

    def to_dict(self) -> dict[str, Any]:
        """Return the word as JSON values."""
        own = {name: json_value(value) for name, value in vars(self).items() if name != "change"}
        control = None if self.control is None else _facts(self.control)
        return {**_facts(self.change), **own, "control": control}


@dataclass(frozen=True)
class DriftReport:
    """Ranked words, the test, the model and notes.

    test: method, assumption, permutations, smallest_p and so on; times: start and end.
    """

    model: Mapping[str, Any]
    test: Mapping[str, Any]
    times: tuple[float, float]
    words: Sequence[Word]
    notes: Sequence[str]

    def __repr__(self) -> str:
        words = [f"{w.change.word} (F {_figure(w.change.f, '.2f')})" for w in self.words]
        span = "{:g} to {:g}".format(*self.times)
        return f"<DriftReport of {plural(len(words), 'word')}, {span}: {first_few(words)}>"

    def __str__(self) -> str:
        return render(self, ReportOptions())

    def _repr_html_(self) -> str:
        twice = self.test.get("rank_2r")
        rows = [_head(self, twice), *(_row(word, twice is not None) for word in self.words)]
        return html_table(rows, 2)

    def to_frame(self) -> DataFrame:
        """Return the words as a DataFrame of pandas, without controls. Raises UnavailableError."""
        rows = [{k: v for k, v in word.to_dict().items() if k != "control"} for word in self.words]
        return data_frame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values: None for undefined figures."""
        return {
            "words": [word.to_dict() for word in self.words],
            "test": dict(self.test),
            "model": dict(self.model),
            "then": self.times[0],
            "now": self.times[1],
            "notes": list(self.notes),
        }


def render(report: DriftReport, options: ReportOptions) -> str:
    """Return a report as text, without a final newline."""
    if options.json:
        return json.dumps(report.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
    twice = report.test.get("rank_2r")
    rows = [_head(report, twice), *(_row(word, twice is not None) for word in report.words)]
    return "\n".join([*aligned(rows, words=2, last=2), "", *footer(report)])


def _head(report: DriftReport, twice: int | None) -> list[str]:
    then, now = (f"{time:g}" for time in report.times)
    at_twice = [] if twice is None else [f"F at r = {twice}"]
    figures = ["documents", "F", *at_twice, "turn °", "displacement", "cosine", "p", "q"]
    figures += ["control: F"]
    return ["", "word", *figures, f"neighbours {then}", f"neighbours {now}"]


def _row(word: Word, twice: bool) -> list[str]:
    change, control = word.change, word.control
    figures = [f"{word.documents:,}", _figure(change.f, ".2f")]
    figures += [_figure(word.f_2r, ".2f")] if twice else []
    figures += [_figure(change.turn, ".0f"), _figure(change.displacement, ".2f")]
    figures += [_figure(word.cosine, ".2f")]
    figures += [_p_value(change.p), _p_value(change.q)]
    figures += [_NONE if control is None else f"{control.word}: {_figure(control.f, '.2f')}"]
    near = [" ".join(words) or _NONE for words in (word.neighbours_then, word.neighbours_now)]
    return [f"{word.rank:,}", change.word, *figures, *near]


def footer(report: DriftReport) -> list[str]:
    """Return the lines below the table: model, test, controls and notes."""
    lines = [_model_line(report.model), *_test_lines(report.test, report.model["dim"])]
    listed = [word for word in report.words if word.control is not None]
    if listed:
        lines.append(_control_line(listed))
    return [*lines, *report.notes]


def _model_line(model: Mapping[str, Any]) -> str:
    size = f"{model['words']:,} words in {model['documents']:,} documents"
    if model["passages"] > model["documents"]:
        size += f" ({model['passages']:,} passages)"
    span = f"{model['times']:,} times, {model['first']:g} to {model['last']:g}"
    how = f"weight {model['weight']}, r = {model['dim']}, degree {model['degree']}"
    how += f", trend {model['trend']}"
    return f"{size} at {span}; {how}"


def _test_lines(test: Mapping[str, Any], dim: int) -> list[str]:
    """Return the lines on the test; dim: number of topics of the model, which it may not use."""
    lines = [f"test: {test['method']}, trend {test['trend']}", f"assumes: {test['assumption']}"]
    if test["permutations"]:
        least = (
            f"{test['smallest_word_p']:.2g} for one word, {test['smallest_p']:.2g} for all words"
        )
        least += " together"
        lines.append(f"null distribution of a word: {test['words_null']}")
        kind = "sign flips" if test["method"].startswith("sign") else "permutations"
        lines.append(f"{test['permutations']:,} {kind}; smallest possible p: {least}")
    lines.append(f"over time: {test['diagnostics']}")
    tested = "lack of fit" if test["statistic"] == FACTORS else "change of any word"
    ranks = [(test["rank"], "")] + ([(test["rank_2r"], "_2r")] if "rank_2r" in test else [])
    for rank, suffix in ranks:
        parts = []
        if (p := test.get(f"global_p{suffix}")) is not None:
            parts.append(f"{tested}, p = {p:.2g}")
        if (number := test.get(f"significant{suffix}")) is not None:
            parts.append(f"{number:,} words with q ≤ {LEVEL:g}")
        if (p := test.get(f"mixture_p{suffix}")) is not None:
            parts.append(f"drift of the topic mixture, p = {p:.2g}")
        of = f"r = {rank}" if test["rank"] == dim else f"tested with r = {rank} (model: {dim})"
        lines.append(f"{of}: {'; '.join(parts)}")
    return lines


def _control_line(listed: Sequence[Word]) -> str:
    """Return the medians of the listed words and of their controls."""
    own = [word.change for word in listed]
    others = [word.control for word in listed if word.control is not None]
    parts = []
    for name, form in (("f", "F"), ("displacement", "displacement")):
        values = [_median(getattr(one, name) for one in group) for group in (own, others)]
        parts.append(f"{form} {_figure(values[0], '.2f')} and {_figure(values[1], '.2f')}")
    return f"medians of listed and of control words: {', '.join(parts)}"


def _median(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return median(known) if known else math.nan


def _figure(value: float, form: str) -> str:
    return _NONE if math.isnan(value) else f"{value:{form}}"


def _p_value(p: float) -> str:
    return f"<{_SMALLEST:g}" if p < _SMALLEST else _figure(p, ".2g")


def _facts(change: Change) -> dict[str, Any]:
    return {name: json_value(value) for name, value in vars(change).items()}


def json_value(value: Any) -> Any:
    """Return a figure as a JSON value: None for NaN."""
    return None if isinstance(value, float) and math.isnan(value) else value

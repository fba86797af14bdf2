"""Render evaluation scores as an aligned table, as Markdown or as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wordgeom.core.errors import OptionError
from wordgeom.core.formatting import aligned, first_few, markdown_table
from wordgeom.core.frames import data_frame, html_table
from wordgeom.core.options import Options, option
from wordgeom.evaluation.answers import Score
from wordgeom.evaluation.options import FOLD, SKIP, ZERO

if TYPE_CHECKING:
    from pandas import DataFrame

_HEADER = ("set", "measure", "score", "95 % interval", "used")
_TEXT_COLUMNS = 2  # left-aligned columns
_NONE = "–"
_LIMITED = {"similarity": "pairs", "analogies": "analogies"}  # by --oov and --restrict-vocab
_OOV = {
    SKIP: "items with out-of-vocabulary words left out",
    ZERO: "items with out-of-vocabulary words score 0",
}


@dataclass(frozen=True)
class ReportOptions(Options):
    """How a report is printed."""

    sections: bool = option(False, "also print the scores of each analogy section")
    json: bool = option(False, "print JSON, including sections")
    markdown: bool = option(False, "print Markdown")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.json and self.markdown:
            raise OptionError("--json and --markdown are mutually exclusive", do="pass one of them")


@dataclass(frozen=True)
class Report:
    """Scores of vectors, with everything that they depend on.

    policy: the options that affect scores, by name; sections: scores of a set's sections; excluded:
    number of items left out of a set, by reason; refused: error message of a set that was skipped.
    """

    vectors: str
    words: int
    dimension: int
    policy: Mapping[str, Any]
    scores: Sequence[Score]
    sections: Mapping[str, Mapping[str, Sequence[Score]]]
    excluded: Mapping[str, Mapping[str, int]]
    refused: Mapping[str, str]
    notes: Sequence[str]

    def __repr__(self) -> str:
        scores = [f"{s.name} {s.measure} {_row('', s, '')[2]}" for s in self.scores]
        return f"<Report on {self.vectors}: {first_few(scores)}>"

    def __str__(self) -> str:
        return render(self, ReportOptions())

    def _repr_html_(self) -> str:
        return html_table([_HEADER, *_rows(self, sections=False)], _TEXT_COLUMNS)

    def to_frame(self) -> DataFrame:
        """Return the scores as a DataFrame of pandas. Raises UnavailableError."""
        return data_frame([score_facts(score) for score in self.scores])

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values: None for an undefined score or interval."""
        sections = {
            name: {part: [score_facts(score) for score in own] for part, own in parts.items()}
            for name, parts in self.sections.items()
        }
        scores = [score_facts(score) for score in self.scores]
        return vars(self) | {"scores": scores, "sections": sections}


def render(report: Report, options: ReportOptions) -> str:
    """Return a report as text in the requested form, without a final newline."""
    if options.json:
        return json.dumps(report.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
    rows = [_HEADER, *_rows(report, options.sections)]
    if options.markdown:
        table, below = (
            markdown_table(rows, _TEXT_COLUMNS),
            [f"- {line}" for line in _footer(report)],
        )
    else:
        table, below = aligned(rows, _TEXT_COLUMNS), _footer(report)
    return "\n".join([*table, "", *below])


def _footer(report: Report) -> list[str]:
    """Return the lines below the table: size, exclusions, notes and the policy."""
    size = f"{report.vectors}: {report.words:,} words × {report.dimension:,}"
    excluded = [
        f"{name}: {excluded_line(reason, number)}"
        for name, reasons in report.excluded.items()
        for reason, number in reasons.items()
    ]
    skipped = [f"{name}: skipped: {line}" for name, line in report.refused.items()]
    policy = policy_line(report.policy, {score.task for score in report.scores})
    return [size, *excluded, *skipped, *report.notes, policy]


def _rows(report: Report, sections: bool) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name in dict.fromkeys(score.name for score in report.scores):
        own = [score for score in report.scores if score.name == name]
        rows += [_row(name, score, f"{score.used:,} of {score.total:,}") for score in own]
        parts = report.sections.get(name, {}) if sections else {}
        for part, scores in parts.items():
            rows += [_row(f"  {part}", score, f"{score.used:,}") for score in scores]
    return rows


def _row(name: str, score: Score, used: str) -> tuple[str, ...]:
    interval = _NONE if math.isnan(score.low) else f"{score.low:.4f} … {score.high:.4f}"
    value = _NONE if math.isnan(score.value) else f"{score.value:.4f}"
    return name, score.measure, value, interval, used


def excluded_line(reason: str, number: int) -> str:
    """Return how many items of a set were left out, and why."""
    return f"left out: {number:,} ({reason})"


def policy_line(policy: Mapping[str, Any], tasks: Collection[str]) -> str:
    """Return a line with the options that affect scores of these tasks."""
    limited = " and ".join(_LIMITED[task] for task in _LIMITED if task in tasks)
    parts = ["case-insensitive" if policy["case"] == FOLD else "case-sensitive"]
    if set(tasks) == {"neighbourhoods"}:  # which compares words as they are spelt
        parts = []
    if limited:
        limit = policy["restrict_vocab"]
        parts = [_OOV[policy["oov"]], *parts]
        parts.append(f"{limited} use {f'the first {limit:,} words' if limit else 'all words'}")
    if "analogies" in tasks:
        parts.append(f"3CosMul ε = {policy['epsilon']:g}")
    of = " (analogies: of word pairs)" if "analogies" in tasks else ""
    parts.append(f"{policy['resamples']:,} resamples{of}, seed {policy['seed']}")
    return f"policy: {'; '.join(parts)}"


def score_facts(score: Score) -> dict[str, Any]:
    """Return a score as JSON values: None where undefined."""
    facts: dict[str, Any] = {"task": score.task, "set": score.name, "measure": score.measure}
    for key, value in (("score", score.value), ("low", score.low), ("high", score.high)):
        facts[key] = None if math.isnan(value) else value
    return facts | {"used": score.used, "total": score.total}

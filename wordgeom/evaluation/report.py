"""What an evaluation found, as an aligned table, as Markdown and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, option
from wordgeom.core.tables import aligned, markdown_table
from wordgeom.evaluation.answers import Score
from wordgeom.evaluation.options import FOLD, SKIP, ZERO

_HEAD = ("set", "measure", "score", "95 % interval", "used")
_WORDS = 2  # columns at the left that hold words, not figures
_NONE = "–"
_LIMITED = {"similarity": "pairs", "analogies": "analogies"}  # tasks of --oov and --restrict-vocab
_OOV = {
    SKIP: "items with a word that has no vector left out",
    ZERO: "items with a word that has no vector count as cosine 0, or as wrong",
}


@dataclass(frozen=True)
class ReportOptions(Options):
    """How a report is printed."""

    sections: bool = option(False, "also print the scores of each section of analogies")
    json: bool = option(False, "print JSON, sections included")
    markdown: bool = option(False, "print Markdown")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.json and self.markdown:
            raise OptionError("--json and --markdown are two forms of one report", do="pass one")


@dataclass(frozen=True)
class Report:
    """Scores of vectors, and what they rest on.

    policy: the options that decide a score, by name; sections: of a set, by their names; excluded:
    how many items of a set were left out, by reason; refused: why a whole set was left out.
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

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it: None for a score or interval that there is not."""
        facts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        sections = {
            name: {part: [score_facts(score) for score in found] for part, found in parts.items()}
            for name, parts in self.sections.items()
        }
        return facts | {
            "scores": [score_facts(score) for score in self.scores],
            "sections": sections,
        }


def render(report: Report, options: ReportOptions) -> str:
    """Return a report as text, in the form that the options ask for, without a last line end."""
    if options.json:
        return json.dumps(report.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
    rows = _rows(report, options.sections)
    if options.markdown:
        return "\n".join(
            [
                *markdown_table([_HEAD, *rows], _WORDS),
                "",
                *(f"- {line}" for line in remarks(report)),
            ]
        )
    return "\n".join([*aligned([_HEAD, *rows], _WORDS), "", *remarks(report)])


def remarks(report: Report) -> list[str]:
    """Return a line for each thing to know of a report: exclusions, notes, the policy."""
    size = f"{report.vectors}: {report.words:,} words × {report.dimension:,}"
    excluded = [
        f"{name}: left out, {reason}: {number:,}"
        for name, reasons in report.excluded.items()
        for reason, number in reasons.items()
    ]
    refused = [f"{name}: left out: {line}" for name, line in report.refused.items()]
    return [
        size,
        *excluded,
        *refused,
        *report.notes,
        policy_line(report.policy, {score.task for score in report.scores}),
    ]


def _rows(report: Report, sections: bool) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name in dict.fromkeys(score.name for score in report.scores):
        own = [score for score in report.scores if score.name == name]
        rows += [_row(name, score, f"{score.used:,} of {score.total:,}") for score in own]
        parts = report.sections.get(name, {}) if sections else {}
        for part, found in parts.items():
            rows += [_row(f"  {part}", score, f"{score.used:,}") for score in found]
    return rows


def _row(name: str, score: Score, used: str) -> tuple[str, ...]:
    interval = _NONE if math.isnan(score.low) else f"{score.low:.4f} … {score.high:.4f}"
    value = _NONE if math.isnan(score.value) else f"{score.value:.4f}"
    return name, score.measure, value, interval, used


def policy_line(policy: Mapping[str, Any], tasks: Collection[str]) -> str:
    """Return the options that decide a score of these tasks, in words."""
    asked = " and ".join(_LIMITED[task] for task in _LIMITED if task in tasks)
    parts = ["case folded" if policy["case"] == FOLD else "case kept"]
    if asked:
        limit = policy["restrict_vocab"]
        parts = [_OOV[policy["oov"]], *parts]
        parts.append(f"{asked} see {f'the first {limit:,} words' if limit else 'all words'}")
    if "analogies" in tasks:
        parts.append(f"3CosMul's ε {policy['epsilon']:g}")
    parts.append(f"{policy['resamples']:,} resamples, seed {policy['seed']}")
    return f"policy: {'; '.join(parts)}"


def score_facts(score: Score) -> dict[str, Any]:
    """Return a score as JSON has it: None for what is not defined."""
    facts: dict[str, Any] = {"task": score.task, "set": score.name, "measure": score.measure}
    for key, value in (("score", score.value), ("low", score.low), ("high", score.high)):
        facts[key] = None if math.isnan(value) else value
    return facts | {"used": score.used, "total": score.total}

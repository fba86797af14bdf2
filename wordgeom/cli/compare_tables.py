"""A comparison as tables on the terminal or in Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wordgeom.comparison.result import Comparison, Evaluation
from wordgeom.core.formatting import aligned, markdown_table, readable_size
from wordgeom.evaluation.answers import Score

_NONE = "–"
_MARK = "*"
_COLUMNS = ("name", "K", "seconds", "memory")
_LEGEND = f"{_MARK}: the 95 % interval of the difference excludes 0"
_TIMES = "seconds (wall clock) and peak memory are those of the process that made the vectors"
Rows = list[list[str]]


def plain(comparison: Comparison) -> str:
    """Return the tables with aligned columns, and the remarks below them."""
    parts = ["\n".join(aligned(_scores(comparison)))]
    if differences := _differences(comparison):
        parts.append("\n".join([*aligned(differences), *_legend(differences)]))
    return "\n\n".join([*parts, "\n".join(_remarks(comparison))])


def markdown(comparison: Comparison) -> str:
    """Return the tables as Markdown, and the remarks as a list."""
    parts = ["\n".join(markdown_table(_scores(comparison)))]
    if differences := _differences(comparison):
        parts.append("\n".join(markdown_table(differences)))
        parts += [line.replace(_MARK, f"\\{_MARK}") for line in _legend(differences)]
    return "\n\n".join([*parts, "\n".join(f"- {line}" for line in _remarks(comparison))])


def _scores(comparison: Comparison) -> Rows:
    head = [*_COLUMNS, *(f"{name} {comparison.measure(name)}" for name in comparison.sets)]
    return [head, *(_row(one, comparison.sets) for one in comparison.evaluations)]


def _row(one: Evaluation, sets: Sequence[str]) -> list[str]:
    who = one.candidate
    if who.error:
        return [who.name, *[_NONE] * (len(_COLUMNS) - 1 + len(sets))]
    seconds = _NONE if who.seconds is None else f"{who.seconds:,.1f}"
    cells = (_cell(one.scores[name][0], "") if name in one.scores else _NONE for name in sets)
    return [who.name, f"{one.dimension:,}", seconds, _memory(who.peak_bytes), *cells]


def _differences(comparison: Comparison) -> Rows:
    """Return the table of differences, empty where there is nobody to differ."""
    others = [one for one in comparison.evaluations if one.differences]
    if not others:
        return []
    head = [f"minus {comparison.against}", *comparison.sets]
    return [head, *([one.candidate.name, *_less(one, comparison.sets)] for one in others)]


def _legend(differences: Rows) -> list[str]:
    marked = any(cell.endswith(_MARK) for row in differences for cell in row)
    return [_LEGEND] if marked else []


def _less(one: Evaluation, sets: Sequence[str]) -> list[str]:
    found = [one.differences[name][0] if name in one.differences else None for name in sets]
    return [_NONE if score is None else _cell(score, "+") + _mark(score) for score in found]


def _cell(score: Score, sign: str) -> str:
    if math.isnan(score.value):
        return _NONE
    value, low, high = (_number(each, sign, score) for each in (score.value, score.low, score.high))
    return value if math.isnan(score.low) else f"{value} [{low}, {high}]"


def _number(value: float, sign: str, score: Score) -> str:
    """Return a number; one that rounds to 0 has no minus, or a digit more if 0 is excluded."""
    text = f"{value:{sign}.3f}"
    if value and not float(text) and _excludes_0(score):
        return f"{value:{sign}.1g}"
    return text.lstrip("-") if not float(text) else text


def _excludes_0(score: Score) -> bool:
    return score.low > 0 or score.high < 0


def _mark(score: Score) -> str:
    """Return the mark of a difference that is not by chance, or as wide a blank."""
    return f" {_MARK}" if _excludes_0(score) else " " * (1 + len(_MARK))


def _memory(size: int | None) -> str:
    if size is None:
        return _NONE
    return readable_size(size)


def _remarks(comparison: Comparison) -> list[str]:
    trained = any(one.candidate.kind != "file" for one in comparison.evaluations)
    evaluated = f"evaluated on {comparison.common:,} words"
    return [evaluated, *([_TIMES] if trained else []), *comparison.all_notes()]

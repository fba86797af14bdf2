"""Scores of vectors before and after a transform, without the pairs that it was fitted to."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import aligned, several
from wordgeom.evaluation.answers import Answers, Task, difference
from wordgeom.evaluation.exclusions import add_counts
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.similarity import Similarity
from wordgeom.evaluation.tagged_words import match_tags
from wordgeom.evaluation.word_lookup import Lookup
from wordgeom.transforms.fit.pairs import is_used
from wordgeom.vectors.keyed import Vectors

_HEADER = ("set", "measure", "before", "after", "change", "95 % interval", "used")
_USED = "pairs used by --fit or --power"


def unused_tasks(
    tasks: Sequence[Task], vectors: Vectors, used: Collection[tuple[int, int]]
) -> tuple[list[Task], list[str]]:
    """Return the sets without pairs of `used` rows, in either order, and notes on these.

    Raises InputError where no pair is left in any set.
    """
    if not used:
        return list(tasks), []
    kept: list[Task] = []
    notes = []
    for task in tasks:
        if not isinstance(task, Similarity):
            kept.append(task)
            continue
        lookup = Lookup(vectors, task.options)
        mask = is_used(match_tags(task.pairs, lookup)[0], lookup, used)
        number = int(mask.sum())
        rest = tuple(pair for pair, drop in zip(task.pairs, mask, strict=True) if not drop)
        if number:
            of = several(len(task.pairs), "pair", "pairs")
            notes.append(f"{task.name}: {number:,} of {of} left out: used by --fit or --power")
        if rest:
            left_out = add_counts(task.left_out, {_USED: number})
            kept.append(replace(task, pairs=rest, left_out=left_out))
    if tasks and not kept:
        what = "every pair of the --report sets was used by --fit or --power"
        raise InputError(what, do="name sets that were not used")
    return kept, notes


def changes(
    before: Sequence[Answers], after: Sequence[Answers], seed: int
) -> Iterator[dict[str, Any]]:
    """Yield both scores of each set and measure, over the same items, and their difference."""
    earlier = {each.name: each for each in before}
    for second in after:
        if (first := earlier.get(second.name)) is None:
            continue
        common = np.intersect1d(first.items, second.items)
        for measure in second.measures:
            change = difference(first, second, measure, EvalOptions().resamples, seed)
            numbers = {
                "before": first.score(measure, first.at(common)),
                "after": second.score(measure, second.at(common)),
                "change": change.value, "low": change.low, "high": change.high,
            }  # fmt: skip
            yield {
                "set": second.name, "measure": measure.name, "used": change.used,
                "total": change.total,
                **{name: None if np.isnan(n) else n for name, n in numbers.items()},
            }  # fmt: skip


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the lines of a table of changes, none without changes."""
    if not rows:
        return []
    cells = [
        (
            row["set"], row["measure"], _number(row["before"]), _number(row["after"]),
            _number(row["change"], "+"), _interval(row), f"{row['used']:,} of {row['total']:,}",
        )
        for row in rows
    ]  # fmt: skip
    return aligned([_HEADER, *cells], 2)


def _interval(row: Mapping[str, Any]) -> str:
    return "–" if row["low"] is None else f"{row['low']:+.4f} … {row['high']:+.4f}"


def _number(value: float | None, sign: str = "") -> str:
    return "–" if value is None else f"{value:{sign}.4f}"

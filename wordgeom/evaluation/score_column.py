"""Find the column of the mean score in a table of word pairs.

Sets list the ratings of each annotator, standard deviations or norms beside the mean. Taking one of
these for the score would give a plausible wrong correlation, so the column must be named, be the
only one with numbers, or be the mean of the others.
"""

from __future__ import annotations

import re

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural
from wordgeom.core.types import Array, Float64
from wordgeom.evaluation.tables import MEANS, SCORES, Table, parsed

_MEAN = frozenset(MEANS)
_WORD = re.compile(r"[^\W_]+")
_SHARE = 0.5  # of the smallest distance of an annotator from the mean of the other annotators


def find_score(table: Table, words: tuple[int, int]) -> tuple[int, str]:
    """Return the column of the score, and a note if it was chosen among several, else "".

    Raises InputError if several columns have numbers and none is the mean, by name or by value.
    """
    start = max(words) + 1
    candidates = tuple(c for c in table.numeric if c >= start)
    named = table.find(SCORES)
    named = _named_mean(table) if named is None else named
    if named is not None:
        ignored = sum(column != named for column in candidates)
        why = f"{plural(ignored, 'other column')} of numbers ignored"
        return named, _note(table, named, why) if ignored else ""
    if len(candidates) < 2:
        return (candidates or (start,))[0], ""
    score, *others = candidates
    if not _is_mean(_numbers(table, candidates)):
        found = ", ".join(table.called(column) for column in candidates[:6])
        found += ", …" if len(candidates) > 6 else ""
        do = "add a header such as word1, word2, mean, …; write numbers with a decimal point"
        if table.titles:
            do = "name the column of the mean score: mean or score"
        what = f"several columns of numbers ({found}), none of which is known to be the mean"
        raise InputError(what, where=table.path, do=do)
    return score, _note(table, score, f"the mean of the {len(others)} columns of numbers after it")


def _note(table: Table, column: int, why: str) -> str:
    return f"scores are those of {table.called(column)}; {why}"


def _named_mean(table: Table) -> int | None:
    """Return the only column whose title has the word mean or average, None if there is none."""
    matching = [
        column
        for column, title in enumerate(table.titles)
        if _MEAN & set(_WORD.findall(title.lower()))
    ]
    return matching[0] if len(matching) == 1 else None


def _numbers(table: Table, columns: tuple[int, ...]) -> Float64:
    """Return the numbers (n × C), without the rows that lack one."""
    rows = [[parsed(f) for c, f in enumerate(row.fields) if c in columns] for row in table.rows]
    complete = [row for row in rows if len(row) == len(columns) and None not in row]
    return np.array(complete, np.float64).reshape(-1, len(columns))


def _is_mean(numbers: Array) -> bool:
    """Return whether the first column is the mean of the others, perhaps without outliers.

    The mean is at most half as far from the mean of all annotators as any annotator is from the
    mean of the others.
    """
    score, ratings = numbers[:, 0], numbers[:, 1:]
    count = ratings.shape[1]
    if count < 2 or not len(numbers) or not np.isfinite(numbers).all():
        return False
    totals = ratings.sum(axis=1)
    rest = (totals[:, None] - ratings) / (count - 1)
    nearest = np.abs(ratings - rest).mean(axis=0).min()
    return bool(np.abs(score - totals / count).mean() <= _SHARE * nearest)

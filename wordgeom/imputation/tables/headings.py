"""Detect whether the first line of a delimited table is a header.

A header is certain if its first cell is empty or "name" (names, entity, id, index), or if another
cell is text. A header of numbers, such as the column labels 0, 1, 2 or the years 1990, 1991, is
recognised by its form, unless a row below has the same form. Forms that entities often have need
a usual head, such as "word" or "year", in the first cell.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from wordgeom.imputation.tables.cells import is_truth, number_of

PEEKED = 20  # rows below the first line that are compared with it
_NAME_HEADS = ("name", "names", "entity", "id", "index")
# Heads of a column of names that may be names themselves: they need numbers like a header's.
_USUAL_HEADS = frozenset((
    "word", "words", "term", "terms", "token", "tokens", "lemma", "key", "label", "item",
    "title", "node", "entities", "year", "years", "date", "dates", "day", "month", "time",
    "period", "ticker", "tickers", "symbol", "code", "firm", "firms", "company", "companies",
    "drug", "drugs", "compound", "gene", "genes", "gene_id", "protein", "proteins", "sample",
    "country", "region", "city", "product", "user", "subject", "species", "patient", "variable",
    "feature", "rownames", "row.names"
))  # fmt: skip
_INTEGER = re.compile(r"\s*[+-]?\d+\s*")
_YEAR = re.compile(r"\s*[12]\d{3}(\.0)?\s*")  # pandas: 1990.0 where a label is missing
_DATE = re.compile(r"\s*[12]\d{3}(0[1-9]|1[0-2])([0-2]\d|3[01])\s*")
_LABELS, _SEQUENCE = 3, 5  # numbers that make 0, 1, 2, … or another sequence a header
_MANY = 20  # different whole numbers, more than an entity has where no row below has them


class Heading(Enum):
    """What the first line is; UNSURE: read as an entity, with a note."""

    HEADER = 1
    ENTITY = 2
    UNSURE = 3


@dataclass(frozen=True)
class _Row:
    """The cells of a row but the first, and their numbers (empty unless all are finite)."""

    cells: Sequence[str]
    numbers: Sequence[float]

    @classmethod
    def of(cls, cells: Sequence[str]) -> _Row:
        numbers = [number_of(cell) for cell in cells]
        known = [number for number in numbers if number is not None and math.isfinite(number)]
        return cls(cells, known if len(known) == len(cells) else [])

    @property
    def distinct(self) -> bool:
        """Whether all numbers differ."""
        return len(set(self.numbers)) == len(self.numbers)

    @property
    def ascends(self) -> bool:
        """Whether there are numbers, each greater than the one before."""
        ascending = all(a < b for a, b in zip(self.numbers, self.numbers[1:], strict=False))
        return bool(self.numbers) and ascending

    @property
    def ordered(self) -> bool:
        """Whether the numbers ascend, or descend."""
        backwards = _Row(self.cells, list(reversed(self.numbers)))
        return self.ascends or backwards.ascends

    @property
    def steps(self) -> bool:
        """Whether the numbers ascend or descend in equal steps."""
        if not self.ordered:
            return False
        step = (self.numbers[-1] - self.numbers[0]) / max(1, len(self.numbers) - 1)
        apart = (b - a for a, b in zip(self.numbers, self.numbers[1:], strict=False))
        return all(abs(each - step) <= 1e-6 * abs(step) for each in apart)

    def matches(self, pattern: re.Pattern[str]) -> bool:
        """Return whether every cell matches."""
        return all(map(pattern.fullmatch, self.cells))


def heading_of(first: Sequence[str], below: Sequence[Sequence[str]]) -> Heading:
    """Classify the cells of the first line, given up to PEEKED rows below it."""
    head, own = first[0].strip().lower(), _Row.of(first[1:])
    if not head or head in _NAME_HEADS or _has_text(first, below) or _lacks_names(first, below):
        return Heading.HEADER
    others = [_Row.of(row[1:]) for row in below]
    if not own.numbers or not others:
        return Heading.ENTITY
    usual = head in _USUAL_HEADS
    for form in (_labels, _dates, _sequence):
        if form(own, usual) and not any(form(other, usual) for other in others):
            return Heading.HEADER
    if _codes(own, usual) and not any(_INTEGER.fullmatch(c) for row in others for c in row.cells):
        return Heading.HEADER
    if usual and len(own.cells) >= _MANY and _stands_out(own, others):
        return Heading.HEADER
    return Heading.UNSURE if _possible(own, others, usual) else Heading.ENTITY


def _has_text(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a cell but the first is text; true and false are, unless a row has them."""
    if any(number_of(cell) is None for cell in first[1:]):
        return True
    truth = any(map(is_truth, first[1:]))
    return truth and not any(is_truth(cell) for row in below for cell in row[1:])


def _lacks_names(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether the first line has only numbers, one fewer than the cells of all others."""
    shorter = bool(below) and all(len(row) == len(first) + 1 for row in below)
    return shorter and bool(_Row.of(first).numbers)


def _labels(row: _Row, usual: bool) -> bool:
    """Return whether a row counts from 0 in whole numbers, as pandas labels columns."""
    long = usual or len(row.cells) >= _LABELS
    return long and row.matches(_INTEGER) and list(row.numbers) == list(range(len(row.cells)))


def _dates(row: _Row, usual: bool) -> bool:
    """Return whether a row has years, or dates such as 20240131, in their order or backwards."""
    if row.matches(_DATE):
        return row.ordered and (usual or len(row.cells) > 1)
    if not (row.matches(_YEAR) and row.ordered):
        return False
    next_year = len(row.cells) == 2 and abs(row.numbers[1] - row.numbers[0]) == 1
    return usual or next_year or (len(row.cells) >= _LABELS and row.steps)


def _sequence(row: _Row, usual: bool) -> bool:
    """Return whether a row is ordered, in equal steps or below a usual head, and long enough."""
    if usual and len(row.numbers) >= _SEQUENCE:
        return row.ordered
    return len(row.numbers) >= (_LABELS if usual else _SEQUENCE) and row.steps


def _codes(row: _Row, usual: bool) -> bool:
    """Return whether a row has whole numbers, as few entities have among fractions.

    Without a usual head they must ascend, and two of them be years.
    """
    ordered = row.distinct if usual else row.ascends
    years = len(row.cells) == 2 and row.matches(_YEAR)
    return (usual or years or len(row.cells) >= _LABELS) and row.matches(_INTEGER) and ordered


def _stands_out(own: _Row, others: Sequence[_Row]) -> bool:
    """Return whether only this row has whole numbers all of which differ, as codes do."""
    return own.matches(_INTEGER) and own.distinct and not any(row.distinct for row in others)


def _possible(own: _Row, others: Sequence[_Row], usual: bool) -> bool:
    """Return whether the row may be a header that no form recognises."""
    lone = len(own.numbers) > 1 and own.ordered and not any(other.ordered for other in others)
    enough = lone or own.matches(_INTEGER) or len(own.numbers) >= _LABELS
    if usual and own.ordered and enough:
        return True
    if (usual or len(own.cells) >= _MANY) and len(own.cells) > 1 and _stands_out(own, others):
        return True
    if own.matches(_YEAR) and own.ordered and not any(row.matches(_YEAR) for row in others):
        return True
    if len(own.numbers) >= _SEQUENCE and lone:
        return True
    counts = len(own.numbers) > 1 and own.numbers[0] in (0, 1) and own.steps
    consecutive = counts and own.numbers[1] - own.numbers[0] == 1
    return consecutive and not all(other.ascends and other.steps for other in others)

"""Find the unit of imported counts: the smallest denominator that makes every count an integer.

Counts are stored as integers in units of 1/denominator: exact for integer, dynamic and harmonic
window weights, else in fixed point, units of 2^-32.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.formats.entries import Block

FIXED_POINT = 1 << 32
_WIDEST = 20  # the widest window whose harmonic weights are exact
_WINDOWS = range(1, _WIDEST + 1)
# Dynamic weights of a window of w words need w, harmonic ones lcm(1, …, w).
_DENOMINATORS = sorted({*_WINDOWS, *(math.lcm(*range(1, w + 1)) for w in _WINDOWS)})
_MAX_EXACT = float(1 << 53)  # float64 represents every integer up to here
_MAX_TOTAL = float(1 << 62)
_MIN_FIXED_POINT = (
    2.0**-13
)  # from here on, rounding to 2^-32 changes a value by at most 2^-20 of it
# Tolerance for programs that sum 1/distance in floating point: absolute + relative.
_SLACK, _RELATIVE = 2.0**-10, 2.0**-42
_PMI = "if the values are weights, pass --kind pmi"


@dataclass(frozen=True)
class UnitStatistics:
    """Statistics from one pass over the counts.

    denominator: counts are stored in units of 1/denominator; rounding_error: the largest relative
    change from rounding to units; sums (V): row sums of the full matrix.
    """

    denominator: int
    rounding_error: float
    sums: Float64

    @property
    def max_count(self) -> int:
        """Upper bound of every count, in units, after repeated entries are summed."""
        return math.ceil(float(self.sums.max(initial=0.0)) * self.denominator * (1 + 2.0**-20))


def find_units(
    blocks: Iterable[Block], words: int, symmetric: bool, path: Path, denominator: int = 1
) -> UnitStatistics:
    """Return the unit of all counts in a file, a multiple of `denominator`.

    Raises InputError for counts that are negative, not finite, too large or too small.
    """
    rounding_error, least = 0.0, math.inf
    rows, columns = np.zeros(words), np.zeros(words)
    for row, column, values in blocks:
        _check_counts(row, column, values, path)
        positive = values[values > 0]
        least = min(least, float(positive.min(initial=math.inf)))
        denominator = _smallest_denominator(positive, denominator)
        rounding_error = max(rounding_error, _rounding_error(positive, denominator))
        rows += np.bincount(row, values, words)
        columns += np.bincount(column, np.where(row == column, 0.0, values), words)
    if denominator == FIXED_POINT and least < _MIN_FIXED_POINT:
        what = f"a value of {least:g} is too small to store as a count"
        raise InputError(what, where=path, do=_PMI)
    # In a symmetric file an entry (i, j) also counts in row j.
    found = UnitStatistics(denominator, rounding_error, rows + columns if symmetric else rows)
    if float(max(rows.max(initial=0.0), columns.max(initial=0.0))) * denominator >= _MAX_TOTAL / 2:
        what = f"a row sum of {rows.max():g} is too large to store in units of 1/{denominator}"
        raise InputError(what, where=path, do=_PMI)
    return found


def to_units(values: Float64, denominator: int) -> Int64:
    """Return values as integers in units of 1/denominator."""
    return np.rint(values * denominator).astype(np.int64)


def to_bits(row: Int64, column: Int64, values: Float64, path: Path) -> Int64:
    """Return the float32 bits of values, 0 for −0. Raises InputError unless all are finite."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32) + np.float32(0.0)  # −0 becomes 0
    bad = ~np.isfinite(single)
    if bad.any():
        _reject("a value is not finite in float32", row, column, values, bad, path, "correct it")
    return single.view(np.uint32).astype(np.int64)


def _check_counts(row: Int64, column: Int64, values: Float64, path: Path) -> None:
    for bad, what in (
        (~np.isfinite(values), "a count is not finite"),
        (values < 0, "a count is negative"),
        (values >= _MAX_EXACT, "a count is too large"),
    ):
        if bad.any():
            _reject(what, row, column, values, bad, path, _PMI)


def _reject(
    what: str, row: Int64, column: Int64, values: Float64, bad: Array, path: Path, do: str
) -> None:
    at = int(np.argmax(bad))
    found = f"{values[at]:g} in row {row[at] + 1:,}, column {column[at] + 1:,}"
    raise InputError(what, where=path, found=found, do=do)


def _all_representable(values: Float64, denominator: int) -> bool:
    if denominator == FIXED_POINT:
        return True
    scaled = values * denominator
    nearest = np.rint(scaled)
    fit = np.abs(scaled - nearest) <= _SLACK + _RELATIVE * nearest
    return bool(np.all(fit & (nearest > 0) & (nearest < _MAX_EXACT)))


def _smallest_denominator(values: Float64, denominator: int) -> int:
    """Return the smallest multiple of `denominator` that makes all values integers."""
    larger = [d for d in _DENOMINATORS if d > denominator and d % denominator == 0]
    return next((d for d in (denominator, *larger) if _all_representable(values, d)), FIXED_POINT)


def _rounding_error(values: Float64, denominator: int) -> float:
    """Return the largest relative change from rounding to units."""
    stored = np.rint(values * denominator) / denominator
    return float(np.max(np.abs(stored - values) / values, initial=0.0))

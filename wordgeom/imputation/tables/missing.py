"""Numbers that are missing or infinite: refused, filled with their column's mean, or left out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Float64, Int64
from wordgeom.imputation.tables.table import Table

ERROR, MEAN, DROP = "error", "mean", "drop"


def check_finite(table: Table, names: Sequence[str], where: Path) -> None:
    """Raise InputError for an infinite number, naming the first."""
    infinite = np.isinf(table.matrix)
    if infinite.any():
        row, column = np.argwhere(infinite)[0].tolist()
        raise InputError(
            f"entity {names[row]!r} has an infinite number in {table.column(column)}",
            where=where,
            found=f"{int(infinite.sum()):,} in all",
            do="correct it, or leave it blank and say --missing",
        )


def check_complete(table: Table, names: Sequence[str], where: Path) -> None:
    """Raise InputError for a missing number, naming the first."""
    gaps = np.isnan(table.matrix)
    if gaps.any():
        row, column = np.argwhere(gaps)[0].tolist()
        cells, entities = int(gaps.sum()), int(gaps.any(axis=1).sum())
        raise InputError(
            f"entity {names[row]!r} has no number in {table.column(column)}",
            where=where,
            found=f"{cells:,} missing, of {entities:,} entities",
            do="--missing mean fills in means of columns, --missing drop leaves entities out",
        )


def fill_with_means(matrix: Float64, where: Path) -> tuple[Float64, list[str]]:
    """Return numbers with gaps (nan) filled by the mean of the others in the column, and notes.

    Columns without a number are left out. Raises InputError where no column has one.
    """
    gaps = np.isnan(matrix)
    cells = int(gaps.sum())
    if not cells:
        return matrix, []
    empty = gaps.all(axis=0)
    if empty.all():
        raise InputError("holds no number", where=where, do="check what it holds")
    result = matrix.copy()
    for column in np.flatnonzero(gaps.any(axis=0) & ~empty).tolist():
        result[gaps[:, column], column] = _mean(matrix[~gaps[:, column], column])
    dropped = int(empty.sum())
    inside = cells - dropped * len(matrix)
    notes = [f"columns left out, without any number: {dropped:,}"] if dropped else []
    if inside:
        entities = int(gaps[:, ~empty].any(axis=1).sum())
        whose = f"{inside:,}, of {entities:,} entities"
        notes.append(f"missing numbers filled with the means of their columns: {whose}")
    return (np.ascontiguousarray(result[:, ~empty]) if dropped else result), notes


def complete_rows(matrix: Float64, where: Path) -> tuple[Int64, list[str]]:
    """Return the rows without a gap, and notes. Raises InputError where there is none."""
    gaps = np.asarray(np.isnan(matrix).any(axis=1))
    if gaps.all():
        do = "--missing mean fills in means of columns"
        found = f"{len(matrix):,} with some"
        raise InputError("no entity is without a missing number", where=where, found=found, do=do)
    dropped = int(gaps.sum())
    notes = [f"entities left out, with missing numbers: {dropped:,}"] if dropped else []
    return np.flatnonzero(~gaps), notes


def _mean(numbers: Float64) -> float:
    with np.errstate(over="ignore"):
        mean = float(numbers.mean())
    # The sum of the largest numbers is infinite where their mean is not.
    return mean if np.isfinite(mean) else float((numbers / len(numbers)).sum())

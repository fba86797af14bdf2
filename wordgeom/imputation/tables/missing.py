"""Handle missing and infinite values: raise an error, fill with column means, or drop rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import several
from wordgeom.core.types import Float64, Int64
from wordgeom.imputation.tables.table import Table

ERROR, MEAN, DROP = "error", "mean", "drop"


def check_finite(table: Table, names: Sequence[str], where: Path) -> None:
    """Raise InputError naming the first infinite value."""
    infinite = np.isinf(table.matrix)
    if infinite.any():
        row, column = np.argwhere(infinite)[0].tolist()
        raise InputError(
            f"entity {names[row]!r} has an infinite value in {table.column(column)} "
            f"({int(infinite.sum()):,} in total)",
            where=where,
            do="correct it, or leave it blank and use --missing",
        )


def check_complete(table: Table, names: Sequence[str], where: Path) -> None:
    """Raise InputError naming the first missing value."""
    gaps = np.isnan(table.matrix)
    if gaps.any():
        row, column = np.argwhere(gaps)[0].tolist()
        cells, entities = int(gaps.sum()), int(gaps.any(axis=1).sum())
        raise InputError(
            f"entity {names[row]!r} has no value in {table.column(column)} "
            f"({cells:,} missing in {several(entities, 'entity', 'entities')})",
            where=where,
            do="use --missing mean to fill in column means, or --missing drop to drop entities",
        )


def fill_with_means(matrix: Float64, where: Path) -> tuple[Float64, list[str]]:
    """Return the matrix with missing values (nan) replaced by column means, and notes.

    Columns without values are dropped. Raises InputError if no column has one.
    """
    gaps = np.isnan(matrix)
    cells = int(gaps.sum())
    if not cells:
        return matrix, []
    empty = gaps.all(axis=0)
    if empty.all():
        raise InputError("contains no numbers", where=where, do="check the file")
    result = matrix.copy()
    for column in np.flatnonzero(gaps.any(axis=0) & ~empty).tolist():
        result[gaps[:, column], column] = _mean(matrix[~gaps[:, column], column])
    dropped = int(empty.sum())
    inside = cells - dropped * len(matrix)
    notes = [f"columns without values dropped: {dropped:,}"] if dropped else []
    if inside:
        entities = int(gaps[:, ~empty].any(axis=1).sum())
        whose = f"{inside:,} in {entities:,} entities"
        notes.append(f"missing values filled with column means: {whose}")
    return (np.ascontiguousarray(result[:, ~empty]) if dropped else result), notes


def complete_rows(matrix: Float64, where: Path) -> tuple[Int64, list[str]]:
    """Return the rows without missing values, and notes. Raises InputError if there are none."""
    gaps = np.asarray(np.isnan(matrix).any(axis=1))
    if gaps.all():
        do = "use --missing mean to fill in column means"
        what = f"each of {len(matrix):,} entities has a missing value"
        raise InputError(what, where=where, do=do)
    dropped = int(gaps.sum())
    notes = [f"entities with missing values dropped: {dropped:,}"] if dropped else []
    return np.flatnonzero(~gaps), notes


def _mean(numbers: Float64) -> float:
    numbers = np.sort(numbers)  # so that the order of the rows changes no bit
    with np.errstate(over="ignore"):
        mean = float(numbers.mean())
    # The sum of very large values may overflow although the mean does not.
    return mean if np.isfinite(mean) else float((numbers / len(numbers)).sum())

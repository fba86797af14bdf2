"""Vectors with NaN or infinity: one check, and one wording for notes and errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Int64
from wordgeom.vectors.keyed import Vectors

_ROWS = 1 << 14  # rows checked at once
_DROP = "drop such vectors with wordgeom convert --drop-nan"


def nonfinite_rows(matrix: Array) -> Int64:
    """Return the rows of a matrix (n × K) that contain NaN or infinity."""
    found = [
        first + np.flatnonzero(~np.isfinite(matrix[first : first + _ROWS]).all(axis=1))
        for first in range(0, len(matrix), _ROWS)
    ]
    return np.concatenate([np.empty(0, np.int64), *found])


def nonfinite_notes(words: Sequence[str], matrix: Array, named: str = "") -> list[str]:
    """Return a note on the vectors with NaN or infinity, none if there are none.

    matrix (n × K), with a row for each word; named: what messages call the vectors.
    """
    rows = nonfinite_rows(matrix)
    line = f"{_line(len(rows), words[rows[0]])}; {_DROP}" if len(rows) else ""
    return [f"{named}: {line}" if named else line] if line else []


def check_finite(vectors: Vectors, rows: Sequence[int] | Int64, where: str, do: str) -> None:
    """Raise InputError if one of the rows (n) contains NaN or infinity; do: what else to do."""
    rows = np.asarray(rows, np.int64)
    refuse_nonfinite(vectors.words, rows[nonfinite_rows(vectors.matrix[rows])], where, do)


def refuse_nonfinite(words: Sequence[str], bad: Int64, where: str, do: str) -> None:
    """Raise InputError if any row contains NaN or infinity; bad (n): the rows that do."""
    if len(bad):
        raise InputError(_line(len(bad), words[bad[0]]), where=where, do=f"{do}, or {_DROP}")


def _line(number: int, first: str) -> str:
    if number == 1:
        return f"the vector of {first!r} contains NaN or infinity"
    return f"{number:,} vectors contain NaN or infinity (first: {first!r})"

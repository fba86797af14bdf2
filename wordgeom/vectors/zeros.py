"""Vectors without a direction, zero or not finite: named in notes, left out by options."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import first_few, plural, several
from wordgeom.core.types import Array, Int64
from wordgeom.vectors.finite import nonfinite_notes, nonfinite_rows
from wordgeom.vectors.keyed import Vectors

_ROWS = 1 << 14  # rows checked at once


def zero_rows(matrix: Array) -> Int64:
    """Return the rows of a matrix (n × K) that are zero."""
    with np.errstate(invalid="ignore"):  # of a signalling NaN
        found = [
            first + np.flatnonzero(~matrix[first : first + _ROWS].any(axis=1))
            for first in range(0, len(matrix), _ROWS)
        ]
    return np.concatenate([np.empty(0, np.int64), *found])


def undirected_notes(words: Sequence[str], matrix: Array, named: str = "") -> list[str]:
    """Return notes on the vectors without a direction: not finite, or zero.

    matrix (n × K), with a row for each word; named: what messages call the vectors.
    """
    notes, rows = nonfinite_notes(words, matrix, named), zero_rows(matrix)
    if len(rows):
        zeros = f"{plural(len(rows), 'zero vector')}: {first_few([words[row] for row in rows])}"
        notes.append(f"{named}: {zeros}" if named else zeros)
    return notes


def without_zeros(vectors: Vectors, named: str) -> tuple[Vectors, list[str]]:
    """Return vectors without those that are zero, and a note; raises InputError if all are."""
    rows = zero_rows(vectors.matrix)
    dropped = several(len(rows), "zero vector was", "zero vectors were")
    return _without(vectors, rows, named, "are zero", dropped)


def without_nonfinite(vectors: Vectors, named: str) -> tuple[Vectors, list[str]]:
    """Return vectors without those with NaN or infinity, and a note; raises InputError if all."""
    rows = nonfinite_rows(vectors.matrix)
    kind = "with NaN or infinity"
    dropped = several(len(rows), f"vector {kind} was", f"vectors {kind} were")
    return _without(vectors, rows, named, "contain NaN or infinity", dropped)


def _without(
    vectors: Vectors, rows: Int64, named: str, are: str, dropped: str
) -> tuple[Vectors, list[str]]:
    """Return vectors without some rows, and a note; raises InputError if these are all."""
    words = vectors.words
    if not len(rows):
        return vectors, []
    if len(rows) == len(words):
        raise InputError(f"all vectors {are}", where=named, do="train again")
    others = np.delete(np.arange(len(words)), rows).tolist()
    note = f"{named}: {dropped} dropped: {first_few([words[row] for row in rows])}"
    return Vectors([words[row] for row in others], vectors.matrix[others]), [note]

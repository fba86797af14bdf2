"""Remarks that methods of the paper share: missing dimensions, and matrices unlike the paper's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wordgeom.core.formatting import several
from wordgeom.core.options import flag

PUBLISHED_MATRIX = {"count": "windows", "weighting": "pmi", "neg": 1.0, "cds": 1.0}  # §4.1–4.2


def rank_notes(subject: str, rank: int, K: int, why: str, do: str) -> list[str]:
    """Return a note on the zero columns of vectors of rank < K, none if the rank is K."""
    if rank == K:
        return []
    zero = several(K - rank, "column is zero", "columns are zero")
    return [f"{subject} {rank} of {K} dimensions ({why}); {zero}; {do}"]


def unpublished_notes(made: Mapping[str, Any]) -> list[str]:
    """Return a note on the options of the matrix that are not the paper's."""
    unlike = [
        f"{flag(name)} {made.get(name, 'unknown')} (the paper: {value})"
        for name, value in PUBLISHED_MATRIX.items()
        if made.get(name) != value
    ]
    return [f"not as published: {', '.join(unlike)}"] if unlike else []

"""Alignment with another space: the rotation that brings the words in common closest to its own.

Orthogonal Procrustes (linalg/procrustes.py) without centring or scaling: cosines stay unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Float64, Int64
from wordgeom.linalg.procrustes import rotation
from wordgeom.transforms.space import ROWS, Space, Step

_ASKED, _AMONG = 1000, 50_000  # words in common whose neighbours are searched, and among which


@dataclass(frozen=True)
class _Common:
    """Two spaces and the rows (n) of the words that both have."""

    own: Space
    other: Space
    rows: Int64
    others: Int64

    def product(self) -> Float64:
        """Return Σ xᵀ y over the words in common."""

        def of(at: int) -> Float64:
            x, y = self.part(slice(at, at + ROWS))
            return np.asarray(x.T @ y)

        total = np.zeros((self.own.columns, self.other.columns))
        for part in self.own.pool.map(of, range(0, len(self.rows), ROWS)):
            total += part
        return total

    def part(self, which: slice) -> tuple[Float64, Float64]:
        """Return the vectors of some of the words in both spaces."""
        return self.own.rows(self.rows[which]), self.other.rows(self.others[which])

    def cosines(self) -> float:
        """Return the mean cosine of a word's vectors in both spaces."""

        def of(at: int) -> float:
            x, y = map(_units, self.part(slice(at, at + ROWS)))
            return float(np.einsum("ij,ij->", x, y))

        return sum(self.own.pool.map(of, range(0, len(self.rows), ROWS))) / len(self.rows)

    def recall(self) -> float:
        """Return the share of words whose nearest vector of the other space is their own."""
        most = min(_AMONG, len(self.rows))
        asked = np.linspace(0, most - 1, min(_ASKED, most)).astype(np.int64)
        x = _units(self.own.rows(self.rows[asked]))
        best, found = np.full(len(asked), -np.inf), np.zeros(len(asked), np.int64)
        for at in range(0, most, ROWS):
            y = _units(self.other.rows(self.others[at : min(at + ROWS, most)]))
            cosines = x @ y.T
            nearest = cosines.argmax(axis=1)
            value = cosines[np.arange(len(asked)), nearest]
            found = np.where(value > best, at + nearest, found)
            best = np.maximum(best, value)
        return float(np.mean(found == asked))


def align(space: Space, other: Space, named: str) -> Step:
    """Rotate to the axes of another space; named: what messages call it.

    Raises InputError for another dimension, or for fewer words in common than dimensions.
    """
    K = space.columns
    if other.columns != K:
        what = f"--align needs vectors of {K} numbers"
        do = "pass --dim to both, or train with one dimension"
        raise InputError(what, where=named, found=f"{other.columns}", do=do)
    before = _common(space, other)
    if len(before.rows) < K:
        what = f"has {len(before.rows):,} words with a nonzero vector in common with the vectors"
        do = f"--align needs at least {K}, the dimension"
        raise InputError(what, where=named, do=do)
    R, singular = rotation(before.product())
    aligned = space.mapped(R)
    after = _Common(aligned, other, before.rows, before.others)
    rank = int(np.count_nonzero(singular > 1e-10 * singular[0]))
    facts: dict[str, Any] = {
        "words": len(before.rows), "rank": rank, "mean_cosine_before": before.cosines(),
        "mean_cosine": after.cosines(), "neighbour_recall": after.recall(),
    }  # fmt: skip
    notes = []
    if rank < K:
        notes.append(f"the words in common determine {rank} of {K} directions of the rotation")
    line = (
        "--align: {words:,} words in common, mean cosine {mean_cosine_before:.4f} → "
        "{mean_cosine:.4f}; {neighbour_recall:.1%} are nearest to themselves"
    )
    return Step(aligned, facts, notes, line.format(**facts))


def _common(space: Space, other: Space) -> _Common:
    """Return the words in common whose images are not zero, in the order of the space."""
    index, words = other.stored.index, space.stored.words
    theirs = np.fromiter((index.get(word, -1) for word in words), np.int64, len(words))
    rows = np.flatnonzero(theirs >= 0)
    common = _Common(space, other, rows, theirs[rows])
    fine = np.empty(len(rows), bool)
    for at in range(0, len(rows), ROWS):
        x, y = common.part(slice(at, at + ROWS))
        fine[at : at + ROWS] = x.any(axis=1) & y.any(axis=1)
    return _Common(space, other, rows[fine], theirs[rows[fine]])


def _units(rows: Float64) -> Float64:
    return np.asarray(rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None])

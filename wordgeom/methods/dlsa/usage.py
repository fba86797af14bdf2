"""The words of a dynamic model at one time, and which of them were in use then.

A word that the documents near a time do not contain has a vector there, but it extrapolates a
polynomial: the word is nobody's neighbour at that time, and has no neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.nearest import similar

_SHARE = 10  # a tenth of all documents counts as near a time


def documents_near(times: Float64, time: float) -> Array:
    """Return a mask (n) of the tenth of documents with times (n) nearest to a time.

    Documents at the same distance as the last of the tenth all count.
    """
    distance = np.abs(times - time)
    limit = np.sort(distance)[max(0, len(times) // _SHARE - 1)]
    return np.asarray(distance <= limit)


def words_in(counts: StoredDocuments, rows: Int64) -> Array:
    """Return a mask (p) of the words that the documents in `rows` contain."""
    mask = np.zeros(counts.shape[1], bool)
    for start, stop in counts.row_blocks():
        inside = rows[(rows >= start) & (rows < stop)]
        mask[counts.rows(start, stop).select(inside - start).indices] = True
    return mask


@dataclass(frozen=True, eq=False)
class WordsAt:
    """The words at a time: their vectors, and a mask (p) of those in use then."""

    time: float
    vectors: Vectors
    in_use: Array

    def __repr__(self) -> str:
        used = int(np.count_nonzero(self.in_use))
        return f"<WordsAt {self.time:g}: {used:,} of {len(self.in_use):,} words in use>"

    def similar(
        self, positive: Sequence[str], negative: Sequence[str] = (), top: int = 10
    ) -> list[tuple[str, float]]:
        """Return the `top` words in use nearest to Σ `positive` − Σ `negative`, with cosines.

        Raises InputError for a word that is unknown, not in use or without a vector.
        """
        positive = [positive] if isinstance(positive, str) else positive
        negative = [negative] if isinstance(negative, str) else negative
        for word in (*positive, *negative):
            row = self.vectors.row(word)
            if row is not None and not self.in_use[row]:
                do = "choose another time, or other words"
                raise InputError(f"{word!r} is not in use near {self.time:g}", do=do)
        matrix = np.where(self.in_use[:, None], self.vectors.matrix, np.float32(0.0))
        return similar(Vectors(self.vectors.words, matrix), positive, negative, top)

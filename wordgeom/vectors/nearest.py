"""Nearest neighbours of a word or of a sum of words, by exact cosine; ties in order of rows.

With unit vectors u, positive words p and negative words n, the neighbours are those of
Σ u(p) − Σ u(n), as in Gensim's `most_similar` (3CosAdd, Mikolov et al. 2013).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import listed
from wordgeom.core.types import Array, Float64
from wordgeom.vectors.finite import check_finite
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.options import NeighbourOptions

_ROWS = 4096  # rows of a block
_SPELLINGS = 50_000  # words compared with an unknown one; more would take too long


def similar(
    vectors: Vectors, positive: Sequence[str], negative: Sequence[str] = (), top: int = 10
) -> list[tuple[str, float]]:
    """Return the `top` words nearest to Σ `positive` − Σ `negative`, with their cosines.

    The words of the query are excluded, and so are vectors that are zero or not finite, which have
    no cosine. Raises OptionError for a `top` below 1; InputError for an unknown word, for one whose
    vector is zero or not finite, and where the sum is zero.
    """
    top = NeighbourOptions(top).top
    # A string is a sequence of letters too, but means one word.
    positive = [positive] if isinstance(positive, str) else positive
    negative = [negative] if isinstance(negative, str) else negative
    rows = [row_of(vectors, word) for word in (*positive, *negative)]
    check_finite(vectors, rows, "", "choose other words")
    signs = [1.0] * len(positive) + [-1.0] * len(negative)
    cosines = _cosines(vectors, _direction(vectors, rows, signs))
    cosines[rows] = np.nan
    # nan sorts last; a stable sort leaves ties in order of rows.
    best = np.argsort(-cosines, kind="stable")[:top]
    chosen = best[~np.isnan(cosines[best])].tolist()
    return [(vectors.words[row], float(cosines[row])) for row in chosen]


def analogy(vectors: Vectors, a: str, b: str, c: str, top: int = 10) -> list[tuple[str, float]]:
    """Return the `top` words that are to `c` as `b` is to `a`; raises InputError as `similar`."""
    return similar(vectors, [b, c], [a], top)


def row_of(vectors: Vectors, word: str) -> int:
    """Return the row of a word; raises InputError for an unknown one, suggesting another."""
    if not isinstance(word, str):
        raise InputError("a word must be text", found=repr(word))
    row = vectors.row(word)
    if row is None:
        raise InputError(f"unknown word {word!r}", do=_advice(word, vectors))
    return row


def _advice(word: str, vectors: Vectors) -> str:
    lower = word.lower()
    if lower in vectors.index:
        return f"did you mean {lower}?"
    parts = lower.split()
    if len(parts) > 1 and all(part in vectors.index for part in parts):
        return f"pass its {len(parts)} words separately"
    # Words are in order of frequency: the first are the likeliest.
    alike = (w for w in islice(vectors.words, _SPELLINGS) if abs(len(w) - len(word)) <= 2)
    return spelling_advice(word, alike)


def spelling_advice(word: str, known: Iterable[str]) -> str:
    """Return advice for an unknown word: the known word that is spelt most like it, if any."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {close[0]}?" if close else "no word has a similar spelling; try another"


def unit_vectors(vectors: Array) -> Float64:
    """Return vectors (n × K) normalised, float64; zero vectors stay zero."""
    wide = vectors.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return np.asarray(wide / np.where(lengths > 0, lengths, 1)[:, None])


def _direction(vectors: Vectors, rows: list[int], signs: list[float]) -> Float64:
    """Return the unit vector (K) of the signed sum of the rows' unit vectors."""
    if not rows:
        raise InputError("the query has no word", do="name one or more")
    names, do = [repr(vectors.words[row]) for row in rows], "choose other words"
    chosen = vectors.matrix[rows].astype(np.float64)
    norms = np.sqrt(np.einsum("ij,ij->i", chosen, chosen))
    if not norms.all():
        raise InputError(f"the vector of {names[int(np.argmin(norms))]} is zero", do=do)
    total = np.asarray(signs) @ (chosen / norms[:, None])
    size = float(np.linalg.norm(total))
    if size < 1e-12:  # the rounding error of words that cancel
        raise InputError(f"the vectors of {listed(names)} cancel each other", do=do)
    return np.asarray(total / size)


def _cosines(vectors: Vectors, direction: Float64) -> Float64:
    """Return the cosine (V) of each row with the unit vector `direction` (K), nan for a zero row.

    Computed in float64 by blocks: the squares of float32 neither overflow nor underflow.
    """
    cosines = np.empty(len(vectors.matrix))
    for first in range(0, len(cosines), _ROWS):
        block = vectors.matrix[first : first + _ROWS].astype(np.float64)
        norms = np.sqrt(np.einsum("ij,ij->i", block, block))
        norms[~np.isfinite(norms) | (norms == 0)] = np.nan
        with np.errstate(invalid="ignore"):  # inf · 0 in a row whose norm is nan already
            products = np.einsum("ij,j->i", block, direction)
        cosines[first : first + _ROWS] = np.clip(products / norms, -1, 1)
    return cosines

"""Analogies completed as in eq. 13, by vectors with their lengths, beside `eval`'s 3CosAdd."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wordgeom.core.types import Int64
from wordgeom.evaluation.analogies import Analogies
from wordgeom.evaluation.answers import Answers
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.norms import row_norms

PAPER, COSADD = "eq. 13", "3CosAdd"
_QUESTIONS = 512  # of a block


def completed(questions: Analogies, vectors: Vectors, context: Context) -> dict[str, Answers]:
    """Return the answers by eq. 13 and by 3CosAdd, in column 0 of `given`."""
    usual = questions.answer(vectors, context)
    asked = [questions.questions[item][:3] for item in usual.items]
    rows = np.array([[vectors.row(word.lower()) for word in words] for words in asked], np.int64)
    found = nearest_words(vectors, rows)[:, None]
    one = replace(usual, given=found, measures=usual.measures[:1])  # an accuracy of column 0
    return {PAPER: one, COSADD: usual}


def nearest_words(vectors: Vectors, rows: Int64) -> Int64:
    """Return the row nearest by cosine to x_c + (x_b − x_a), other than b and c (eq. 13).

    rows (Q × 3): a, b and c. Unlike 3CosAdd, it takes vectors with their lengths, and a may be
    the answer.
    """
    X = vectors.matrix.astype(np.float64)
    units = X / np.maximum(row_norms(vectors.matrix), np.finfo(np.float64).tiny)[:, None]
    parts = []
    for start in range(0, len(rows), _QUESTIONS):
        a, b, c = rows[start : start + _QUESTIONS].T
        cosines = (X[c] + X[b] - X[a]) @ units.T
        every = np.arange(len(a))
        cosines[every, b] = cosines[every, c] = -np.inf
        parts.append(cosines.argmax(axis=1))
    return np.concatenate(parts)

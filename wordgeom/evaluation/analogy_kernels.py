"""Compiled search for the best answers to analogy questions in a block of the vocabulary."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Float32, Int32, Int64
from wordgeom.runtime.jit import kernel

_SEGMENT = 256  # rows tested at once: segments without a better answer cost no branch


@kernel
def update_best_answers(
    shifted: Float32, words: Int32, barred: Array, questions: Int64, start: int, stop: int,
    query: Int32, epsilon: float, best: Float32, answers: Int32,
) -> None:  # fmt: skip
    """Update the best answers to questions start … stop with a block of R candidate rows.

    shifted (W × R) float32: 1 + cosine of query words and candidates, called α, β, γ for a, b, c;
    words (R): canonical row of each candidate; barred (R) bool: rows without a direction. questions
    (Q × 3): a, b, c as rows of `shifted`; query (W): canonical rows of the query words, which may
    not answer. best (Q × 2): the highest 3CosAdd and 3CosMul so far; answers (Q × 2): their words.
    3CosMul's (β/2)(γ/2) / (α/2 + ε) is computed as βγ / (2α + 4ε).
    """
    guard = np.float32(4 * epsilon)
    for q in range(start, stop):
        i, j, k = questions[q, 0], questions[q, 1], questions[q, 2]
        for begin in range(0, len(words), _SEGMENT):
            a = shifted[i, begin : begin + _SEGMENT]
            b = shifted[j, begin : begin + _SEGMENT]
            c = shifted[k, begin : begin + _SEGMENT]
            most, ratio = best[q, 0], best[q, 1]
            # The compiler vectorises a 32-bit count, but not a running maximum.
            higher = np.int32(0)
            for r in range(len(a)):
                added = b[r] - a[r] + c[r] > most
                multiplied = b[r] * c[r] > ratio * (a[r] + a[r] + guard)
                higher = np.int32(higher + (added | multiplied))
            if higher == 0:
                continue
            for r in range(len(a)):
                word = words[begin + r]
                if barred[begin + r] or word == query[i] or word == query[j] or word == query[k]:
                    continue
                if b[r] - a[r] + c[r] > best[q, 0]:
                    best[q, 0], answers[q, 0] = b[r] - a[r] + c[r], word
                below = a[r] + a[r] + guard
                if b[r] * c[r] > best[q, 1] * below:
                    best[q, 1], answers[q, 1] = b[r] * c[r] / below, word

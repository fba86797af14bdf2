"""The walk of analogy questions over a block of the vocabulary."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Float32, Int32, Int64
from wordgeom.runtime.jit import kernel

_SEGMENT = 256  # rows tested at once: those that hold no better answer cost no branch


@kernel
def update_best_answers(
    shifted: Float32, words: Int32, barred: Array, questions: Int64, start: int, stop: int,
    asked: Int32, epsilon: float, best: Float32, answers: Int32,
) -> None:  # fmt: skip
    """Let a block of R rows answer the questions start … stop.

    shifted (W × R) float32: α, β, γ = 1 + cosine of an asked word with a row; words (R): the word
    that a row is a form of; barred (R) bool: rows that may not answer. questions (Q × 3): a, b, c
    as lines of `shifted`; asked (W): their words, which may not answer either. best (Q × 2): the
    highest values so far by 3CosAdd and 3CosMul, and answers (Q × 2) their words: raised where a
    row has more. 3CosMul's (β/2)(γ/2) / (α/2 + ε) is βγ / (2α + 4ε).
    """
    guard = np.float32(4 * epsilon)
    for q in range(start, stop):
        i, j, k = questions[q, 0], questions[q, 1], questions[q, 2]
        for begin in range(0, len(words), _SEGMENT):
            a = shifted[i, begin : begin + _SEGMENT]
            b = shifted[j, begin : begin + _SEGMENT]
            c = shifted[k, begin : begin + _SEGMENT]
            most, ratio = best[q, 0], best[q, 1]
            # Counted in 32 bits, and no maximum kept: only so does the compiler make it SIMD.
            higher = np.int32(0)
            for r in range(len(a)):
                added = b[r] - a[r] + c[r] > most
                multiplied = b[r] * c[r] > ratio * (a[r] + a[r] + guard)
                higher = np.int32(higher + (added | multiplied))
            if higher == 0:
                continue
            for r in range(len(a)):
                word = words[begin + r]
                if barred[begin + r] or word == asked[i] or word == asked[j] or word == asked[k]:
                    continue
                if b[r] - a[r] + c[r] > best[q, 0]:
                    best[q, 0], answers[q, 0] = b[r] - a[r] + c[r], word
                below = a[r] + a[r] + guard
                if b[r] * c[r] > best[q, 1] * below:
                    best[q, 1], answers[q, 1] = b[r] * c[r] / below, word

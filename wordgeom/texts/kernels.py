"""The compiled loop over the words of texts."""

from __future__ import annotations

from wordgeom.core.types import Array, Float32, Float64, Int32, Int64
from wordgeom.runtime.jit import kernel


@kernel
def weighted_means(
    indptr: Int64, indices: Int32, counts: Array, rows: Int64, matrix: Float32,
    weights: Float64, shares: Float64, means: Float64, known: Int64, tokens: Int64,
) -> None:  # fmt: skip
    """Set means (n × K) to Σ count · weight · vector / Σ count · share over the words of texts.

    rows (V): of the words in `matrix`; a word of id V or more has no vector. known, tokens (n): get
    the tokens with a vector, and all tokens. All three are 0 before.
    """
    for i in range(len(indptr) - 1):
        total = 0.0
        mean = means[i]
        for k in range(indptr[i], indptr[i + 1]):
            word, count = indices[k], counts[k]
            tokens[i] += count
            if word < len(rows):
                known[i] += count
                total += count * shares[word]
                weight = count * weights[word]
                vector = matrix[rows[word]]
                for c in range(len(mean)):
                    mean[c] += weight * vector[c]
        if total > 0.0:
            for c in range(len(mean)):
                mean[c] /= total

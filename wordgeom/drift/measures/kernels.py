"""Compiled sums of co-occurrences by groups of documents, and distances of PPMI vectors."""

from __future__ import annotations

import math

from wordgeom.core.types import Float32, Float64, Int32, Int64
from wordgeom.runtime.jit import kernel


@kernel
def add_by_group(
    rows: Int32, counts: Float32, place: int, documents: Int64, groups: Int64, starts: Int64,
    lengths: Float64, c_indptr: Int64, c_indices: Int32, c_counts: Float32, near: Float32,
    context: Float32, sums: Float64,
) -> None:  # fmt: skip
    """Add the co-occurrences in a word's documents (d) by group (g).

    rows, counts: the word's passages; near (g × M): its co-occurrences with contexts; context
    (g × M): co-occurrences of the contexts with all words; sums (g × 2): all co-occurrences, and
    the word's.
    """
    k = 0
    for d in range(len(documents)):
        g = groups[d]
        for r in range(starts[documents[d]], starts[documents[d] + 1]):
            x = 0.0
            if k < len(rows) and rows[k] == r:
                x = float(counts[k])
                k += 1
            others = lengths[r] - 1.0
            sums[g, 0] += lengths[r] * others
            sums[g, 1] += x * others
            for e in range(c_indptr[r], c_indptr[r + 1]):
                m, c = c_indices[e], float(c_counts[e])
                context[g, m] += c * others
                near[g, m] += x * c
            if place >= 0:
                near[g, place] -= x


@kernel
def ppmi_distances(
    near: Float32, context: Float32, sums: Float64, all_near: Float64, all_context: Float64,
    other_context: Float64, all_sums: Float64, other_pairs: float, out: Float64,
) -> None:  # fmt: skip
    """Set out (B) to the cosine distance of a word's PPMI vectors in two periods.

    Of the second period, by permutation: near, context (B × M) and sums (B × 2) in the word's
    documents, as in `add_by_group`; other_context (M), other_pairs: the same in other documents. Of
    both periods: all_near, all_context (M) and all_sums (2).
    """
    for b in range(len(out)):
        pairs, own = other_pairs + sums[b, 0], sums[b, 1]
        before, own_before = all_sums[0] - pairs, all_sums[1] - own
        now = pairs / own if own > 0.0 else 0.0
        then = before / own_before if own_before > 0.0 else 0.0
        product = squares = squares_then = 0.0
        for m in range(near.shape[1]):
            p = q = 0.0
            total = other_context[m] + float(context[b, m])
            ratio = float(near[b, m]) * now
            if near[b, m] > 0.5 and ratio > total:  # counts are integers, up to rounding
                p = math.log(ratio / total)
            count = all_near[m] - float(near[b, m])
            total = all_context[m] - total
            ratio = count * then
            if count > 0.5 and ratio > total:
                q = math.log(ratio / max(total, 1.0))
            product += p * q
            squares += p * p
            squares_then += q * q
        lengths = math.sqrt(squares * squares_then)
        out[b] = 1.0 - product / lengths if lengths > 0.0 else 1.0

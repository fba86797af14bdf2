"""Angles between words in reference vectors and in vectors made from them, counted in bins.

The histograms of Saul (2022, figure 2) separate the pairs of a word and its nearest neighbour from
all other pairs; τ should exceed the angles of few of the former and of most of the latter.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.types import Float64, Int64
from wordgeom.evaluation.common_words import common_words
from wordgeom.evaluation.near_pairs import blocks_of, cosines, sparse_threshold, targets_of
from wordgeom.evaluation.options import COSINE, NearPairOptions
from wordgeom.formats.vector_files import read_any_vectors
from wordgeom.runtime.context import Context

BINS = 180  # of the angles from 0 to π
_LEAST = 3  # words: a pair and another one


@dataclass(frozen=True, eq=False)
class Angles:
    """Numbers of pairs by the bin of their angle in the reference, then in the vectors.

    every, nearest (BINS × BINS): of all pairs, and of each word and its nearest neighbour in the
    reference; tau: the threshold of near pairs; words, drawn: number of words, and of those whose
    pairs were counted.
    """

    every: Int64
    nearest: Int64
    tau: float
    words: int
    drawn: int


def count_angles(
    vectors: str | Path, reference: str | Path, options: NearPairOptions, context: Context
) -> Angles:
    """Return the angles between the common words of two files, without zero vectors.

    Raises what reading vectors raises, and InputError for fewer than three common words and for the
    memory limit.
    """
    from wordgeom.evaluation.near_pairs_kernels import add_angles

    ours, theirs = (read_any_vectors(Path(p), memory=context.memory) for p in (vectors, reference))
    words = common_words(ours, theirs, COSINE, COSINE)
    what, do = f"angles need {_LEAST} words with both vectors", "check the spelling of the words"
    words.check_number(_LEAST, what, str(reference), do)
    drawn = words.drawn(options.reference_words, context.seed)
    tau = sparse_threshold(words, drawn, context) if options.tau is None else options.tau

    def run(rows: Int64) -> tuple[Int64, Float64]:
        counts, nearest = np.zeros((BINS, BINS), np.int64), np.full((len(rows), 2), -np.inf)
        for targets in targets_of(words):
            found = cosines(words.theirs, rows, targets), cosines(words.ours, rows, targets)
            add_angles(*found, rows, targets.start, counts, nearest)
        return counts, nearest

    every, nearest = np.zeros((BINS, BINS), np.int64), np.zeros((BINS, BINS), np.int64)
    for counts, closest in blocks_of(words, drawn, run, "angles", context):
        every += counts
        bins = (np.arccos(np.clip(closest, -1.0, 1.0)) / np.pi * BINS).astype(np.int64)
        np.add.at(nearest, tuple(np.minimum(bins, BINS - 1).T), 1)
    return Angles(every, nearest, tau, len(words.items), len(drawn))

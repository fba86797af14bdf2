"""Reference vectors: what vectors of fewer dimensions preserve of those they were made from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.formatting import several
from wordgeom.core.types import Int64
from wordgeom.evaluation.answers import Answers
from wordgeom.evaluation.common_words import UNDRAWN, CommonWords, common_words
from wordgeom.evaluation.lines import SetFile
from wordgeom.evaluation.near_pairs import SPARSITY, near_measures, near_values, sparse_threshold
from wordgeom.evaluation.neighbourhoods import COLUMNS, chance_level, rank_measures, rank_values
from wordgeom.evaluation.options import COSINE, EUCLIDEAN
from wordgeom.formats.vector_files import read_any_vectors
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

TASK = "neighbourhoods"
_NAMES = {COSINE: "cosine", EUCLIDEAN: "Euclidean"}


@dataclass(frozen=True)
class Reference(SetFile):
    """A file of reference vectors, which is read when it is needed."""

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        """Return what the measures need of each word, as `given`: ranks, then near pairs.

        The items are the reference's words. Raises InputError where fewer than k + 2 words have
        both vectors, or where the distances exceed the memory limit.
        """
        words, notes = self.common(vectors, context)
        drawn = words.drawn(self.options.reference_words, context.seed)
        tau = self.threshold(words, drawn, context)
        how, n = self.options, len(words.items)
        notes = [
            f"neighbours among {n:,} words by {_NAMES[how.metric]} distance, in the reference by "
            f"{_NAMES[how.reference_metric]} distance; ties count as in random order",
            chance_level(n, how.neighbours),
            self._threshold_note(tau),
            *notes,
        ]
        return self.compared(words, drawn, tau, notes, context)

    def common(self, vectors: Vectors, context: Context) -> tuple[CommonWords, list[str]]:
        """Return the words of the vectors and of the reference, and notes; raises InputError."""
        reference = read_any_vectors(Path(self.path), memory=context.memory)
        how, k = self.options, self.options.neighbours
        words = common_words(vectors, reference, how.metric, how.reference_metric)
        what = f"{k} neighbours need {k + 2} words with both vectors"
        do = "lower --neighbours, or check the spelling of the words"
        words.check_number(k + 2, what, self.path, do)
        notes, every = [], len(vectors.words)
        if every > len(words.items):
            unused = every - len(words.items)
            notes.append(f"{unused:,} of {every:,} words of the vectors are not used")
        if reference.duplicates:
            repeated = several(reference.duplicates, "repeated word", "repeated words")
            notes.append(f"{repeated} of the reference ignored")
        return words, notes

    def threshold(self, words: CommonWords, drawn: Int64, context: Context) -> float:
        """Return the cosine above which pairs are near: --tau, or that of sparse pairs."""
        given = self.options.tau
        return sparse_threshold(words, drawn, context) if given is None else given

    def compared(
        self, words: CommonWords, drawn: Int64, tau: float, notes: list[str], context: Context,
        *, by_distance: bool = False,
    ) -> Answers:  # fmt: skip
        """Return the answers of the vectors of common words; by_distance: as of `near_values`."""
        how, k, n = self.options, self.options.neighbours, len(words.items)
        metric = EUCLIDEAN if by_distance else how.metric
        ranks = rank_values(words, drawn, k, (metric, how.reference_metric), context)
        near = near_values(words, drawn, tau, context, by_distance=by_distance)
        excluded = dict(words.excluded)
        if len(drawn) < n:
            excluded[UNDRAWN] = n - len(drawn)
        measures = *rank_measures(k), *near_measures(COLUMNS, by_distance=by_distance)
        return Answers(TASK, self.name, measures, words.items[drawn], np.hstack([ranks, near]),
                       np.empty((len(drawn), 0)), excluded, notes=tuple(notes))  # fmt: skip

    def _threshold_note(self, tau: float) -> str:
        what = f"near pairs: reference cosine above τ = {tau:.4f}"
        if self.options.tau is None:
            what += f", which {100 * (1 - SPARSITY):g} % of the pairs exceed"
        if tau >= 1.0:
            return f"{what}: more pairs have the same direction; pass --tau"
        return f"{what}; angles in radians"

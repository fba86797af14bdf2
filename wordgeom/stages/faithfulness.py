"""What compressed vectors preserve of the original ones: near angles, norms and neighbours."""

from __future__ import annotations

from wordgeom.core.formatting import aligned
from wordgeom.evaluation.answers import Score, scores
from wordgeom.evaluation.common_words import common_words
from wordgeom.evaluation.options import COSINE, EvalOptions
from wordgeom.evaluation.reference import Reference
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

NEIGHBOURS = 10
_DRAWN = 1_000  # words: intervals of ± .01
_HEADER = ("reducer", "measure", "score", "95 % interval")


def faithfulness(
    made: Vectors, original: Vectors, named: str, context: Context
) -> tuple[list[Score], float]:
    """Return the scores of vectors against the original ones, recall first, and τ.

    No scores where fewer than NEIGHBOURS + 2 words have a direction in both.
    """
    how = EvalOptions(neighbours=NEIGHBOURS, metric=COSINE, reference_words=_DRAWN)
    words = common_words(made, original, COSINE, COSINE)
    if len(words.items) < NEIGHBOURS + 2:
        return [], 1.0
    drawn = words.drawn(how.reference_words, context.seed)
    reference = Reference(named, how)
    tau = reference.threshold(words, drawn, context)
    answers = reference.compared(words, drawn, tau, [], context)
    return scores(answers, how.resamples, context.seed), tau


def score_table(judged: dict[str, list[Score]]) -> list[str]:
    """Return a table of the scores of each reducer, none without scores."""
    rows = [
        (name, score.measure, f"{score.value:.4f}", f"{score.low:.4f} … {score.high:.4f}")
        for name, found in judged.items()
        for score in found
    ]
    return aligned([_HEADER, *rows], 2) if rows else []

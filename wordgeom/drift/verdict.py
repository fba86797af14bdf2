"""What a test says, and the sentences that go with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from wordgeom.core.formatting import several
from wordgeom.core.types import Float64
from wordgeom.drift.f_tail import ASSUMPTION
from wordgeom.drift.mixture_test import MIXTURE_REJECTED
from wordgeom.drift.options import (
    DOCUMENTS,
    F_TAIL,
    LEVEL,
    MAX_T,
    OWN,
    POOLED,
    TIMES,
    WITHIN,
    DriftOptions,
)
from wordgeom.drift.permutations import Permutations

_METHODS = {
    TIMES: "permutation of whole times",
    DOCUMENTS: "permutation of documents' times",
    WITHIN: "permutation of documents' times inside groups",
}
_RESIDUALS = {
    DOCUMENTS: "Freedman–Lane permutation of documents' residuals",
    WITHIN: "Freedman–Lane permutation of documents' residuals inside groups",
}
_ASSUMES = {
    TIMES: "times come in no order: documents of one time may be alike, but no word, and no "
    "topic's frequency or spread, goes with time",
    DOCUMENTS: "documents could be of any time: no word, and no topic's frequency or spread, goes "
    "with time, and documents of one time are no more alike than others",
    WITHIN: "documents of one group could be of any of its times: groups may differ, but inside "
    "them nothing goes with time, and documents of one time are no more alike than others",
}
_RESIDUALS_ASSUME = (
    "what topics do not explain of a document is like that of any other document{}, of its time or "
    "not; the mixture of topics may drift, if the topics are enough to hold it; p is approximate"
)
_HELD = "a word may become more or less frequent, which permutations allow for only nearly"
_NULLS = {
    POOLED: "studentised permutations of words in about as many documents",
    MAX_T: "step-down max-T over all words, studentised",
    OWN: "each word's own permutations",
}
_STATISTIC = "F of each word given the topics"


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is said of p words with r topics.

    method, assumption, statistic, words_null: for the reader; permutations: B, or all there are
    but one; smallest_p: the least that the global p can be, smallest_word_p a word's; global_p: of
    the mean of F; mixture_p: of |UᵀTU|²; both NaN where the method has none. F, r2 (partial R²),
    pvalues and qvalues (p): NaN for `left_out` constant words; still: how many words gave the
    topics, None for all; notes: what a user must be told.
    """

    method: str
    assumption: str
    statistic: str
    words_null: str
    rank: int
    permutations: int
    smallest_p: float
    smallest_word_p: float
    global_p: float
    mixture_p: float
    F: Float64
    r2: Float64
    pvalues: Float64
    qvalues: Float64
    left_out: int
    still: int | None
    notes: tuple[str, ...]


class Description(NamedTuple):
    """What was done, what it assumes, its statistic, and what words are held against."""

    method: str
    assumption: str
    statistic: str
    words_null: str


def describe_test(options: DriftOptions, hold: bool) -> Description:
    """Return how a test is told of; hold: whether the trend is held."""
    if options.test == F_TAIL:
        return Description(
            "tail of the F distribution", ASSUMPTION, _STATISTIC, "the F distribution"
        )
    kinds = _RESIDUALS if options.freedman_lane else _METHODS
    statistic, null = f"{_STATISTIC}; of all words its mean", _NULLS[options.null]
    return Description(kinds[options.permute], _assumption(options, hold), statistic, null)


def _assumption(options: DriftOptions, hold: bool) -> str:
    if options.freedman_lane:
        sentence = _RESIDUALS_ASSUME.format(" of its group" if options.permute == WITHIN else "")
    else:
        sentence = _ASSUMES[options.permute]
    return f"{sentence}; {_HELD}" if hold else sentence


def notes(
    options: DriftOptions, made: Permutations | None, tested: int, words: int, still: int | None,
    whole: tuple[float, float], least: float,
) -> tuple[str, ...]:  # fmt: skip
    """Return what a user must be told; made: None without permutations; whole: as of a verdict."""
    found = []
    if tested < words:
        are = several(words - tested, "word does", "words do")
        found.append(f"{are} not vary beside the topics: left out")
    if still is not None:
        what = f"topics are those of {still:,} of {tested:,} words judged still, which times chose"
        whole_p = "; the global p is of topics of all words" if made else ""
        found.append(what + whole_p if still < tested else "no word was judged to move")
    if made is None:
        return (*found, "the F distribution has no p for all words together")
    if made.complete:
        found.append(f"there are only {made.count:,} different permutations: all were made")
    if made.smallest_p > LEVEL:
        found.append(f"p cannot be below {made.smallest_p:.3g}: there are too few permutations")
    if options.null == OWN and least * tested > LEVEL:
        most = f"q of one word alone cannot be below {min(1.0, least * tested):.2g}"
        found.append(f"{most} with its own permutations: pool them, or make more")
    if whole[1] <= LEVEL < whole[0]:
        found.append(f"the mixture test rejects and the words' does not: {MIXTURE_REJECTED}")
    return tuple(found)

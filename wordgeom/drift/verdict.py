"""The verdict of a drift test, and the sentences that explain it."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.formatting import several
from wordgeom.core.types import Float64
from wordgeom.drift.options import (
    DOCUMENTS,
    F_TAIL,
    FLIPS,
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
    DOCUMENTS: "permutation of document times",
    WITHIN: "permutation of document times within groups",
}
_ASSUMPTIONS = {
    TIMES: "times are exchangeable: documents from the same time may be correlated, but neither "
    "the usage of any word nor the frequency or variance of any topic depends on time",
    DOCUMENTS: "documents are exchangeable across times: neither the usage of any word nor the "
    "frequency or variance of any topic depends on time, and documents from the same time are no "
    "more alike than others",
    WITHIN: "documents are exchangeable within groups: groups may differ, but within a group "
    "nothing depends on time, and documents from the same time are no more alike than others",
}
_FLIPS_ASSUMPTION = (
    "documents are independent given their times, and the topics describe which words occur "
    "together; the lengths of documents and the frequencies of words and topics may change"
)
_F_TAIL_ASSUMPTION = (
    "documents are independent, each word's noise is normal with constant variance, and the topics "
    "are known; topics are estimated from the tested words, so p is too small: in simulated counts "
    "a tenth of the unchanged words had p ≤ .05"
)
_HELD = "words may have frequency trends, which permutations allow for only approximately"
_NULLS = {
    POOLED: "studentised {} of words of similar frequency",
    MAX_T: "step-down max-T over all words, studentised",
    OWN: "each word's own {}",
}
_MIXTURE_REJECTED = (
    "the mixture test rejects, but the word test does not: the mixture of topics drifts, or many "
    "topics absorb the change of words"
)
_SCORES = (
    "squared length F of a word's score of change, 1 without change; the largest F of all words"
)
_STATISTIC = "F of each word given the topics"


@dataclass(frozen=True, eq=False)
class Verdict:
    """The result of testing p words with r topics.

    method, assumption, statistic, words_null: descriptions; permutations: their number, without
    the identity; smallest_p: smallest possible global p, smallest_word_p: of a word; global_p: of
    the mean F, or of the largest F of sign flips; mixture_p: of |UᵀTU|²; both NaN if the method has
    none. F, turn (degrees, of sign flips), r2 (partial R², of other tests), pvalues, qvalues (p):
    NaN for `left_out` words; still: number of words that gave the topics,
    None for all; notes: for the user.
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
    turn: Float64
    r2: Float64
    pvalues: Float64
    qvalues: Float64
    left_out: int
    still: int | None
    notes: tuple[str, ...]


def describe_test(options: DriftOptions, hold: bool) -> tuple[str, str, str, str]:
    """Return a test's method, its assumption, its statistic, and the null distribution of words.

    hold: whether the trend is held.
    """
    if options.test == FLIPS:
        method, null = "sign flips of documents' scores", _null(options, "sign flips")
        return method, _FLIPS_ASSUMPTION, _SCORES, null
    if options.test == F_TAIL:
        method, null = "tail of the F distribution", "the F distribution"
        return method, _F_TAIL_ASSUMPTION, _STATISTIC, null
    statistic, null = f"{_STATISTIC}; its mean over all words", _null(options, "permutations")
    return _METHODS[options.permute], _assumption(options, hold), statistic, null


def _null(options: DriftOptions, unit: str) -> str:
    return _NULLS[options.null].format(unit)


def _assumption(options: DriftOptions, hold: bool) -> str:
    sentence = _ASSUMPTIONS[options.permute]
    return f"{sentence}; {_HELD}" if hold else sentence


def verdict_notes(
    options: DriftOptions, permutations: Permutations | None, tested: int, words: int,
    still: int | None, global_ps: tuple[float, float], least: float,
) -> tuple[str, ...]:  # fmt: skip
    """Return notes for the user.

    global_ps: p of the mean F and of the mixture; least: the smallest possible p of a word.
    """
    notes = []
    if tested < words:
        are = several(words - tested, "word is", "words are")
        notes.append(f"{are} left out: no variance given the topics")
    if still is not None:
        notes.append(_still_note(still, tested, permutations is not None))
    if permutations is None:
        return (*notes, "the F test has no p for all words together")
    if permutations.complete:
        notes.append(f"all {permutations.count:,} distinct permutations were used")
    if permutations.smallest_p > LEVEL:
        notes.append(_few_note(options, permutations))
    if options.null == OWN and least * tested > LEVEL:
        bound = f"q of a single changed word cannot be below {min(1.0, least * tested):.2g}"
        notes.append(f"{bound}; use --null pooled or more --permutations")
    mean_p, mixture_p = global_ps
    if mixture_p <= LEVEL < mean_p:
        notes.append(_MIXTURE_REJECTED)
    return tuple(notes)


def flip_notes(
    untestable: int, least: int, empty: int, options: DriftOptions, smallest_p: float, tested: int
) -> tuple[str, ...]:
    """Return notes on a test by sign flips.

    untestable: number of words in fewer than `least` documents; empty: documents left out;
    smallest_p: of a word's own flips; tested: number of words.
    """
    notes = []
    if untestable:
        are = several(untestable, "word is", "words are")
        notes.append(f"{are} not tested: in fewer than {least} documents, or without scores")
    if empty:
        have = several(empty, "row has", "rows have")
        notes.append(f"{have} fewer than 2 tokens; left out of the test")
    if smallest_p > LEVEL:
        notes.append(f"p cannot be below {smallest_p:.3g}: use more --permutations")
    if options.null == OWN and smallest_p * tested > LEVEL:
        bound = f"q of a single changed word cannot be below {min(1.0, smallest_p * tested):.2g}"
        notes.append(f"{bound}; use --null pooled or more --permutations")
    return tuple(notes)


def _few_note(options: DriftOptions, permutations: Permutations) -> str:
    """Return what few permutations mean for p; pooled, they do not bound the p of a word."""
    whose = " of all words together" if options.null == POOLED else ""
    note = f"p{whose} cannot be below {permutations.smallest_p:.3g}: too few permutations"
    if options.null != POOLED:
        return note
    others = several(permutations.count - 1, "permutation", "permutations")
    return f"{note}; p of a word pools the same {others} of words of similar frequency"


def _still_note(still: int, tested: int, has_global_p: bool) -> str:
    if still == tested:
        return "topics are estimated from all words: none was found to move"
    what = f"topics are estimated from {still:,} of {tested:,} words, chosen as stable over time"
    return what + ("; the global p uses topics of all words" if has_global_p else "")

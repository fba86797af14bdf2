"""QVEC's feature matrix (the oracle): weighted linguistic features of words."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Float64
from wordgeom.evaluation.answers import Answers, Measure
from wordgeom.evaluation.exclusions import add_counts, count_reasons, with_exclusions
from wordgeom.evaluation.lines import SetFile, read_lines
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.qvec_measures import qvec, qvec_cca, qvec_cca_mean, underdetermined
from wordgeom.evaluation.resampling import JACKKNIFE
from wordgeom.evaluation.word_lookup import ZERO, Lookup, cover_words
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

# Resampling with replacement would repeat words, which are fitted too well.
MEASURES = (
    Measure("QVEC", qvec, JACKKNIFE),
    Measure("QVEC-CCA", qvec_cca, JACKKNIFE),
    Measure("QVEC-CCA mean", qvec_cca_mean, JACKKNIFE),
)
REPEATED = "repeated words"
_DO = 'write a word, a tab and {"feature": weight, …} on each line'
_PERMUTATIONS, _SEED = 5, 1  # of the chance level
_COPIES = 4  # of the feature matrix in memory, while it is standardised and decomposed


@dataclass(frozen=True)
class Oracle(SetFile):
    """Distinct words and the weights of their features."""

    words: tuple[str, ...]
    features: tuple[Mapping[str, float], ...]
    excluded: Mapping[str, int]

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        """Return the vectors (n × K), not normalised, as `given`, the features (n × P) as `gold`.

        P counts the features of in-vocabulary words. Raises InputError if no word has a vector, or
        if the feature matrix exceeds the memory limit.
        """
        covered = cover_words(self.words, Lookup(vectors, self.options, restrict=False))
        if not len(covered.items):
            reasons = count_reasons(covered.reasons)
            do = "train again" if ZERO in reasons else "check the language and --case"
            what = with_exclusions("none of its words has a vector", reasons)
            raise InputError(what, where=self.path, do=do)
        chosen = [self.features[item] for item in covered.items.tolist()]
        given, gold = vectors.matrix[covered.rows], self._table(chosen, context)
        excluded = add_counts(self.excluded, count_reasons(covered.reasons))
        notes = (self._dropped(gold), _overfit(given, gold), _chance(given, gold))
        return Answers("qvec", self.name, MEASURES, covered.items, given, gold, excluded,
                       notes=tuple(note for note in notes if note))  # fmt: skip

    def _table(self, chosen: Sequence[Mapping[str, float]], context: Context) -> Float64:
        """Return the feature matrix of the chosen words, columns in order of their names."""
        names = sorted({name for weights in chosen for name, weight in weights.items() if weight})
        if 8 * len(chosen) * len(names) * _COPIES > context.memory:
            size = f"{len(chosen):,} words × {len(names):,} features"
            what = f"the matrix of {size} exceeds --memory"
            raise InputError(what, where=self.path, do="raise --memory")
        column = {name: k for k, name in enumerate(names)}
        table = np.zeros((len(chosen), len(names)))
        for row, weights in enumerate(chosen):
            for name, weight in weights.items():
                if weight:
                    table[row, column[name]] = weight
        return table

    def _dropped(self, gold: Float64) -> str:
        names = {name for weights in self.features for name in weights}
        dropped = len(names) - gold.shape[1]
        return f"left out: {dropped} (features without an in-vocabulary word)" if dropped else ""


def read_oracle(path: str | Path, options: EvalOptions) -> Oracle:
    """Read lines of a word, a tab and a JSON object of feature → weight.

    Lines that repeat a word are left out. Raises what `read_lines` raises, and InputError for
    a malformed line, naming the line.
    """
    features: dict[str, dict[str, float]] = {}
    repeated = 0
    for number, line in read_lines(path):
        where = f"{path} line {number}"
        word, tab, weights = line.partition("\t")
        word = word.strip()
        if not tab or not word:
            what = "expected a word and its features"
            raise InputError(what, where=where, found=_short(line), do=_DO)
        repeated += word in features
        features.setdefault(word, _weights(weights, where))
    excluded = add_counts({REPEATED: repeated})
    return Oracle(str(path), options, tuple(features), tuple(features.values()), excluded)


def _weights(text: str, where: str) -> dict[str, float]:
    """Return a parsed JSON object whose values are all finite numbers."""
    try:
        parsed = json.loads(text, object_pairs_hook=_unrepeated)
        return {name: _number(value) for name, value in parsed.items()}
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        what = "features must be a JSON object of finite numbers"
        raise InputError(what, where=where, found=_short(text), do=_DO) from None


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError
    return float(value)


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise ValueError("repeated name")
    return unique


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")


def _overfit(given: Any, gold: Float64) -> str:
    if not underdetermined(given, gold):
        return ""
    return f"QVEC-CCA is undefined: {len(gold)} words are too few for the dimensions and features"


def _chance(given: Array, gold: Float64) -> str:
    """Return the mean scores of permuted rows, which agree with the features by chance alone."""
    rng = np.random.default_rng(_SEED)
    permuted = [given[rng.permutation(len(given))] for _ in range(_PERMUTATIONS)]
    means = {each.name: np.mean([each.of(rows, gold) for rows in permuted]) for each in MEASURES}
    found = [f"{name} {mean:.4f}" for name, mean in means.items() if np.isfinite(mean)]
    return f"chance level, with rows permuted: {', '.join(found)}" if found else ""

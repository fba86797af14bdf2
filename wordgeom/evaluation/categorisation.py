"""Categorisation: words are clustered by their vectors, and the clusters held against classes.

k-means on unit vectors, as many clusters as there are classes (Baroni, Dinu and Kruszewski 2014,
§3, ask the same of another clustering).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Float32, Int64
from wordgeom.evaluation.answers import JACKKNIFE, Answers, Measure
from wordgeom.evaluation.clustering_measures import adjusted_rand, purity
from wordgeom.evaluation.coverage import cover_words
from wordgeom.evaluation.duplicates import (
    add_counts,
    count_reasons,
    exclusion_reasons,
    with_exclusions,
)
from wordgeom.evaluation.estimators import deterministic_estimators
from wordgeom.evaluation.fields import split_fields
from wordgeom.evaluation.lines import read_lines, set_name
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.word_lookup import Lookup, unit_rows
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

# Repeated items would fit their cluster's most common class, and each other, too well.
MEASURES = (
    Measure("purity", purity, JACKKNIFE),
    Measure("adjusted Rand index", adjusted_rand, JACKKNIFE),
)
REPEATED = "repeated lines"
CONTRADICTORY = "lines of words in more than one class"
ALONE = "words alone in their class"
_HEADERS = ("class", "category")
_DO = "check the order (word, class), language and --case"
_STARTS = 10  # of k-means; the best of them counts


@dataclass(frozen=True)
class Categories:
    """Words, each once, and the class of each."""

    name: str
    path: str
    words: tuple[str, ...]
    classes: tuple[str, ...]
    excluded: Mapping[str, int]
    options: EvalOptions

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        """Return each word's cluster (n) int64 as `given` and its class as `gold`.

        Raises InputError where fewer than two classes have two covered words.
        """
        covered = cover_words(self.words, Lookup(vectors, self.options, restrict=False))
        classes = self._ids()[covered.items]
        sizes = np.bincount(classes)
        several = int(np.sum(sizes > 1))
        kept = sizes[classes] > 1
        alone = {ALONE: int(np.sum(~kept))}
        excluded = add_counts(self.excluded, count_reasons(covered.reasons), alone)
        if several < 2:
            found = with_exclusions(f"{several} of {len(set(self.classes))}", excluded)
            what = "needs two classes of at least two words that have vectors"
            raise InputError(what, where=self.path, found=found, do=_DO)
        unit = unit_rows(vectors.matrix[covered.rows[kept]])
        given, notes = _clusters(unit, several, context)
        items, gold = covered.items[kept], classes[kept]
        total = len(given) + sum(excluded.values())
        return Answers("categories", self.name, MEASURES, items, given, gold, total, excluded,
                       notes=notes)  # fmt: skip

    def _ids(self) -> Int64:
        """Return the number of each word's class, in order of their names."""
        number = {name: k for k, name in enumerate(sorted(set(self.classes)))}
        return np.array([number[name] for name in self.classes], np.int64)


def read_categories(path: str | Path, options: EvalOptions) -> Categories:
    """Read `word class` lines, separated by a tab, a comma or blanks, with or without a header.

    With a tab or a comma a class may hold blanks, and fields may be quoted, as in CSV. A word in
    two classes is left out with all its lines, a repeated line once. Raises InputError naming a
    line without a class.
    """
    lines = read_lines(path)
    separator = next((sign for sign in "\t," if all(sign in line for _, line in lines)), "")
    pairs = [_pair(line, separator, f"{path} line {number}") for number, line in lines]
    if pairs[0][0].lower() == "word" and pairs[0][1].lower() in _HEADERS:
        del pairs[0]
    words, classes = [word for word, _ in pairs], [name for _, name in pairs]
    reasons = exclusion_reasons(words, classes, REPEATED, CONTRADICTORY)
    kept = [pair for pair, reason in zip(pairs, reasons, strict=True) if not reason]
    return Categories(
        set_name(path), str(path), tuple(word for word, _ in kept), tuple(name for _, name in kept),
        count_reasons(reasons), options,
    )  # fmt: skip


def _pair(line: str, separator: str, where: str) -> tuple[str, str]:
    fields = [field.strip() for field in split_fields(line, separator, where)]
    if len(fields) != 2 or not all(fields):
        do = "give a word and its class a line; a class with blanks needs a tab before it"
        raise InputError("is not a word and a class", where=where, found=repr(line[:60]), do=do)
    return fields[0], fields[1]


def _clusters(unit: Float32, clusters: int, context: Context) -> tuple[Int64, tuple[str, ...]]:
    """Return the cluster of each row (n), and a note where there are fewer than asked for."""
    from sklearn.cluster import KMeans

    seed = int(np.random.default_rng(context.seed).integers(2**31))
    model = KMeans(clusters, n_init=_STARTS, random_state=seed)
    with deterministic_estimators():
        labels = context.pool.call(lambda: model.fit_predict(unit.astype(np.float64)))
    found = len(np.unique(labels))
    note = f"k-means found {found} clusters, not {clusters}: too many vectors are the same"
    return np.asarray(labels, np.int64), (note,) if found < clusters else ()

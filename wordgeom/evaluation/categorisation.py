"""Word categorisation: cluster words by their vectors and compare the clusters with classes.

k-means on unit vectors with as many clusters as classes (Baroni, Dinu and Kruszewski 2014, §3,
define the task with another clustering).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural
from wordgeom.core.types import Array, Float32, Int64
from wordgeom.evaluation.answers import Answers, Measure
from wordgeom.evaluation.estimators import deterministic_estimators
from wordgeom.evaluation.exclusions import add_counts, count_reasons, exclusions, with_exclusions
from wordgeom.evaluation.lines import SetFile, read_lines, split_fields
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.resampling import JACKKNIFE
from wordgeom.evaluation.word_lookup import Lookup, cover_words, unit_rows
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

REPEATED = "repeated lines"
CONTRADICTORY = "lines of words in more than one class"
ALONE = "words alone in their class"
_HEADERS = ("class", "category")
_DO = "check the column order (word, class), the language and --case"
_STARTS = 10  # of k-means; the best one is used


def purity(clusters: Array, classes: Array) -> float:
    """Return the share of items (n) that belong to the most common class of their cluster.

    Increases with the number of clusters (Manning, Raghavan and Schütze 2008, §16.3); nan if n = 0.
    """
    from sklearn.metrics.cluster import contingency_matrix

    if not len(clusters):
        return np.nan
    table = contingency_matrix(classes, clusters)  # classes × clusters
    return float(table.max(axis=0).sum() / len(clusters))


def adjusted_rand(clusters: Array, classes: Array) -> float:
    """Return the adjusted Rand index: 0 expected by chance, 1 if clusters equal classes.

    Hubert and Arabie (1985), eq. 5. 1 if both partitions are trivial; nan if n < 2.
    """
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(classes, clusters)) if len(clusters) >= 2 else np.nan


# Resampling with replacement would repeat items, which always agree with each other.
MEASURES = (
    Measure("purity", purity, JACKKNIFE, most=1.0),
    Measure("adjusted Rand index", adjusted_rand, JACKKNIFE, most=1.0),
)


@dataclass(frozen=True)
class Categories(SetFile):
    """Distinct words and their classes."""

    words: tuple[str, ...]
    classes: tuple[str, ...]
    excluded: Mapping[str, int]

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        """Return each word's cluster (n) int64 as `given` and its class as `gold`.

        Raises InputError if fewer than two classes have two words with vectors.
        """
        covered = cover_words(self.words, Lookup(vectors, self.options, restrict=False))
        classes = self._ids()[covered.items]
        sizes = np.bincount(classes)
        count = int(np.sum(sizes > 1))
        used = sizes[classes] > 1
        alone = {ALONE: int(np.sum(~used))}
        excluded = add_counts(self.excluded, count_reasons(covered.reasons), alone)
        if count < 2:
            found = with_exclusions(f"{count} of {len(set(self.classes))}", excluded)
            what = "needs at least two classes with two in-vocabulary words each"
            raise InputError(what, where=self.path, found=found, do=_DO)
        unit = unit_rows(vectors.matrix[covered.rows[used]])
        given, notes = _clusters(unit, count, context)
        return Answers("categories", self.name, MEASURES, covered.items[used], given, classes[used],
                       excluded, notes=notes)  # fmt: skip

    def _ids(self) -> Int64:
        """Return each word's class (n) as an index into the sorted class names."""
        number = {name: k for k, name in enumerate(sorted(set(self.classes)))}
        return np.array([number[name] for name in self.classes], np.int64)


def read_categories(path: str | Path, options: EvalOptions) -> Categories:
    """Read `word class` lines, separated by a tab, a comma or white space; a header is optional.

    With a tab or a comma a class may contain spaces, and fields may be quoted, as in CSV. All lines
    of a word in two classes are left out, and so are repeated lines. Raises InputError for a line
    without one word and one class, naming the line.
    """
    lines = read_lines(path)
    delimiter = next((sign for sign in "\t," if all(sign in line for _, line in lines)), "")
    pairs = [_pair(line, delimiter, f"{path} line {number}") for number, line in lines]
    if pairs[0][0].lower() == "word" and pairs[0][1].lower() in _HEADERS:
        del pairs[0]
    words, classes = [word for word, _ in pairs], [name for _, name in pairs]
    reasons = exclusions(words, classes, REPEATED, CONTRADICTORY)
    used = [pair for pair, reason in zip(pairs, reasons, strict=True) if not reason]
    return Categories(str(path), options, tuple(word for word, _ in used),
                      tuple(name for _, name in used), count_reasons(reasons))  # fmt: skip


def _pair(line: str, delimiter: str, where: str) -> tuple[str, str]:
    fields = [field.strip() for field in split_fields(line, delimiter, where)]
    if len(fields) != 2 or not all(fields):
        do = "write a word and a class on each line, with a tab if the class has spaces"
        raise InputError("expected a word and a class", where=where, found=repr(line[:60]), do=do)
    return fields[0], fields[1]


def _clusters(unit: Float32, clusters: int, context: Context) -> tuple[Int64, tuple[str, ...]]:
    """Return the cluster of each row (n), and a note if k-means found fewer than `clusters`."""
    from sklearn.cluster import KMeans

    seed = int(np.random.default_rng(context.seed).integers(2**31))
    model = KMeans(clusters, n_init=_STARTS, random_state=seed)
    with deterministic_estimators():
        labels = context.pool.call(lambda: model.fit_predict(unit.astype(np.float64)))
    count = len(np.unique(labels))
    found = plural(count, "cluster")
    note = f"k-means found {found} instead of {clusters}: too many vectors are equal"
    return np.asarray(labels, np.int64), (note,) if count < clusters else ()

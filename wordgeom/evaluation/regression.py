"""Regression of numbers on texts or protein sequences, from mean vectors.

A Gaussian process with a Matérn 5/2 kernel and noise, as in Khalife, Gonçalves and Liberti
(2022), §5.1 and Table 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import exceeding
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.evaluation.answers import Answers, Measure
from wordgeom.evaluation.cross_validation import TRAIN_ONLY, assign_folds, predict
from wordgeom.evaluation.exclusions import add_counts, count_reasons, exclusions
from wordgeom.evaluation.gaussian_process import MAX_TEXTS, fit_bytes, gaussian_process
from wordgeom.evaluation.lines import SetFile
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.target_tables import Target, read_table
from wordgeom.evaluation.text_vectors import UNKNOWN, Averages, averages
from wordgeom.evaluation.word_lookup import Lookup
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

MISSING = "texts without a target"
REPEATED = "repeated texts"
CONTRADICTORY = "texts with more than one target"
_MIN_TEXTS = 2  # in a training set


def r_squared(predicted: Array, targets: Array) -> float:
    """Return 1 − Σ(y − ŷ)² / Σ(y − ȳ)²; nan if all targets are equal."""
    if not len(targets) or np.ptp(targets) == 0:
        return np.nan
    errors, deviations = targets - predicted, targets - targets.mean()
    return float(1 - errors @ errors / (deviations @ deviations))


def mean_absolute_error(predicted: Array, targets: Array) -> float:
    """Return the mean of |y − ŷ|; nan without texts; lower is better."""
    return float(np.mean(np.abs(targets - predicted))) if len(targets) else np.nan


MEASURES = (Measure("R²", r_squared), Measure("mean absolute error", mean_absolute_error))


@dataclass(frozen=True)
class Targets(SetFile):
    """Distinct texts with their targets.

    train_only (n) bool: texts that the file assigns to the training set. excluded: number of lines
    left out of the test set, by reason; train_excluded: of the training set.
    """

    texts: tuple[str, ...]
    values: Float64
    train_only: Array
    excluded: Mapping[str, int]
    train_excluded: Mapping[str, int]

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        """Return each test text's predicted number (n) float64 as `given`, its target as `gold`.

        Raises InputError for fewer than two training texts or no test text with in-vocabulary
        words, and for more than 5,000 training texts.
        """
        lookup = Lookup(vectors, self.options, restrict=False)
        known = averages(self.texts, lookup, self.options.kmer, context, self.path)
        train_only = self.train_only[known.items]
        items = known.items[~train_only]
        fold, notes = self._folds(train_only, context)
        given, problems = self._predict(known, fold, context)
        unknown = int(np.sum(~self.train_only)) - len(items)
        excluded = add_counts(self.excluded, {UNKNOWN: unknown})
        notes += self._train_notes(int(self.train_only.sum() - train_only.sum())) + problems
        gold = self.values[items]
        if len(gold) and np.ptp(gold) == 0:
            notes.append("R² is undefined: all targets are equal")
        return Answers("regression", self.name, MEASURES, items, given[~train_only], gold, excluded,
                       notes=tuple(notes))  # fmt: skip

    def _folds(self, train_only: Array, context: Context) -> tuple[Int64, list[str]]:
        """Return the fold of each text with a vector: the file's split, or equal folds."""
        test, train = int(np.sum(~train_only)), int(np.sum(train_only))
        split = bool(self.train_only.any())
        folds = min(self.options.folds, test)
        largest = train if split else test - test // max(folds, 1)
        if not test or largest < _MIN_TEXTS:
            found = f"{test} to predict" + (f", {train} to train on" if split else "")
            what = "too few texts with in-vocabulary words"
            do = "check the vectors, --kmer and --case"
            raise InputError(what, where=self.path, found=found, do=do)
        if largest > MAX_TEXTS:
            what = f"a Gaussian process can train on at most {MAX_TEXTS:,} texts"
            raise InputError(what, where=self.path, found=f"{largest:,}", do="use a sample")
        if split:
            return np.where(train_only, TRAIN_ONLY, 0), []
        fold = assign_folds(np.zeros(test, np.int64), folds, np.random.default_rng(context.seed))
        few = f"{folds} folds instead of {self.options.folds}: there are only {folds} texts"
        return fold, [few] if folds < self.options.folds else []

    def _predict(self, known: Averages, fold: Int64, context: Context) -> tuple[Float64, list[str]]:
        """Return a prediction for each text with a vector, 0 for training texts, and notes."""
        need = fit_bytes(len(fold))
        if need > context.memory:
            need_text, limit = exceeding(need, context.memory)
            what = f"a Gaussian process needs {need_text}, more than the memory limit of {limit}"
            raise InputError(what, where=self.path, do="raise --memory or use a sample")
        fit = gaussian_process(known.means, self.values[known.items])
        given, problems = predict(fit, fold, context, need)
        models, counts = len(np.unique(fold[fold != TRAIN_ONLY])), Counter(problems).items()
        return given, [f"{n} of {models} Gaussian processes {problem}" for problem, n in counts]

    def _train_notes(self, unknown: int) -> list[str]:
        excluded = add_counts(self.train_excluded, {UNKNOWN: unknown})
        return [f"left out of training: {n:,} ({reason})" for reason, n in excluded.items()]


def read_targets(path: str | Path, options: EvalOptions) -> Targets:
    """Read a table in the format of `read_table`; raises what it raises.

    Repeats of a text with the same target are left out, and so are all rows of a text with several
    targets.
    """
    table = read_table(path)
    judged = list(zip(table, _reasons(table), strict=True))
    used = [row for row, reason in judged if not reason]
    excluded, train_excluded = (
        count_reasons(reason for row, reason in judged if row.train_only == train_only)
        for train_only in (False, True)
    )
    return Targets(
        str(path), options, tuple(row.text for row in used),
        np.array([row.value for row in used], np.float64),
        np.array([row.train_only for row in used], bool), excluded, train_excluded,
    )  # fmt: skip


def _reasons(table: Sequence[Target]) -> list[str]:
    """Return the reason why each row is left out, "" for rows that are used."""
    complete = [row for row in table if np.isfinite(row.value)]
    reasons = iter(exclusions(
        [row.text for row in complete], [row.value for row in complete], REPEATED, CONTRADICTORY
    ))  # fmt: skip
    return [next(reasons) if np.isfinite(row.value) else MISSING for row in table]

"""Regression: a number for each text or protein sequence, learned from the averages of others.

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
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.evaluation.answers import Answers, Measure
from wordgeom.evaluation.cross_validation import TRAIN_ONLY, assign_folds, predict
from wordgeom.evaluation.duplicates import add_counts, count_reasons, exclusion_reasons
from wordgeom.evaluation.gaussian_process import MAX_TEXTS, fit_bytes, gaussian_process
from wordgeom.evaluation.lines import set_name
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.target_tables import Target, read_table
from wordgeom.evaluation.text_vectors import UNKNOWN, Averages, averages
from wordgeom.evaluation.word_lookup import Lookup
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

MISSING = "texts without a target"
REPEATED = "repeated texts"
CONTRADICTORY = "texts with more than one target"
_FEWEST = 2  # texts to learn from


def r_squared(predicted: Array, targets: Array) -> float:
    """Return 1 − Σ(y − ŷ)² / Σ(y − ȳ)², nan where the targets are all the same."""
    if not len(targets) or np.ptp(targets) == 0:
        return np.nan
    off, spread = targets - predicted, targets - targets.mean()
    return float(1 - off @ off / (spread @ spread))


def mean_absolute_error(predicted: Array, targets: Array) -> float:
    """Return the mean of |y − ŷ|, nan without a text; lower is better."""
    return float(np.mean(np.abs(targets - predicted))) if len(targets) else np.nan


MEASURES = (Measure("R²", r_squared), Measure("mean absolute error", mean_absolute_error))


@dataclass(frozen=True)
class Targets:
    """Texts, each once, with their numbers; those to learn from only, where the file says so.

    unasked: lines to learn from that were left out, by reason; excluded: other lines.
    """

    name: str
    path: str
    texts: tuple[str, ...]
    values: Float64
    learned: Array
    excluded: Mapping[str, int]
    unasked: Mapping[str, int]
    options: EvalOptions

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        """Return each asked text's predicted number (n) float64 and its own as `gold`.

        Raises InputError where there are fewer than two texts to learn from, or none to ask, with
        a known word, and where more than 5,000 would be learned from.
        """
        lookup = Lookup(vectors, self.options, restrict=False)
        found = averages(self.texts, lookup, self.options.kmer, context, self.path)
        learned = self.learned[found.items]
        asked = found.items[~learned]
        fold, notes = self._folds(learned, context)
        given, more = self._predict(found, fold, context)
        unknown = int(np.sum(~self.learned)) - len(asked)
        excluded = add_counts(self.excluded, {UNKNOWN: unknown})
        notes += self._unasked(int(self.learned.sum() - learned.sum())) + more
        gold = self.values[asked]
        if len(gold) and np.ptp(gold) == 0:
            notes.append("the targets are all the same: there is no R²")
        total = len(asked) + sum(excluded.values())
        return Answers("regression", self.name, MEASURES, asked, given[~learned], gold, total,
                       excluded, notes=tuple(notes))  # fmt: skip

    def _folds(self, learned: Array, context: Context) -> tuple[Int64, list[str]]:
        """Return each covered text's fold: the file's split, or folds of equal size."""
        ask, learn = int(np.sum(~learned)), int(np.sum(learned))
        split = bool(self.learned.any())
        folds = min(self.options.folds, ask)
        most = learn if split else ask - ask // max(folds, 1)
        if not ask or most < _FEWEST:
            found = f"{ask} to predict" + (f", {learn} to learn from" if split else "")
            what, do = "too few texts with a known word", "check the vectors, --kmer and --case"
            raise InputError(what, where=self.path, found=found, do=do)
        if most > MAX_TEXTS:
            what = f"a Gaussian process learns from {MAX_TEXTS:,} texts at most"
            raise InputError(what, where=self.path, found=f"{most:,}", do="take a sample")
        if split:
            return np.where(learned, TRAIN_ONLY, 0), []
        fold = assign_folds(np.zeros(ask, np.int64), folds, np.random.default_rng(context.seed))
        few = f"{folds} folds, not {self.options.folds}: there are no more texts"
        return fold, [few] if folds < self.options.folds else []

    def _predict(self, found: Averages, fold: Int64, context: Context) -> tuple[Float64, list[str]]:
        """Return each covered text's prediction, 0 for those only learned from, and remarks."""
        targets = self.values[found.items]
        need = fit_bytes(len(fold))
        if need > context.memory:
            size = f"{need / 1e9:.1f} GB"
            do = "raise it, or take a sample"
            raise InputError("does not fit --memory", where=self.path, found=size, do=do)
        given, remarks = predict(gaussian_process(found.means, targets), fold, context, need)
        models = len(np.unique(fold[fold != TRAIN_ONLY]))
        told = Counter(remarks).items()
        return given, [f"{n} of {models} Gaussian processes {remark}" for remark, n in told]

    def _unasked(self, unknown: int) -> list[str]:
        left = add_counts(self.unasked, {UNKNOWN: unknown})
        return [f"left out of what is learned from: {n} {reason}" for reason, n in left.items()]


def read_targets(path: str | Path, options: EvalOptions) -> Targets:
    """Read a table with a header, as `targets.read_table` explains; raises what it raises.

    Of the same text with the same target the first is kept; with several targets, none.
    """
    table = read_table(path)
    reasons = _reasons(table)
    kept = [row for row, reason in zip(table, reasons, strict=True) if not reason]
    return Targets(
        set_name(path), str(path), tuple(row.text for row in kept),
        np.array([row.value for row in kept], np.float64),
        np.array([row.learned for row in kept], bool),
        _left(table, reasons, learned=False), _left(table, reasons, learned=True), options,
    )  # fmt: skip


def _reasons(table: Sequence[Target]) -> list[str]:
    """Return for each row why it is left out, "" where it stays."""
    whole = [row for row in table if np.isfinite(row.value)]
    reasons = iter(exclusion_reasons(
        [row.text for row in whole], [row.value for row in whole], REPEATED, CONTRADICTORY
    ))  # fmt: skip
    return [next(reasons) if np.isfinite(row.value) else MISSING for row in table]


def _left(table: Sequence[Target], reasons: Sequence[str], *, learned: bool) -> dict[str, int]:
    return count_reasons(
        reason for row, reason in zip(table, reasons, strict=True) if row.learned == learned
    )

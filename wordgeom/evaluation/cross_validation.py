"""Each item predicted once, by a model that did not learn from it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.evaluation.estimators import deterministic_estimators
from wordgeom.runtime.context import Context

TRAIN_ONLY = -1  # the fold of items that are only learned from
Fit = Callable[[Int64, Int64], tuple[Array, str]]


def assign_folds(labels: Int64, folds: int, rng: np.random.Generator) -> Int64:
    """Return each item's fold (n): shuffled, and each label's items spread evenly over folds.

    labels (n) int64, all the same where there are none. Sizes of folds, and the numbers of one
    label in them, differ by at most 1.
    """
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), np.int64)
    fold[order] = np.arange(len(labels)) % folds
    return fold


def predict(fit: Fit, fold: Int64, context: Context, fit_bytes: int = 0) -> tuple[Array, list[str]]:
    """Return what each fold's model says of its items (n), 0 for TRAIN_ONLY ones, and remarks.

    fit(learned, asked) takes positions (int64) and returns the answers to those asked and a
    remark, "" for none. Models are fitted on threads, as many at once as memory allows.
    """
    numbers = [int(number) for number in np.unique(fold[fold != TRAIN_ONLY])]
    ahead = 2 * context.pool.threads
    if fit_bytes:
        ahead = max(0, min(ahead, context.memory // fit_bytes - 1))
    with deterministic_estimators():
        done = context.pool.map(partial(_one, fit, fold), numbers, ahead)
        shown = context.progress.follow(done, "learning", len(numbers), "folds", lambda _: 1)
        results = list(shown)
    predicted = np.zeros(len(fold), results[0][0].dtype)
    for number, (answers, _) in zip(numbers, results, strict=True):
        predicted[fold == number] = answers
    return predicted, [remark for _, remark in results if remark]


def _one(fit: Fit, fold: Int64, number: int) -> tuple[Array, str]:
    return fit(np.flatnonzero(fold != number), np.flatnonzero(fold == number))


def standardised(learned: Float64, asked: Float64) -> tuple[Float64, Float64]:
    """Return both (n × K) less the learned ones' means, by their standard deviations."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(learned)
    return scaler.transform(learned), scaler.transform(asked)

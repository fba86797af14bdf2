"""Cross-validation: predict each item once, by a model that was not trained on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.evaluation.estimators import deterministic_estimators
from wordgeom.runtime.block_map import map_blocks
from wordgeom.runtime.context import Context
from wordgeom.runtime.scheduler import Result

LEAST_PAIRS = 3  # of a part of a fold of words, for a correlation
TRAIN_ONLY = -1  # the fold of items that are in every training set
Fit = Callable[[Int64, Int64], tuple[Array, str]]  # (train, test) → predictions, problem


def assign_folds(labels: Int64, folds: int, rng: np.random.Generator) -> Int64:
    """Return a random stratified fold for each item (n) int64.

    labels (n) int64, constant for unlabelled items. The sizes of folds, and the number of items of
    one label in them, differ by at most 1.
    """
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), np.int64)
    fold[order] = np.arange(len(labels)) % folds
    return fold


def word_folds(
    left: Int64, right: Int64, scores: Float64, *, folds: int, repeats: int, seed: int
) -> Iterator[tuple[Int64, Int64]]:
    """Yield the pairs to train on and the held-out pairs of each usable fold of the words.

    left, right (n) int64: the words of each pair, numbered from 0; scores (n). A pair is held out
    if one of its words is, so that held-out pairs have a word that no training pair has: with folds
    of pairs, a model that moves only the words it was trained on would look better than it is. A
    fold is usable if both parts have three pairs or more, and different scores.
    """
    rng = np.random.default_rng(seed)
    words = 1 + max(left.max(initial=-1), right.max(initial=-1))
    for _ in range(repeats):
        fold: Int64 = rng.permutation(words) % folds
        for number in range(folds):
            held = (fold[left] == number) | (fold[right] == number)
            train, test = np.flatnonzero(~held), np.flatnonzero(held)
            if all(len(part) >= LEAST_PAIRS and np.ptp(scores[part]) for part in (train, test)):
                yield train, test


def predict(fit: Fit, fold: Int64, context: Context, fit_bytes: int = 0) -> tuple[Array, list[str]]:
    """Return the prediction for each item (n), 0 for TRAIN_ONLY items, and the models' problems.

    fit(train, test) takes indices (int64) and returns predictions for `test` and a description of
    any problem, or "". Models are fitted in parallel, as many at once as memory allows; fit_bytes:
    memory of one fit, 0 if negligible.
    """
    numbers = [int(number) for number in np.unique(fold[fold != TRAIN_ONLY])]
    ahead = 2 * context.pool.threads
    if fit_bytes:
        ahead = max(0, min(ahead, context.memory // fit_bytes - 1))
    with deterministic_estimators():
        done = map_blocks(partial(_predict_fold, fit), numbers, fold, context, "fold", ahead=ahead)
        shown = context.progress.follow(done, "fitting", len(numbers), "folds", lambda _: 1)
        results = list(shown)
    predicted = np.zeros(len(fold), results[0]["answers"].dtype)
    for number, result in zip(numbers, results, strict=True):
        predicted[fold == number] = result["answers"]
    problems = [result["problem"].tobytes().decode() for result in results]
    return predicted, [problem for problem in problems if problem]


def _predict_fold(fit: Fit, number: int, fold: Int64) -> Result:
    """Return the answers to the items of a fold, and any problem as UTF-8."""
    answers, problem = fit(np.flatnonzero(fold != number), np.flatnonzero(fold == number))
    return {"answers": answers, "problem": np.frombuffer(problem.encode(), np.uint8)}


def standardised(train: Float64, test: Float64) -> tuple[Float64, Float64]:
    """Return both (n × K) standardised by the means and standard deviations of `train`."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(train)
    return scaler.transform(train), scaler.transform(test)

"""Folds of words: what is held out, what is usable, repeatable."""

from __future__ import annotations

import numpy as np
import pytest

from wordgeom.evaluation.cross_validation import word_folds

WORDS, PAIRS = 40, 150


def random_pairs(seed=18):
    rng = np.random.default_rng(seed)
    left, right = np.triu_indices(WORDS, 1)
    some = rng.choice(len(left), PAIRS, replace=False)
    return left[some], right[some], rng.uniform(0, 10, PAIRS)


def folds_of(left, right, scores, *, folds=5, repeats=3, seed=0):
    return list(word_folds(left, right, scores, folds=folds, repeats=repeats, seed=seed))


def test_each_held_out_pair_has_a_word_of_no_training_pair():
    left, right, scores = random_pairs()
    made = folds_of(left, right, scores)
    assert len(made) == 15
    for train, held in made:
        seen = {*left[train], *right[train]}
        assert all(not {left[pair], right[pair]} <= seen for pair in held)
        np.testing.assert_array_equal(np.sort(np.concatenate((train, held))), np.arange(PAIRS))


def test_each_pair_is_held_out_once_or_twice_in_a_repeat():
    left, right, scores = random_pairs()
    held = np.concatenate([held for _, held in folds_of(left, right, scores, repeats=1)])
    times = np.bincount(held, minlength=PAIRS)
    assert set(times) == {1, 2}


def test_the_seed_decides():
    pairs = random_pairs()
    first, again, other = (folds_of(*pairs, seed=seed) for seed in (1, 1, 2))
    for (a, b), (c, d) in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)
    assert any(len(a[1]) != len(b[1]) or (a[1] != b[1]).any()
               for a, b in zip(first, other, strict=True))  # fmt: skip


@pytest.mark.parametrize("case", ["star", "constant", "few", "none"])
def test_folds_without_a_correlation_are_left_out(case):
    left, right, scores = random_pairs()
    if case == "star":  # the common word is in one fold of a repeat, which leaves no training pair
        left = np.zeros_like(left)
        usable = folds_of(left, right, scores, repeats=1)
        assert len(usable) == 4
        return
    number = {"constant": PAIRS, "few": 5, "none": 0}[case]
    scores = np.ones_like(scores) if case == "constant" else scores
    assert folds_of(left[:number], right[:number], scores[:number]) == []

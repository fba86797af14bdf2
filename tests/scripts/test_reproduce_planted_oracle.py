"""scripts/reproduce/planted_oracle: predictions for unseen speeches, F and thresholds."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse, stats

import wordgeom

pytest.importorskip("sklearn", reason="the classifier is scikit-learn's")
sys.path.insert(0, str(Path(wordgeom.__file__).parent.parent / "scripts" / "reproduce"))

from planted_oracle import _WINDOWS, Found, Planted, contexts, f_test, predictions, table
from planted_text import Speeches
from planted_words import PLANTED, Pseudo

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


def test_predictions_are_for_speeches_that_the_classifier_has_not_seen():
    """Each speech has words of its own, which say nothing about another."""
    rng = np.random.default_rng(1)
    speech = np.repeat(np.arange(60), 5)
    donor = np.repeat(rng.random(60) < 0.5, 5)
    own = sparse.csr_matrix((np.ones(300), (np.arange(300), speech)), (300, 61))
    assert np.ptp(predictions(own, donor, speech)) < 0.35
    told = sparse.hstack([own, sparse.csr_matrix(donor[:, None] * 3.0)]).tocsr()
    predicted = predictions(told, donor, speech)
    assert predicted[donor].min() > predicted[~donor].max()


def test_f_of_equal_weights_and_a_step_is_that_of_two_samples():
    rng = np.random.default_rng(2)
    y, step = rng.normal(size=40), np.arange(40)[:, None] >= 15
    p = f_test(y, step.astype(float), np.ones(40, np.int64))
    assert p == pytest.approx(stats.ttest_ind(y[:15], y[15:]).pvalue)


def test_a_mean_of_several_uses_weighs_as_much_as_they_do():
    rng = np.random.default_rng(3)
    y, t = rng.normal(size=30), rng.random((30, 2))
    uses = rng.integers(1, 4, 30)
    mean, part = y.copy(), t.copy()
    slope = [f_test(mean, part, scale * uses) for scale in (1, 7)]
    assert slope[0] == pytest.approx(slope[1])
    weighted = np.polynomial.Polynomial.fit(part[:, 0], mean, 1, w=np.sqrt(uses))
    rest = uses @ (mean - weighted(part[:, 0])) ** 2
    total = uses @ (mean - np.average(mean, weights=uses)) ** 2
    p = stats.f.sf((total - rest) / (rest / 28), 1, 28)
    assert f_test(mean, part[:, :1], uses) == pytest.approx(p)


def test_contexts_end_at_the_speech_and_lack_the_two_words():
    tokens = np.array([0, 2, 1, 3, 4, 0, 2, 2, 1], np.int32)  # speeches 0 2 1 3 and 4 0 2 2 1
    text = Speeches(np.array([1990, 1991]), tokens, np.array([0, 4, 9]), list("abcde"))
    planted = Planted(text, text, [], np.ones(5))
    at = np.flatnonzero(tokens < 2)
    X = contexts(planted, at, Pseudo("new", "step", 0.5, recipient=0, donor=1), _WINDOWS)
    within_75 = np.isclose(X.toarray(), 0.1).sum(axis=1)
    assert within_75.tolist() == [2, 2, 2, 2]  # words 2 and 3, or 2 and 4


def test_words_are_found_at_the_threshold_of_benjamini_and_hochberg():
    found = [
        Found(Pseudo("new", kind, 0.5, recipient=0, donor=1), 300, 0.9, (p, p, p, p))
        for kind, p in zip(PLANTED, (1e-9, 1e-4, 2.2e-4, 0.5), strict=True)
    ]
    row = list(table(found, vocabulary=1000))[3].split("|")
    # .05 × 3 / 1,000 / .95 is less than the third p, .05 × 2 / 1,000 / .95 more than the second.
    assert float(row[2]) == pytest.approx(0.05 * 2 / 950, rel=0.05)
    assert [float(cell) for cell in row[3:8]] == [0.5, 1.0, 1.0, 0.0, 0.0]

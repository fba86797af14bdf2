"""Vectors of n-grams: ridge regression by its normal equations, and what is added to words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wordgeom.core.errors import InputError
from wordgeom.linalg.device import open_context
from wordgeom.runtime.run_options import RunOptions
from wordgeom.subwords import fit
from wordgeom.subwords.counting import count_ngrams
from wordgeom.subwords.fit import fit_ngrams, word_weights
from wordgeom.subwords.improvement import improve
from wordgeom.subwords.options import SubwordOptions
from wordgeom.subwords.spectrum import Mapped, with_power
from wordgeom.subwords.units.codepoints import CodePoints
from wordgeom.vectors.keyed import Vectors

OPTIONS = SubwordOptions(subwords="2-3", min_words=2, word_power=1.0, ngram_power=1.0)
STEMS, ENDINGS = ("walk", "talk", "jump", "call", "play", "work"), ("", "s", "ed", "ing", "er")


@pytest.fixture
def made():
    """Words of a stem and an ending, whose vectors are those of both, and some noise."""
    draw = np.random.default_rng(1)
    stems, endings = draw.standard_normal((6, 40)), draw.standard_normal((5, 40))
    words = [stem + ending for stem in STEMS for ending in ENDINGS]
    rows = (stems[:, None] + endings).reshape(30, 40) + 0.1 * draw.standard_normal((30, 40))
    return Vectors(words, (rows * draw.uniform(0.5, 4, 30)[:, None]).astype(np.float32))


def dense(shares):
    full = np.zeros((shares.rows, shares.columns))
    full[shares.entry_rows, shares.indices] = shares.data
    return full


def test_the_vectors_solve_the_normal_equations(made, using, monkeypatch):
    monkeypatch.setattr(fit, "_TOL", 1e-10)
    monkeypatch.setattr(fit, "_STEPS", 500)
    _, shares = count_ngrams(made.words, CodePoints(), OPTIONS)
    directions = made.matrix / np.linalg.norm(made.matrix, axis=1, keepdims=True)
    weights = np.random.default_rng(2).uniform(0, 1, 30)
    found = fit_ngrams(shares, Mapped(made.matrix, using.ops), weights, 0.3, using)
    A = dense(shares)
    weighted = A.T * weights
    expected = np.linalg.solve(weighted @ A + 0.3 * np.eye(A.shape[1]), weighted @ directions)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_weights_fall_with_the_rank_and_are_0_for_zero_vectors():
    matrix = np.ones((11, 2), np.float32)
    matrix[4] = 0
    expected = 1 / (1 + np.arange(11) / 5.5)
    expected[4] = 0
    np.testing.assert_allclose(word_weights(matrix, 0.5), expected)
    np.testing.assert_array_equal(word_weights(matrix, 0.0), matrix[:, 0])


def test_the_explained_share_is_that_of_the_weighted_directions(made, using):
    options = replace(OPTIONS, half_rank=0.2, ngram_weight=1.0)
    found = improve(made, options, using)
    norms = np.linalg.norm(made.matrix, axis=1, keepdims=True)
    parts = (found.vectors.matrix - made.matrix) / norms.mean()
    weights = word_weights(made.matrix, 0.2)
    left = weights @ np.square(made.matrix / norms - parts).sum(axis=1)
    assert found.statistics["explained"] == pytest.approx(1 - left / weights.sum(), abs=1e-5)


def test_the_model_gives_a_word_what_was_added_to_it(made, using):
    found = improve(made, OPTIONS, using)
    added = found.vectors.matrix - made.matrix
    np.testing.assert_allclose(found.model.vectors_of(made.words), added, atol=1e-5)
    np.testing.assert_array_equal(found.model.vectors_of(["zzz"]), np.zeros((1, 40)))
    twice = improve(made, replace(OPTIONS, ngram_weight=2 * OPTIONS.ngram_weight), using)
    np.testing.assert_allclose(twice.vectors.matrix - made.matrix, 2 * added, atol=1e-5)


def test_powers_change_the_words_and_what_n_grams_are_fitted_to(made, using):
    options = replace(OPTIONS, word_power=0.4, ngram_power=0.8)
    found = improve(made, options, using)
    words, fitted = (with_power(made.matrix, p, using.ops).rows(slice(None)) for p in (0.4, 0.8))
    alone = improve(Vectors(made.words, fitted), OPTIONS, using)
    np.testing.assert_allclose(
        found.vectors.matrix - words, alone.vectors.matrix - fitted, atol=1e-4
    )
    assert found.statistics["explained"] == pytest.approx(alone.statistics["explained"], abs=1e-5)


def test_an_unseen_word_is_near_its_true_vector(made, using):
    seen = [k for k in range(30) if k % 7 != 3]
    some = Vectors([made.words[k] for k in seen], made.matrix[seen])
    model = improve(some, replace(OPTIONS, ngram_ridge=1e-3), using).model
    unseen = [k for k in range(30) if k % 7 == 3]
    found, true = model.vectors_of([made.words[k] for k in unseen]), made.matrix[unseen]
    norms = np.linalg.norm(found, axis=1) * np.linalg.norm(true, axis=1)
    assert (np.einsum("ij,ij->i", found, true) / norms).mean() > 0.8


def test_norms_and_zero_vectors_do_not_change_the_fit(made, using):
    options = replace(OPTIONS, half_rank=0.0)  # ranks count zero vectors too
    found = improve(made, options, using)
    scaled = Vectors(made.words, made.matrix * np.float32(4))
    again = improve(scaled, options, using)
    np.testing.assert_allclose(again.vectors.matrix, 4 * found.vectors.matrix, rtol=1e-4, atol=1e-4)
    matrix = np.concatenate((made.matrix, np.zeros((1, 40), np.float32)))
    more = Vectors([*made.words, "walkers"], matrix)
    last = improve(more, options, using)
    assert last.statistics["zero_vectors"] == 1
    assert last.vectors.matrix[-1].any()
    np.testing.assert_allclose(last.vectors.matrix[:30], found.vectors.matrix, atol=0.15)


def test_the_bytes_do_not_depend_on_threads(made):
    results = []
    for threads in (1, 3):
        with open_context(RunOptions(threads=threads)) as context:
            found = improve(made, OPTIONS, context)
            results.append((found.vectors.matrix.tobytes(), found.model.vectors.tobytes()))
    assert results[0] == results[1]


def test_vectors_that_cannot_be_fitted_are_refused(made, using):
    with pytest.raises(InputError, match="every vector is zero"):
        improve(Vectors(made.words, 0 * made.matrix), OPTIONS, using)
    with pytest.raises(InputError, match="no n-gram of 40-50 units occurs in 2 of"):
        improve(made, replace(OPTIONS, subwords="40-50"), using)

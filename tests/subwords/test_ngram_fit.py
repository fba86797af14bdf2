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
from wordgeom.subwords.dictionary import Dictionary
from wordgeom.subwords.fit import fit_ngrams, relevance_ridges, word_weights
from wordgeom.subwords.improvement import improve
from wordgeom.subwords.options import SubwordOptions
from wordgeom.subwords.spectrum import Mapped, with_clipped_spectrum
from wordgeom.subwords.units.codepoints import CodePoints
from wordgeom.vectors.keyed import Vectors

OPTIONS = SubwordOptions(subwords="2-3", min_words=2, clip=0.0)
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


def test_the_vectors_solve_the_normal_equations_of_their_ridges(made, using, monkeypatch):
    monkeypatch.setattr(fit, "_TOL", 1e-10)
    monkeypatch.setattr(fit, "_STEPS", 500)
    _, shares = count_ngrams(made.words, CodePoints(), OPTIONS)
    directions = made.matrix / np.linalg.norm(made.matrix, axis=1, keepdims=True)
    weights = np.random.default_rng(2).uniform(0, 1, 30)
    found = fit_ngrams(shares, Mapped(made.matrix, using.ops), weights, 0.3, using)
    A = dense(shares)
    weighted, squares = A.T * weights, weights @ A**2

    def solved(ridges):
        return np.linalg.solve(weighted @ A + np.diag(ridges), weighted @ directions)

    first = solved(np.full(len(squares), 0.3))
    ridges = relevance_ridges(np.square(first).sum(axis=1), squares, 0.3)
    np.testing.assert_allclose(found, solved(ridges), atol=1e-6)


def test_ridges_keep_their_harmonic_mean_and_follow_the_evidence():
    draw = np.random.default_rng(3)
    sizes, squares = draw.exponential(1, 200), draw.exponential(0.1, 200)
    ridges = relevance_ridges(sizes, squares, 0.05)
    assert 1 / np.mean(1 / ridges) == pytest.approx(0.05)
    # One n-gram, K dimensions: the variance is the square of its vector and what the data leave.
    np.testing.assert_allclose(relevance_ridges(np.ones(1), np.ones(1), 0.05), [0.05])
    two = relevance_ridges(np.array([1.0, 4.0]), np.array([3.0, 3.0]), 1.0)
    np.testing.assert_allclose(two, 1 / (1 / 4 + np.array([1, 4]) * 1.5 / 5))
    # Without data, an n-gram keeps the ridge; without any, all do.
    assert relevance_ridges(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.5)[0] == 0.5
    np.testing.assert_array_equal(relevance_ridges(np.zeros(3), np.ones(3), 0.5), np.full(3, 0.5))


def test_n_grams_of_random_endings_shrink_more_than_those_of_stems():
    """Endings of random letters say nothing: their ridges grow."""
    draw = np.random.default_rng(4)
    stems = ["".join(draw.choice(list("abcdefgh"), 5)) for _ in range(60)]
    true = draw.standard_normal((60, 20))
    words = list({s + "".join(draw.choice(list("xyz"), 3)): k for k, s in enumerate(stems * 6)})
    rows = np.array([true[stems.index(word[:5])] for word in words])
    noisy = (rows + 0.5 * draw.standard_normal(rows.shape)).astype(np.float32)
    index, shares = count_ngrams(words, CodePoints(), OPTIONS)
    weights = np.ones(len(words))
    first = _first_fit(shares, noisy, weights, 0.01)
    ridges = relevance_ridges(np.square(first).sum(axis=1), weights @ dense(shares) ** 2, 0.01)
    assert isinstance(index, Dictionary)
    names = index.lines().split("\n")[:-1]
    of_ending = np.array([set(name.strip("<>")) <= set("xyz") for name in names])
    assert np.median(ridges[of_ending]) > 1.2 * np.median(ridges[~of_ending])


def _first_fit(shares, vectors, weights, ridge):
    A = dense(shares)
    directions = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    normal = (A.T * weights) @ A + ridge * np.eye(A.shape[1])
    return np.linalg.solve(normal, (A.T * weights) @ directions)


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


def test_the_spectrum_is_cut_in_the_words_and_in_what_n_grams_are_fitted_to(made, using):
    found = improve(made, replace(OPTIONS, clip=0.8), using)
    cut = with_clipped_spectrum(made.matrix, 0.8, using.ops).rows(slice(None))
    alone = improve(Vectors(made.words, cut), OPTIONS, using)
    np.testing.assert_allclose(found.vectors.matrix, alone.vectors.matrix, atol=1e-4)
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

"""The score test end to end: level, power, what it is invariant to, notes and errors."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from corpora import assert_one_line
from drifting import polynomials
from flipping import drawn, flipped, topics
from scipy.stats import binom

from wordgeom.core.errors import InputError, RankError

N, WORDS, T = 120, 30, 8
TIMES = np.arange(N) % T
LATE = np.linspace(0.0, 1.0, T)[TIMES]


def static(seed, prevalence=None, lengths=None):
    """Word probabilities and lengths of documents in which no word changes."""
    rng = np.random.default_rng(seed)
    B = topics(rng, 4, WORDS)
    shares = np.ones((T, 4)) if prevalence is None else np.exp(prevalence(rng))
    mixtures = np.array([rng.dirichlet(a) for a in 0.5 * shares[TIMES]])
    N_i = np.full(N, 60) if lengths is None else lengths(rng)
    return rng, mixtures, B, np.maximum(N_i, 4).astype(int)


def autoregressive(rng):
    """Log prevalence (T × 4) of topics: AR(1) with ρ = .8."""
    found = [rng.normal(size=4)]
    for _ in range(T - 1):
        found.append(0.8 * found[-1] + 0.6 * rng.normal(size=4))
    return np.array(found)


def trending(rng):
    """Unequal lengths, four times as long at the end."""
    return 25 * 4.0**LATE * rng.lognormal(0.0, 0.7, N)


def test_the_level_is_kept_with_lengths_and_prevalence_that_depend_on_time():
    runs, words, tested, q = 60, 0, 0, 0
    whole = []
    for seed in range(runs):
        rng, mixtures, B, lengths = static(seed, autoregressive, trending)
        X = drawn(rng, mixtures @ B, lengths)
        X[LATE > 0.5, 3] *= 3  # a word whose frequency alone changes
        found = flipped(X, TIMES, 3, seed=seed, permutations=59)
        whole.append(found.global_p)
        words += int(np.count_nonzero(found.pvalues <= 0.05))
        tested += int(np.count_nonzero(found.pvalues <= 1.0))
        q += bool(np.nanmin(found.qvalues) <= 0.05)
    assert np.count_nonzero(np.array(whole) <= 0.05) <= binom.ppf(0.999, runs, 0.05)
    assert 0.02 <= words / tested <= 0.085  # words of a run are alike
    assert q <= binom.ppf(0.999, runs, 0.1)
    assert np.mean(whole) == pytest.approx(0.5, abs=4 * (1 / 12 / runs) ** 0.5)


def planted(seed=1, n=N):
    """Counts in which word 5 moves from topic 0 to 1, and word 6 is four times as frequent."""
    rng, mixtures, B, lengths = static(seed)
    X = drawn(rng, mixtures @ B, 3 * lengths)
    rate = 12.0 * ((1 - LATE) * mixtures[:, 0] + LATE * mixtures[:, 1])
    X[:, 5] = rng.poisson(rate)
    X[:, 6] = rng.poisson(6.0 * 4.0**LATE * mixtures[:, 0])
    return X


def test_a_word_that_turns_is_found_and_one_that_is_said_more_often_is_not():
    found = flipped(planted(), TIMES, 3, permutations=199)
    assert np.nanargmax(found.F) == 5
    assert found.qvalues[5] <= 0.05
    assert found.pvalues[6] > 0.05
    assert 25 < found.turn[5] < 60 > 20 > found.turn[6]
    assert found.smallest_p == 0.005 <= found.global_p <= 0.01
    assert np.isnan(found.r2).all()
    assert np.isnan(found.mixture_p)
    assert found.method == "sign flips of documents' scores"
    assert "lengths of documents and the frequencies of words and topics may" in found.assumption


def test_a_word_said_twice_as_often_later_is_found_as_well():
    X = planted()
    X[LATE > 0.5, 5] *= 2
    found = flipped(X, TIMES, 3, permutations=199)
    assert np.nanargmax(found.F) == 5
    assert found.qvalues[5] <= 0.05


@pytest.mark.parametrize("null", ["pooled", "max-t", "own"])
def test_bytes_do_not_depend_on_the_number_of_threads(null):
    X, asked = planted(), {"degree": 2, "permutations": 39, "null": null}
    one, four = (dataclasses.asdict(flipped(X, TIMES, 3, threads=k, **asked)) for k in (1, 4))
    for name, value in one.items():
        np.testing.assert_array_equal(value, four[name])


def test_neither_labels_of_times_nor_the_seed_decide():
    X = planted()
    found = flipped(X, TIMES, 3)
    later = flipped(X, TIMES, 3, basis=polynomials(TIMES, 1) * 7.0 + 3.0)
    np.testing.assert_allclose(later.F, found.F, rtol=1e-4)
    order = np.random.default_rng(1).permutation(N)
    rows = [flipped(X[order], TIMES[order], 3), flipped(X, TIMES, 3, seed=2)]
    for other in rows:  # other folds and cells
        assert np.corrcoef(np.log(other.F), np.log(found.F))[0, 1] > 0.7
        assert np.nanargmax(other.F) == 5
        assert abs(other.turn[5] - found.turn[5]) < 8


def test_passages_of_a_document_flip_together():
    """Four copies of each passage say no more than one; as documents, they would."""
    rng, mixtures, B, lengths = static(3)
    X, once = drawn(rng, mixtures @ B, lengths), np.arange(N)
    copies = np.repeat(once, 4)
    alone = flipped(X, TIMES, 2, units=once)
    joined = flipped(X[copies], TIMES[copies], 2, units=copies)
    apart = flipped(X[copies], TIMES[copies], 2, units=np.arange(4 * N))
    ratios = np.array([np.median(found.F) for found in (joined, apart)]) / np.median(alone.F)
    assert ratios[0] == pytest.approx(1.0, abs=0.35)
    assert ratios[1] > 2.5


def test_rare_words_and_short_documents_are_counted():
    X = planted()
    X[:, 8], X[:, 9], X[:9, 9] = 0, 0, 1
    X[-3:] = 0
    X[-3:-1, 0] = 1
    found = flipped(X, TIMES, 3)
    assert np.flatnonzero(np.isnan(found.F)).tolist() == [8, 9]
    for values in (found.turn, found.pvalues, found.qvalues):
        assert np.isnan(values[[8, 9]]).all()
    assert found.left_out == 2
    assert "2 words are not tested: in fewer than 10 documents, or without scores" in found.notes
    assert "3 rows have fewer than 2 tokens; left out of the test" in found.notes


def test_few_flips_and_many_topics_are_noted():
    X = planted()
    few = flipped(X, TIMES, 3, permutations=9, null="own").notes
    assert "p cannot be below 0.1: use more --permutations" in few
    assert any("q of a single changed word cannot be below 1; use --null pooled" in n for n in few)
    (note,) = flipped(X, TIMES, 12).notes
    assert note.endswith(" of 12 topics exceed the noise of documents of this length")
    assert flipped(X, TIMES, 3).notes == ()


def test_documents_of_constant_length_are_tested():
    rng, mixtures, B, lengths = static(6)
    assert flipped(drawn(rng, mixtures @ B, lengths), TIMES, 3).global_p > 0.05


@pytest.mark.parametrize(
    ("times", "degree", "rank", "part"),
    [
        (np.zeros(N), 1, 3, "all documents have the same time, 0"),
        (TIMES % 2, 2, 3, "--degree 2 needs more than 2 distinct times, found 2"),
        (np.minimum(np.arange(N), 2), 2, 3, "needs more than 2 times with two documents"),
        (
            np.arange(N),
            1,
            3,
            "--degree 1 needs more than 1 time with two documents or more, found 0",
        ),
        (TIMES, 1, 30, "30 topics need data of a higher rank than 29; lower --rank"),
        (TIMES, 1, 1, "fewer than 2 topics exceed the noise of the documents' words; raise --rank"),
    ],
)
def test_times_and_ranks_that_cannot_be_tested_are_one_line(times, degree, rank, part):
    with pytest.raises((InputError, RankError)) as caught:
        flipped(planted(), times, rank, degree=degree)
    assert_one_line(caught, part)


@pytest.mark.parametrize(
    ("X", "part"),
    [
        (np.eye(N, WORDS, dtype=int), "no document has 2 tokens or more"),
        (np.eye(N, WORDS, dtype=int)[:12] * 2, "no word is in 10 documents or more"),
        (np.full((N, WORDS), 3), "fewer than 2 topics exceed the noise of the documents' words"),
    ],
)
def test_counts_that_cannot_be_tested_are_one_line(X, part):
    with pytest.raises(InputError) as caught:
        flipped(X, TIMES[: len(X)] % 3, 2)
    assert_one_line(caught, part)


def test_duplicated_documents_and_words_are_tested():
    X = planted()
    twice = np.hstack([X, X[:, :3]])  # rank 29 of 32
    for rank in (3, 31):
        assert np.isfinite(flipped(twice, TIMES, rank).F).all()
    again = flipped(np.vstack([X[:15]] * 8), np.repeat(np.arange(T), 15), 3)
    assert np.isfinite(again.F).all()

"""The drift test end to end: level, power, errors. Simulations are small."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from drifting import documents, polynomials, regression, verdict_of

from wordgeom.core.errors import InputError, OptionError, RankError
from wordgeom.drift.factor_test import factor_test

N = 200
T = np.linspace(-1.0, 1.0, N)


def verdicts(runs, make, rank, **options):
    return [
        verdict_of(make(np.random.default_rng([run, 17])), T, rank, seed=run, **options)
        for run in range(runs)
    ]


def rejection_rate(found):
    return np.mean([v.global_p <= 0.05 for v in found])


def flagged(found):
    return np.mean([v.pvalues <= 0.05 for v in found], axis=0)


def test_a_verdict_has_f_p_and_the_assumption():
    X = documents(np.random.default_rng(1), N, 12, 3, t=T, change=0.3).astype(np.float32)
    found = verdict_of(X, T, 3, degree=2, permutations=99, permute="documents")
    U = np.linalg.svd(X - X.mean(axis=0, dtype=np.float64), full_matrices=False)[0][:, :3]
    F, r2 = regression(X.astype(np.float64), U, polynomials(T, 2), hold=True)
    np.testing.assert_allclose(found.F, F, rtol=1e-4)
    np.testing.assert_allclose(found.r2, r2, rtol=1e-4)
    assert found.global_p == found.smallest_p == 0.01
    assert found.smallest_word_p <= found.pvalues.min() < 0.01
    assert np.all(found.qvalues >= found.pvalues)
    assert (found.rank, found.permutations, found.left_out, found.still) == (3, 99, 0, None)
    assert found.method == "permutation of document times"
    assert "nor the frequency or variance of any topic depends on time" in found.assumption
    assert found.assumption.endswith("which permutations allow for only approximately")


@pytest.mark.parametrize("permute", ["documents", "times", "within"])
@pytest.mark.parametrize("rank", [2, 4])
def test_the_level_is_kept_with_enough_and_with_too_few_topics(permute, rank):
    groups = np.arange(N) % 3
    found = verdicts(
        80, lambda rng: documents(rng, N, 10, 4), rank, permute=permute, permutations=39,
        groups=groups, null="own",
    )  # fmt: skip
    assert rejection_rate(found) <= 0.125  # .05 plus three standard errors
    assert np.mean(flagged(found)) == pytest.approx(0.05, abs=0.025)
    p = np.sort([v.global_p for v in found])
    assert np.abs(p - (np.arange(80) + 1) / 80).max() < 0.18  # Kolmogorov and Smirnov, 1 %


def test_the_factor_test_rejects_too_few_topics():
    rng = np.random.default_rng(17)
    found = [factor_test(documents(rng, N, 10, 4), 2).p for _ in range(20)]
    assert np.mean(np.array(found) <= 0.05) >= 0.9  # unlike permutations, see above


def test_words_of_unequal_frequency_have_uniform_p_under_the_null():
    def counts(rng):
        topics = rng.dirichlet(0.3 * (np.arange(40) + 1.0) ** -1.2 * 40, 3)
        lengths = rng.integers(20, 400, N)
        mixtures = rng.dirichlet(np.full(3, 0.5), N)
        counted = [rng.multinomial(m, p) for m, p in zip(lengths, mixtures @ topics, strict=True)]
        return np.array(counted) / lengths[:, None]

    found = verdicts(40, counts, 3, permute="documents", permutations=59)
    p = np.array([v.pvalues for v in found])
    for level in (0.05, 0.25, 0.5, 0.75):
        assert np.nanmean(p <= level) == pytest.approx(level, abs=0.04)
    often = np.nanmean(p[:, :20] <= 0.1), np.nanmean(p[:, 20:] <= 0.1)
    assert often == pytest.approx((0.1, 0.1), abs=0.05)


def test_a_small_change_is_found():
    options = {"permute": "documents", "permutations": 39}
    found = verdicts(10, lambda rng: documents(rng, N, 20, 3, t=T, change=0.3), 3, **options)
    assert rejection_rate(found) >= 0.9
    assert not np.isnan([v.mixture_p for v in found]).any()


def test_topics_from_stable_words_do_not_flag_stable_words():
    def five(rng):
        return documents(rng, N, 20, 3, t=T, change=1.0, moving=5)

    options = {"permute": "documents", "permutations": 59, "null": "own"}
    biased, fair = (
        flagged(verdicts(12, five, 3, still=still, **options)) for still in (False, True)
    )
    assert biased[5:].mean() > 0.2
    assert fair[5:].mean() <= 0.1
    assert fair[:5].mean() >= 0.9


def test_stable_words_leave_the_global_p_unchanged_and_are_reported():
    X = documents(np.random.default_rng(9), N, 20, 3, t=T, change=1.0, moving=5)
    plain, still = (
        verdict_of(X, T, 3, still=s, permute="documents", permutations=39) for s in (False, True)
    )
    assert (plain.global_p, plain.mixture_p) == (still.global_p, still.mixture_p)
    assert still.still in range(10, 20)
    assert f"estimated from {still.still} of 20 words, chosen as stable" in still.notes[0]


def test_the_mixture_test_detects_topics_that_absorb_the_change():
    def moving(rng):
        return documents(rng, N, 30, 2, t=T, change=0.4, noise=0.03)

    found = verdicts(10, moving, 4, permute="documents", permutations=39)
    assert np.mean([v.mixture_p <= 0.05 for v in found]) >= 0.9
    assert rejection_rate(found) <= 0.5
    noted = [any("mixture of topics drifts" in note for note in v.notes) for v in found]
    assert noted == [v.mixture_p <= 0.05 < v.global_p for v in found]


def test_common_shocks_bias_permuted_documents_and_not_permuted_times():
    years = np.repeat(np.arange(20.0), 10)

    def shocked(rng):
        A = rng.normal(size=(N, 4)) + np.repeat(2.0 * rng.normal(size=(20, 4)), 10, axis=0)
        return A @ rng.normal(size=(4, 12)) + rng.normal(size=(N, 12))

    shares = {}
    for permute in ("documents", "times"):
        runs = (shocked(np.random.default_rng(run)) for run in range(30))
        found = [verdict_of(X, years, 2, permute=permute, permutations=39) for X in runs]
        shares[permute] = rejection_rate(found)
    assert shares["documents"] > 0.3
    assert shares["times"] <= 0.15


def test_few_times_use_all_distinct_permutations():
    times = np.repeat(np.arange(4.0), 25)
    X = documents(np.random.default_rng(3), 100, 8, 2)
    found = verdict_of(X, times, 2, null="own")
    assert (found.permutations, found.smallest_p) == (23, 2 / 24)
    np.testing.assert_allclose(found.pvalues * 24, np.round(found.pvalues * 24))
    assert any("all 24 distinct permutations were used" in note for note in found.notes)


def test_more_than_max_times_are_permuted_as_documents():
    X = documents(np.random.default_rng(3), 1100, 4, 2)
    times = 1.0 * np.random.default_rng(4).permutation(1100)  # more than MAX_TIMES
    found = [verdict_of(X, times, 2, permutations=199, permute=p) for p in ("times", "documents")]
    np.testing.assert_array_equal(found[0].F, found[1].F)
    np.testing.assert_allclose(found[0].pvalues, found[1].pvalues, atol=0.1)
    sorted_times = np.argsort(times)
    again = verdict_of(X[sorted_times], times[sorted_times], 2, permutations=199, null="own")
    alone = verdict_of(X, times, 2, permutations=199, null="own")
    np.testing.assert_allclose(again.pvalues, alone.pvalues, atol=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"permutations": 40},
        {"permutations": 40, "still": True},
        {"test": "f"},
        {"permutations": 40, "null": "max-t"},
    ],
)
def test_the_verdict_does_not_depend_on_the_number_of_threads(options):
    X = documents(np.random.default_rng(4), N, 150, 3, t=T, change=0.2)
    found = [dataclasses.asdict(verdict_of(X, T, 3, threads=k, **options)) for k in (1, 3)]
    for one, other in zip(*(v.values() for v in found), strict=True):
        np.testing.assert_array_equal(one, other)


def test_constant_words_are_left_out_and_counted():
    X = documents(np.random.default_rng(5), N, 12, 3)
    X[:, 2], X[:, 7] = 3.0, 0.0
    found = verdict_of(X, T, 3, permute="documents", permutations=19)
    assert found.left_out == 2
    for values in (found.F, found.r2, found.pvalues, found.qvalues):
        assert np.flatnonzero(np.isnan(values)).tolist() == [2, 7]
    assert "2 words are left out: no variance given the topics" in found.notes


def test_the_f_test_states_its_assumption():
    found = verdict_of(documents(np.random.default_rng(6), N, 12, 3), T, 3, test="f")
    assert "topics are known" in found.assumption
    assert np.isnan(found.global_p)
    assert np.all((found.pvalues > 0) & (found.pvalues < 1))


def test_too_few_permutations_for_q_are_reported():
    X = documents(np.random.default_rng(7), N, 40, 3)
    note = "q of a single changed word cannot be below 0.8"
    noted = [verdict_of(X, T, 3, permutations=49, null=null).notes for null in ("own", "pooled")]
    assert [any(note in n for n in notes) for notes in noted] == [True, False]


def test_errors_are_one_line():
    X = documents(np.random.default_rng(8), 40, 12, 3)
    times = np.repeat(np.arange(8.0), 5)

    def rejected(kind, match, X=X, times=times, rank=3, **options):
        with pytest.raises(kind, match=match) as caught:
            verdict_of(X, times, rank, **options)
        assert len(str(caught.value).splitlines()) == 1

    rejected(InputError, "all documents have the same time, 1950", times=np.full(40, 1950.0))
    rejected(InputError, "--degree 2 needs more than 2 distinct times", times=times // 4, degree=2)
    rejected(
        InputError,
        "10 topics at degree 3 use 44 .*, which 40 documents do not leave",
        rank=10,
        degree=3,
    )
    rejected(RankError, "12 topics need data of a higher rank than 12", rank=12)
    rejected(InputError, "all words are constant over documents", X=np.ones((40, 12)))
    rejected(InputError, "each group has a single time", groups=times, permute="within")
    rejected(OptionError, "--permute within needs groups", permute="within")
    rejected(
        InputError, "F of 12 words in 1,000 permutations need", memory=1000, permute="documents"
    )


@pytest.mark.torch
@pytest.mark.parametrize("options", [{}, {"permute": "documents"}])
def test_torch_agrees(torch, options):
    X = documents(np.random.default_rng(11), N, 12, 3, t=T, change=0.2)
    found = [
        verdict_of(X, T, 3, permutations=39, device=d, **options) for d in ("cpu", "torch-cpu")
    ]
    np.testing.assert_allclose(found[0].F, found[1].F, rtol=1e-4)
    np.testing.assert_allclose(found[0].pvalues, found[1].pvalues, atol=0.01)

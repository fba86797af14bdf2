"""p values from permutations are uniform under the null; permutations are complete or random."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from drifting import documents, verdict_of
from scipy.stats import f as f_distribution

from wordgeom.core.errors import InputError
from wordgeom.drift.p_values import (
    f_tail_p,
    frequency_bins,
    max_t_p_values,
    own_p_values,
    p_values,
    pooled_p_values,
    q_values,
    single_p_value,
    smallest_word_p,
)
from wordgeom.drift.permutations import Permutations


def null_rows(rng, B, words):
    """Exchangeable rows like F, of words that differ in mean, variance and tail."""
    shape = rng.uniform(1.0, 8.0, words)
    common = rng.gamma(2.0, 1.0, (B + 1, 1))  # words rise and fall together
    return (rng.gamma(shape, 1.0, (B + 1, words)) * 0.7 + 0.3 * shape * common).astype(np.float32)


def test_own_p_counts_rows_that_are_at_least_as_large():
    F = np.array([[3, 1, 2], [1, 2, 2], [2, 3, 2], [4, 4, 2]], np.float32)
    np.testing.assert_array_equal(own_p_values(F), [0.5, 1.0, 1.0])


def test_ties_up_to_float32_rounding_count_as_equal():
    F = np.full((20, 5), 1.7, np.float32) * (1 + np.float32(1e-7) * np.arange(20)[::-1, None])
    assert np.array_equal(own_p_values(F), np.ones(5))
    assert single_p_value(F[:, 0].astype(np.float64)) == 1.0


@pytest.mark.parametrize("null", ["own", "pooled", "max-t"])
def test_p_is_uniform_if_the_first_row_is_exchangeable(null):
    rng = np.random.default_rng(4)
    frequencies = rng.integers(1, 1000, 60)
    found = [p_values(null, null_rows(rng, 99, 60), frequencies) for _ in range(150)]
    p = np.array([v.min() for v in found]) if null == "max-t" else np.concatenate(found)
    for level in (0.05, 0.2, 0.5):  # max-T: of any word
        assert np.mean(p <= level) == pytest.approx(level, abs=0.035 if null != "max-t" else 0.07)


def test_max_t_lies_between_own_and_single_step_p():
    rng = np.random.default_rng(5)
    F = null_rows(rng, 99, 300)
    F[0, :250] *= rng.uniform(1, 6, 250).astype(np.float32)
    S = (F - F.mean(axis=0, dtype=np.float64)) / F.astype(np.float64).std(axis=0)
    single = (S.max(axis=1)[:, None] >= S[0] - 1e-4).mean(axis=0)
    p = max_t_p_values(F)
    assert np.all(p >= own_p_values(F))
    assert np.all(p <= single + 1e-12)
    assert np.any(p < single)
    assert np.all(np.diff(p[np.argsort(-S[0])]) >= 0)  # monotone in the statistic


def test_step_down_max_t_follows_its_definition():
    rng = np.random.default_rng(6)
    F = null_rows(rng, 49, 12)
    S = (F - F.mean(axis=0, dtype=np.float64)) / F.astype(np.float64).std(axis=0)
    order, p, last = np.argsort(-S[0]), np.empty(12), 0.0
    for place, word in enumerate(order):
        largest = S[:, order[place:]].max(axis=1)
        last = p[word] = max(last, (largest >= S[0, word] - 1e-4).mean())
    np.testing.assert_allclose(max_t_p_values(F), p)


def test_pooled_p_can_be_smaller_than_own_p():
    rng = np.random.default_rng(7)
    F = null_rows(rng, 39, 450)
    F[0, 3] = 1e3
    p = pooled_p_values(F, rng.integers(1, 1000, 450))
    alone = own_p_values(F)
    assert p[3] < alone[3] == 1 / 40
    assert np.corrcoef(p, alone)[0, 1] > 0.95
    assert q_values(p, False)[3] < 0.1 < q_values(alone, False)[3]


def test_bins_contain_words_of_similar_frequency():
    frequencies = np.random.default_rng(8).permutation(850)
    found = frequency_bins(frequencies)
    assert np.array_equal(np.sort(np.concatenate(found)), np.arange(850))
    assert [len(words) for words in found] == [213, 213, 212, 212]
    assert all(frequencies[a].max() < frequencies[b].min() for a, b in pairwise(found))


def test_q_is_p_for_max_t_and_benjamini_hochberg_otherwise():
    p = np.array([0.01, 0.02, 0.03, 0.5])
    np.testing.assert_array_equal(q_values(p, True), p)
    np.testing.assert_allclose(q_values(p, False), [0.04, 0.04, 0.04, 0.5])


def test_a_constant_statistic_has_p_1():
    F = np.ones((10, 4), np.float32)
    for null in ("own", "pooled", "max-t"):
        assert np.array_equal(p_values(null, F, np.arange(4)), np.ones(4))


def test_f_tail_p_equals_the_survival_function():
    F = np.array([-1e-9, 0.5, 1.0, 9.0])
    np.testing.assert_allclose(f_tail_p(F, 6, 80), f_distribution.sf(F, 6, 80), rtol=1e-10)


def orders(codes, B, groups=None, seed=1):
    found = Permutations(np.array(codes, np.int32), B, seed, groups)
    return found, np.concatenate(list(found.blocks(7)))


def test_few_permutations_are_all_generated_once_the_identity_first():
    found, rows = orders([0, 2, 1, 0], 20)
    assert (found.complete, found.count, found.distinct) == (True, 12, 12)
    assert rows[0].tolist() == [0, 2, 1, 0]
    assert {tuple(row) for row in rows.tolist()} == set(permutations([0, 2, 1, 0]))
    assert len(rows) == 12
    assert found.smallest_p == 1 / 12


def test_permutations_within_groups_stay_within_them():
    groups = np.array([5, 5, 5, 8, 8])
    found, rows = orders([0, 1, 1, 2, 3], 5, groups)
    assert found.complete
    expected = {(*a, *b) for a in permutations([0, 1, 1]) for b in permutations([2, 3])}
    assert {tuple(row) for row in rows.tolist()} == expected
    mixed = np.array([5, 8, 5, 8, 5, 8, 5, 8])
    found, rows = orders(range(8), 50, mixed)
    assert not found.complete
    for group in (5, 8):
        inside = np.sort(rows[:, mixed == group], axis=1)
        assert np.array_equal(inside, np.tile(np.flatnonzero(mixed == group), (51, 1)))


def test_random_permutations_are_uniform_and_depend_on_the_seed_alone():
    found, rows = orders(range(6), 600)
    assert (found.complete, found.count, found.distinct) == (False, 601, 720)
    assert found.smallest_p == 1 / 601
    assert np.array_equal(rows[0], np.arange(6))
    assert np.array_equal(np.sort(rows, axis=1), np.tile(np.arange(6), (601, 1)))
    counts = [np.bincount(rows[1:, place], minlength=6) for place in range(6)]
    assert np.abs(np.array(counts) - 100).max() < 45
    assert np.array_equal(rows, orders(range(6), 600)[1])
    assert not np.array_equal(rows, orders(range(6), 600, seed=2)[1])


def test_the_smallest_p_depends_on_the_null_distribution():
    found = [smallest_word_p(null, 100, 0.02, 500) for null in ("own", "max-t")]
    assert found == [0.02, 0.02]
    assert smallest_word_p("pooled", 100, 0.02, 500) == 1 / (1 + 99 * 250)
    assert smallest_word_p("pooled", 100, 0.02, 501) == 1 / (1 + 99 * 251)  # of the largest bin


@pytest.mark.parametrize("null", ["own", "max-t", "pooled"])
@pytest.mark.parametrize("times", [4, 5, 30])
def test_no_p_is_below_its_bound(null, times):
    """9 permutations: the p of a word's own is at least 1/10, that of 401 pooled words is not."""
    rng = np.random.default_rng(0)
    t = np.repeat(np.arange(times), 120 // times).astype(float)
    X = documents(rng, 120, 401, 2, t=(t - t.mean()) / times, change=2.0, moving=3)
    found = verdict_of(X, t, 2, null=null, permutations=9)
    assert found.pvalues.min() >= found.smallest_word_p
    assert found.global_p >= found.smallest_p == 1 / 10
    notes = [note for note in found.notes if "too few permutations" in note]
    if null == "pooled":
        assert found.smallest_word_p == 1 / (1 + 9 * 201)
        pooled = "p of a word pools the same 9 permutations of words of similar frequency"
        alone = "p of all words together cannot be below 0.1: too few permutations"
        assert notes == [f"{alone}; {pooled}"]
    else:
        assert found.smallest_word_p == 1 / 10
        assert notes == ["p cannot be below 0.1: too few permutations"]


def test_a_huge_number_of_permutations_is_handled():
    found, rows = orders(np.arange(2000) // 2, 3)
    assert rows.shape == (4, 2000)
    assert found.distinct > 1e300


def test_groups_with_a_single_time_each_are_rejected():
    with pytest.raises(InputError, match="nothing to permute: each group has a single time; "):
        orders([0, 0, 1, 1], 9, np.array([1, 1, 2, 2]))

"""The objectives by brute force, their gradients, and majorising steps as in the thesis."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from matrices import to_csr

from wordgeom.linalg.device import get_ops
from wordgeom.methods.ssmds import sources, terms
from wordgeom.methods.ssmds.majorise import InnerStep, StressStep
from wordgeom.methods.ssmds.objective import InnerFit, Objective, StressFit, plain_weight
from wordgeom.methods.ssmds.supervision import Supervision
from wordgeom.runtime.pool import Pool

V, K, N = 17, 3, 25
INNER = ("entries", "gram")
APART = ("distances", "dissimilarities", "some dissimilarities")
CASES = [
    *[(data, case) for data in INNER for case in ("inner", "correlation")],
    *[(data, "euclidean") for data in APART],
]


@pytest.fixture(scope="module")
def pool():
    with Pool(2) as opened:
        yield opened


def supervision(rng, V=V, m=9):
    chosen = rng.choice(V * (V - 1) // 2, min(m, V * (V - 1) // 2), replace=False)
    rows = np.array(np.triu_indices(V, 1))[:, chosen]
    words, places = np.unique(rows, return_inverse=True)
    scores = rng.integers(0, 6, len(chosen)) / 2.0
    scores[0] = 7.25
    left, right = places.reshape(2, -1)
    return Supervision(words, left, right, scores, (), {})


def symmetric(rng, V, share=1.0):
    upper = np.triu(rng.gamma(2.0, 1.0, (V, V)) * (rng.random((V, V)) < share), 1)
    return upper + upper.T + np.diag(rng.random(V))


def data_of(data, rng, V=V):
    """A source, and its x_ij and w_ij as dense arrays."""
    off = 1.0 - np.eye(V)
    if data == "entries":
        X = symmetric(rng, V, 0.5) * rng.choice([-1.0, 1.0, 1.0])
        return sources.Entries(to_csr(X)), X, off
    if data in ("gram", "distances"):
        Y = rng.poisson(1.0, (V, N)) * rng.random((V, N))
        X, gram = Y @ Y.T, sources.Gram(to_csr(Y))
        if data == "gram":
            return gram, X, off
        squares = np.diag(X)[:, None] + np.diag(X) - 2.0 * X
        return sources.Distances(gram), np.sqrt(np.maximum(squares, 0.0)) * off, off
    X = symmetric(rng, V, 1.0 if data == "dissimilarities" else 0.6)
    return sources.Dissimilarities(to_csr(X)), X, off * (X > 0.0)


def problem(data, case, rng, pool, V=V, weight=0.3):
    """An objective, its pairs, and x_ij and w_ij as dense arrays."""
    source, X, W = data_of(data, rng, V)
    pairs = supervision(rng, V)
    cpu = get_ops("cpu", pool)
    fit: Any = StressFit(source, pool) if case == "euclidean" else InnerFit(source, cpu, cpu, pool)
    if case == "correlation":
        term: terms.Term = terms.Correlation(pairs.scores)
        measure: terms.Measure = terms.cosines
    else:
        measure = terms.distances if case == "euclidean" else terms.products
        term = terms.Order(pairs.scores, 1.7, case == "inner")
    return Objective(fit, terms.Supervised(pairs, measure, term), weight), X, W


def brute_force(objective, X, W, B, case):
    """Return f and g as Table 4.1 prints them, pair by pair."""
    f = 0.0
    for i in range(len(B)):
        for j in range(i + 1, len(B)):
            given = np.linalg.norm(B[i] - B[j]) if case == "euclidean" else B[i] @ B[j]
            f += W[i, j] * (X[i, j] - given) ** 2
    pairs, term = objective.supervised.pairs, objective.supervised.term
    rows = list(zip(*pairs.rows, strict=True))
    if case == "correlation":
        z = [B[i] @ B[j] / np.linalg.norm(B[i]) / np.linalg.norm(B[j]) for i, j in rows]
        return f, 1.0 - np.corrcoef(z, pairs.scores)[0, 1]
    given = np.array(
        [np.linalg.norm(B[i] - B[j]) if case == "euclidean" else B[i] @ B[j] for i, j in rows]
    )
    return f, float(np.sum((term.fitted(given) - given) ** 2))


@pytest.mark.parametrize(("data", "case"), CASES)
def test_the_objective_is_the_sum_over_pairs_of_the_table(pool, data, case):
    rng = np.random.default_rng(1)
    objective, X, W = problem(data, case, rng, pool)
    B = rng.standard_normal((V, K))
    f, g = brute_force(objective, X, W, B, case)
    found = objective.slope(B)
    assert (found.data, found.pairs) == pytest.approx((f, g), rel=1e-10)
    assert found.value == pytest.approx(0.3 * f + 0.7 * g, rel=1e-10)
    zero = objective.slope(np.zeros((V, K)))
    assert objective.fit.largest == pytest.approx(zero.data, rel=1e-12)
    assert objective.supervised.term.largest == pytest.approx(zero.pairs, rel=1e-12)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(("data", "case"), CASES)
def test_the_gradient_is_that_of_finite_differences(pool, data, case, weight):
    rng = np.random.default_rng(2)
    objective, _, _ = problem(data, case, rng, pool, weight=weight)
    B, h = rng.standard_normal((V, K)), 1e-5
    gradient = objective.slope(B).gradient
    differences = np.zeros((V, K))
    for at in np.ndindex(V, K):
        values = []
        for step in (h, -h, 2 * h, -2 * h):
            moved = B.copy()
            moved[at] += step
            values.append(objective.slope(moved).value)
        differences[at] = (8 * (values[0] - values[1]) - (values[2] - values[3])) / (12 * h)
    np.testing.assert_allclose(gradient, differences, atol=1e-6 * np.abs(gradient).max())


@pytest.mark.parametrize(("data", "case"), CASES)
def test_words_that_coincide_and_zero_vectors_have_finite_gradients(pool, data, case):
    rng = np.random.default_rng(3)
    objective, _, _ = problem(data, case, rng, pool)
    B = rng.standard_normal((V, K))
    left, right = objective.supervised.pairs.rows
    B[left[0]] = B[right[0]]
    B[left[1]] = 0.0
    B[4] = B[5]
    for vectors in (B, np.zeros((V, K)), np.ones((V, K))):
        found = objective.slope(vectors)
        assert np.isfinite(found.value)
        assert np.isfinite(found.gradient).all()


@pytest.mark.parametrize(("data", "case"), CASES)
def test_estimates_from_batches_average_to_the_gradient(pool, data, case):
    rng = np.random.default_rng(4)
    objective, _, _ = problem(data, case, rng, pool)
    B = rng.standard_normal((V, K))
    parts = np.array_split(rng.permutation(V), 5)
    mean = sum(len(part) * objective.partial(B, np.sort(part)) for part in parts) / V
    np.testing.assert_allclose(mean, objective.slope(B).gradient, atol=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 12), st.booleans())
def test_the_non_metric_term_is_a_minimum_over_sequences_in_order(seed, m, ascending):
    rng = np.random.default_rng(seed)
    scores, values = rng.integers(0, 5, m).astype(float), rng.standard_normal(m)
    term = terms.Order(scores, 0.8, ascending)
    fitted = term.fitted(values)
    assert np.sum(fitted**2) == pytest.approx(0.8 * m)
    order = np.argsort(scores)
    rising = np.diff(fitted[order]) if ascending else -np.diff(fitted[order])
    assert (rising >= -1e-12).all()
    same = np.diff(scores[order]) == 0.0
    assert (rising[same] == 0.0).all()
    levels = np.unique(scores)
    for _ in range(12):
        other = np.sort(rng.standard_normal(len(levels)) + rng.standard_normal())
        sequence = (other if ascending else other[::-1])[np.searchsorted(levels, scores)]
        sequence *= np.sqrt(0.8 * m / np.sum(sequence**2))
        assert np.sum((sequence - values) ** 2) >= term.slope(values)[0] - 1e-9


def test_values_in_the_opposite_order_still_have_a_fit():
    for values in (np.array([1.0, -1.0]), np.zeros(3), np.array([3.0, 0.0, -3.0])):
        term = terms.Order(np.arange(float(len(values))), 2.0, True)
        assert np.sum(term.fitted(values) ** 2) == pytest.approx(2.0 * len(values))


def test_a_correlation_of_constants_or_of_huge_scores_is_a_number():
    flat = terms.Correlation(np.array([1.0, 2.0, 4.0]))
    assert flat.slope(np.full(3, 0.1))[0] == 1.0
    huge = terms.Correlation(np.array([1.0, 2.0, 4.0]) * 1e300)
    values = np.array([0.1, 0.2, 0.5])
    assert huge.slope(values)[0] == pytest.approx(flat.slope(values)[0])
    assert flat.slope(values)[0] == pytest.approx(1.0 - np.corrcoef(values, [1, 2, 4])[0, 1])


# ── Majorisation ─────────────────────────────────────────────────────────────────────────────


def step_of(objective, pool, *, exact=None):
    if isinstance(objective.fit, StressFit):
        return StressStep(objective, objective.fit)
    return InnerStep(objective, objective.fit, get_ops("cpu", pool), exact)


@given(
    seed=st.integers(0, 10**6),
    size=st.integers(4, 12),
    dim=st.integers(1, 4),
    weight=st.sampled_from([0.0, 1e-4, 0.2, 0.9, 1.0]),
    kind=st.sampled_from([(data, case) for data, case in CASES if case != "correlation"]),
    exact=st.booleans(),
    scale=st.sampled_from([1e-3, 1.0, 50.0]),
)
def test_a_step_never_increases_the_objective(seed, size, dim, weight, kind, exact, scale):
    rng = np.random.default_rng(seed)
    with Pool(1) as pool:
        data, case = kind
        objective, _, _ = problem(data, case, rng, pool, V=size, weight=weight)
        step = step_of(objective, pool, exact=exact)
        B = scale * rng.standard_normal((size, dim))
        if seed % 3 == 0:
            B[1] = B[0]
        at = objective.slope(B)
        for _ in range(6):
            if not B.any():
                break
            B = step(B, at.gradient)
            then = objective.slope(B)
            rounding = 1e-11 * (at.value + objective.fit.largest)
            rounding += 1e-15 * float(np.sum((B.T @ B) ** 2))  # of the implicit sum
            assert then.value <= at.value + rounding
            at = then


@pytest.mark.parametrize("data", APART)
def test_the_step_for_distances_is_that_of_algorithm_5(pool, data):
    """Ỹ⁺H̃(B)B by dense arrays, with the mixed numerator λ w x + (1 − λ) w̃ δ̂."""
    rng = np.random.default_rng(5)
    objective, X, W = problem(data, "euclidean", rng, pool)
    B, pairs = rng.standard_normal((V, K)), objective.supervised.pairs
    B -= B.mean(0)
    term = objective.supervised.term
    assert isinstance(term, terms.Order)
    fitted = term.fitted(objective.supervised.measured(B).values)
    left, right = pairs.rows
    judged, targets = np.zeros((V, V)), np.zeros((V, V))
    judged[left, right] = judged[right, left] = 1.0
    targets[left, right] = targets[right, left] = fitted
    apart = np.linalg.norm(B[:, None] - B, axis=2) + np.eye(V)
    Y = -(0.3 * W + 0.7 * judged)
    H = -(0.3 * W * X + 0.7 * judged * targets) / apart
    for square in (Y, H):
        np.fill_diagonal(square, 0.0)
        np.fill_diagonal(square, -square.sum(1))
    expected = np.linalg.pinv(Y) @ H @ B
    found = step_of(objective, pool)(B, objective.slope(B).gradient)
    np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("data", INNER)
def test_the_step_for_inner_products_takes_the_largest_eigenpairs_of_r(pool, data):
    rng = np.random.default_rng(6)
    objective, X, W = problem(data, "inner", rng, pool)
    B, pairs = rng.standard_normal((V, K)), objective.supervised.pairs
    term = objective.supervised.term
    assert isinstance(term, terms.Order)
    left, right = pairs.rows
    judged, targets = np.zeros((V, V)), np.zeros((V, V))
    judged[left, right] = judged[right, left] = 1.0
    fitted = term.fitted(objective.supervised.measured(B).values)
    targets[left, right] = targets[right, left] = fitted
    products = B @ B.T
    R = products + 0.3 * W * (X - products) + 0.7 * judged * (targets - products)
    values, vectors = np.linalg.eigh(R)
    best = vectors[:, -K:] * np.sqrt(np.maximum(values[-K:], 0.0))
    gradient = objective.slope(B).gradient
    found = step_of(objective, pool, exact=True)(B, gradient)
    np.testing.assert_allclose(found @ found.T, best @ best.T, atol=1e-9)
    np.testing.assert_allclose(R @ B, B @ (B.T @ B) - gradient / 2.0, atol=1e-9)
    part = step_of(objective, pool, exact=False)(B, gradient)
    errors = [np.linalg.norm(R - C @ C.T) for C in (found, part, B)]
    assert errors[0] <= errors[1] < errors[2]


def test_both_kinds_of_steps_end_at_one_minimum(pool):
    rng = np.random.default_rng(7)
    objective, _, _ = problem("gram", "inner", rng, pool, weight=0.6)
    start, ends = rng.standard_normal((V, K)), []
    for exact in (True, False):
        B, step = start, step_of(objective, pool, exact=exact)
        for _ in range(500):
            B = step(B, objective.slope(B).gradient)
        ends.append(objective.slope(B).value)
    assert ends[1] == pytest.approx(ends[0], rel=1e-5)


# ── The weight, and the data ─────────────────────────────────────────────────────────────────


def test_a_relative_weight_is_that_of_a_multiple_of_the_plain_sums(pool):
    rng = np.random.default_rng(8)
    objective, _, _ = problem("gram", "inner", rng, pool)
    F, G = objective.fit.largest, objective.supervised.term.largest
    for weight in (0.0, 0.25, 1.0):
        plain = replace(objective, weight=plain_weight(weight, F, G))
        ratios = []
        for _ in range(3):
            at = plain.slope(rng.standard_normal((V, K)))
            ratios.append(at.value / (weight * at.data / F + (1.0 - weight) * at.pairs / G))
        np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)


@pytest.mark.parametrize("filled", [0.0, 2.0])  # products with dense and with sparse rows
@pytest.mark.parametrize("data", [*INNER, *APART])
def test_sources_give_single_pairs_and_rows(monkeypatch, data, filled):
    monkeypatch.setattr(sources, "_FILLED", filled)
    rng = np.random.default_rng(9)
    source, X, W = data_of(data, rng)
    left, right = np.array([0, 3, 16]), np.array([5, 9, 2])
    expected = X[left, right]
    if data in APART:
        expected = np.where(W[left, right] > 0.0, expected, np.nan)
    np.testing.assert_allclose(source.at(left, right), expected, atol=1e-9)
    rows = np.array([2, 7, 8])
    found = source.dense(rows)
    if data in APART:
        np.testing.assert_allclose(found[1], W[rows])
        np.testing.assert_allclose(found[0] * W[rows], X[rows] * W[rows], atol=1e-9)
        J = np.eye(V) - 1.0 / V
        with Pool(1) as pool:
            operator = source.centred(get_ops("cpu", pool))
            off = X * (1.0 - np.eye(V))
            np.testing.assert_allclose(
                operator.multiply(np.eye(V)), -0.5 * J @ off**2 @ J, atol=1e-8
            )
    else:
        np.testing.assert_allclose(found, X[rows], atol=1e-9)


def test_the_objective_of_inner_products_needs_no_square_array(pool):
    """30,000 words: a V × V array would take 7,200 MB."""
    import tracemalloc

    rng, size = np.random.default_rng(10), 30_000
    random = scipy.sparse.random_array((size, size), density=1e-4, rng=rng, format="csr")
    full = (random + random.T).tocsr()
    full.sort_indices()
    from wordgeom.core.types import Csr

    X = Csr(full.indptr.astype(np.int64), full.indices.astype(np.int32), full.data, size)
    cpu, pairs = get_ops("cpu", pool), supervision(rng, 500, 200)
    term = partial(terms.Order, pairs.scores, 1.0, True)
    fit = InnerFit(sources.Entries(X), cpu, cpu, pool)
    objective = Objective(fit, terms.Supervised(pairs, terms.products, term()), 0.5)
    B = rng.standard_normal((size, 8))
    tracemalloc.start()
    at = objective.slope(B)
    moved = InnerStep(objective, fit, cpu)(B, at.gradient)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert objective.slope(moved).value < at.value
    assert peak < 60e6

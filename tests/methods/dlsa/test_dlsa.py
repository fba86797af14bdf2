"""Dynamic LSA: both half sweeps against dense algebra, objective, canonical form, polynomials."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest
from matrices import store_documents, to_csr
from threadpoolctl import threadpool_limits

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Float64
from wordgeom.linalg.device import get_ops
from wordgeom.linalg.eigensolver import EigenSettings
from wordgeom.linalg.svd import truncated_svd
from wordgeom.matrices.times import Times
from wordgeom.methods.contract import Status
from wordgeom.methods.dlsa import canonical_form, fit, method
from wordgeom.methods.dlsa.polynomials import Polynomials
from wordgeom.methods.dlsa.problem import Problem, design_matrix, make_problem, trend_effects
from wordgeom.methods.dlsa.sweeps import Ridges, Sweeper
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool
from wordgeom.weighting.documents import WeightedDocuments
from wordgeom.weighting.options import DocumentOptions

N, P, R = 70, 25, 4
RIDGES = Ridges(0.3, 0.2)  # large ones, so that a wrong place shows


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(2) as opened:
        yield opened


def times_of(n: int = N) -> Float64:
    return np.random.default_rng(0).choice([1946.0, 1950.0, 1951.5, 1980.0, 2024.0], n)


def counts(n: int = N, p: int = P) -> Array:
    rng = np.random.default_rng(1)
    dense = rng.poisson(rng.gamma(0.5, 2.0, (n, p))) * rng.uniform(0.5, 2.0, (n, p))
    return dense.astype(np.float32)


def posed(
    dense: Array, degree: int, trend: str, pool: Pool, moving: Array | None = None
) -> tuple[Problem, Float64]:
    """A problem, and X − G M as it stands for."""
    values = Polynomials.of(times_of(len(dense)), degree).values
    mask = np.ones(dense.shape[1], bool) if moving is None else moving
    problem = make_problem(to_csr(dense), values, trend, mask, get_ops("cpu", pool))
    G = trend_effects(values, trend)
    return problem, dense - G @ (G.T @ dense)


def sweeper(problem: Problem, pool: Pool, ridges: Ridges = RIDGES) -> Sweeper:
    return Sweeper(problem, ridges, get_ops("cpu", pool), pool)


def objective(Xc: Float64, F: Float64, A: Array, B: list[Array]) -> float:
    fitted = sum(F[:, [k]] * (A @ one.T) for k, one in enumerate(B))
    sizes = RIDGES.documents * (A**2).sum() + RIDGES.words * sum((one**2).sum() for one in B)
    return float(((Xc - fitted) ** 2).sum() + sizes)


@pytest.mark.parametrize("degree", [1, 3])
def test_polynomials_are_orthonormal_over_the_documents_with_positive_leading_terms(degree: int):
    times = times_of()
    made = Polynomials.of(times, degree)
    F = design_matrix(made.values)
    np.testing.assert_allclose(F.T @ F / N, np.eye(degree + 1), atol=1e-13)
    np.testing.assert_array_equal(made.at(times), made.values)
    far = made.at(np.array([1e6]))
    assert (far > 0).all()


def test_polynomials_are_orthogonalised_powers():
    times = times_of()
    x = (times - times.mean()) / times.std()
    Q, triangle = np.linalg.qr(np.vander(x, 4, increasing=True))
    wanted = (Q * np.sign(np.diag(triangle)))[:, 1:] * np.sqrt(N)
    np.testing.assert_allclose(Polynomials.of(times, 3).values, wanted, atol=1e-10)


def test_polynomials_are_read_as_they_were_written():
    times = times_of()
    made = Polynomials.of(times, 2)
    again = Polynomials.from_dict(made.to_dict(), 2, times)
    np.testing.assert_array_equal(again.values, made.values)
    assert again.to_dict() == made.to_dict()


@pytest.mark.parametrize(
    "edit",
    [
        {"scale": 0.0}, {"scale": float("nan")}, {"norms": [1.0]}, {"shifts": ["a", 1.0]},
        {"centre": None}, {"norms": [1.0, True]}, {"more": 1}, {"scale": 1e-307},
        {"shifts": [0.0], "norms": [1.0]}, {"shifts": 2},
    ],
)  # fmt: skip
def test_edited_polynomials_are_rejected(edit: dict[str, object]):
    with pytest.raises((ValueError, TypeError)):
        Polynomials.from_dict(Polynomials.of(times_of(), 2).to_dict() | edit, 2, times_of())


def test_polynomials_of_another_degree_are_not_evaluated(monkeypatch):
    monkeypatch.setattr(Polynomials, "at", None)  # would fail
    held = {"centre": 0.0, "scale": 1.0, "shifts": [0.0] * 11, "norms": [1.0] * 11}
    for degree in (2, 11):
        with pytest.raises(ValueError, match="wrong degree"):
            Polynomials.from_dict(held, degree, times_of())


@pytest.mark.parametrize(
    ("times", "degree", "told"),
    [
        ([1950.0] * 5, 1, "at least two distinct times, found only 1950"),
        ([1950.0, 1960.0] * 3, 2, "needs 3 distinct times, found 2 times; lower it to --degree 1"),
        ([0.0, 1e-9, 1.0], 2, "almost coincide; lower it to --degree 1"),
        ([1e308, -1e308, 0.0], 1, "too far apart"),
        ([0.0, 1e-200], 1, "times from 0 to 1e-200 are too close for float64; use"),
        ([0.0, 1e-320, 2e-320], 2, "too close for float64"),
    ],
)
def test_too_few_times_are_explained(times: list[float], degree: int, told: str):
    with pytest.raises(InputError) as caught:
        Polynomials.of(np.array(times), degree)
    assert told in str(caught.value)


@pytest.mark.parametrize("trend", ["hold", "free"])
@pytest.mark.parametrize("degree", [1, 2])
def test_the_half_sweep_over_words_is_the_least_squares_solution(
    degree: int, trend: str, pool: Pool
):
    moving = np.arange(P) % 3 > 0
    problem, Xc = posed(counts(), degree, trend, pool, moving)
    A = np.random.default_rng(2).standard_normal((N, R))
    half = sweeper(problem, pool).words(A)
    D = np.concatenate([F[:, None] * A for F in problem.basis.T], axis=1)
    for mask, width in ((moving, D.shape[1]), (~moving, R)):
        system = D[:, :width].T @ D[:, :width] + RIDGES.words * np.eye(width)
        wanted = np.zeros((D.shape[1], mask.sum()))
        wanted[:width] = np.linalg.solve(system, D[:, :width].T @ Xc[:, mask])
        found = np.concatenate(half.solution, axis=1).T[:, mask]
        np.testing.assert_allclose(found, wanted, atol=1e-10)
    J = objective(Xc, problem.basis, A, half.solution)
    assert half.objective == pytest.approx(J, rel=1e-10)
    assert problem.total == pytest.approx((Xc**2).sum(), rel=1e-10)


@pytest.mark.parametrize("degree", [1, 2])
def test_the_half_sweep_over_documents_is_the_least_squares_solution(degree: int, pool: Pool):
    problem, Xc = posed(counts(), degree, "hold", pool)
    B = list(np.random.default_rng(3).standard_normal((degree + 1, P, R)))
    half = sweeper(problem, pool).documents(B)
    for i in range(N):
        at = sum(problem.basis[i, k] * B[k] for k in range(degree + 1))
        system = at.T @ at + RIDGES.documents * np.eye(R)
        np.testing.assert_allclose(half.solution[i], np.linalg.solve(system, at.T @ Xc[i]),
                                   atol=1e-10)  # fmt: skip
    wanted = objective(Xc, problem.basis, half.solution, B)
    assert half.objective == pytest.approx(wanted, rel=1e-10)


def test_half_sweeps_in_float32_agree_with_float64(pool: Pool):
    problem, _ = posed(counts(), 2, "hold", pool)
    A = np.random.default_rng(2).standard_normal((N, R))
    one, other = (sweeper(problem, pool).words(a) for a in (A, A.astype(np.float32)))
    assert other.solution[0].dtype == np.float32
    np.testing.assert_allclose(other.solution, one.solution, atol=2e-6)
    first, second = (sweeper(problem, pool).documents(h.solution).solution for h in (one, other))
    np.testing.assert_allclose(second, first, atol=2e-5 * np.abs(first).max())


@pytest.mark.parametrize("half", ["words", "documents"])
def test_bytes_of_a_half_sweep_do_not_depend_on_blas_threads(half: str):
    many, few, r = 10_000, 20, 100  # less, and BLAS takes one thread by itself
    rng = np.random.default_rng(11)
    side = rng.standard_normal((2, many, r))
    dense = rng.poisson(1.0, (many, few)).astype(np.float32)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"), Pool(1) as one:
            made = sweeper(posed(dense if half == "words" else dense.T, 1, "hold", one)[0], one)
            solved = made.words(side[0]) if half == "words" else made.documents(list(side))
            found.append((np.array(solved.solution).tobytes(), solved.objective))
    assert found[0] == found[1]


def fitted(dense: Array, degree: int, sweeps: int, pool: Pool, rank: int = R) -> fit.State:
    problem, _ = posed(dense, degree, "free", pool)
    ops = get_ops("cpu", pool)
    svd = truncated_svd(to_csr(dense), EigenSettings(rank), ops, effects=problem.effects)
    state = fit.initial_state(svd, degree + 1, problem.total)
    for _ in fit.sweep(state, sweeper(problem, pool, state.ridges), fit.half_sweeps(sweeps)):
        pass
    return state


def test_the_objective_starts_at_static_lsa_and_never_increases(pool: Pool):
    dense = counts(200, 60)
    objectives = fitted(dense, 2, 8, pool).objectives
    assert len(objectives) == 1 + fit.half_sweeps(8)
    Xc = dense - dense.mean(axis=0)
    left = np.linalg.svd(Xc, compute_uv=False)[R:]
    assert objectives[0] == pytest.approx((left**2).sum(), rel=1e-6)
    drops = -np.diff(objectives) / objectives[0]
    assert drops.min() > -1e-6
    assert drops[:4].min() > 1e-5


def planted(n: int, p: int, noise: float) -> tuple[Array, Float64, Float64]:
    """X, A and [B_0, B_1], where neither A nor diag(p_1) A has a mean to be taken away."""
    rng = np.random.default_rng(7)
    F = design_matrix(Polynomials.of(times_of(n), 1).values)
    A = rng.standard_normal((n, R))
    A -= F @ np.linalg.lstsq(F, A, rcond=None)[0]
    B = [rng.standard_normal((p, R)), 0.5 * rng.standard_normal((p, R))]
    X = sum(F[:, [k]] * (A @ one.T) for k, one in enumerate(B))
    return (X + noise * rng.standard_normal((n, p))).astype(np.float32), A, np.concatenate(B, 1)


def angle(one: Array, other: Array) -> float:
    """The sine of the largest angle between two spaces of columns."""
    Q, S = np.linalg.qr(one)[0], np.linalg.qr(other)[0]
    return float(np.linalg.norm(Q - S @ (S.T @ Q), 2))


def test_planted_documents_and_words_are_found(pool: Pool):
    X, A, B = planted(400, 30, 0.01)
    state = fitted(X, 1, 100, pool)
    assert state.objectives[-1] < 1e-3 * state.objectives[0]
    assert angle(np.concatenate(state.B, axis=1), B) < 0.02
    assert angle(state.A, A) < 0.02


def test_the_status_reports_an_unsettled_objective(tmp_path, pool: Pool):
    stored = store_documents(tmp_path / "dtm", counts().astype(np.int64))
    weighted = WeightedDocuments(stored, DocumentOptions(weight="raw"), pool)
    none = np.empty(0, np.int64)
    inputs = {"documents": weighted, "times": Times(times_of(), none, none, None)}
    context = Context(pool, partial(get_ops, "cpu", pool), 1 << 30)
    for sweeps, status in ((0, Status.CONVERGED), (1, Status.REACHED_BUDGET)):
        result = method.fit(inputs, method.Options(dim=R, sweeps=sweeps), context)
        assert result.status is status
        assert any("not converged" in note for note in result.notes) == bool(sweeps)


def test_the_canonical_form_preserves_the_fit():
    rng = np.random.default_rng(4)
    A, B = rng.standard_normal((N, R)), list(rng.standard_normal((3, P, R)))
    made, words = canonical_form.canonical(A, B)
    for before, after in zip(B, words, strict=True):
        np.testing.assert_allclose(made @ after.T, A @ before.T, atol=1e-10)
    np.testing.assert_allclose(words[0].T @ words[0], np.eye(R), atol=1e-10)
    gram = made.T @ made
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-9)
    assert (np.diff(np.diag(gram)) < 0).all()
    assert (words[0][np.abs(words[0]).argmax(axis=0), np.arange(R)] > 0).all()


def test_the_canonical_form_does_not_depend_on_the_basis():
    rng = np.random.default_rng(4)
    A, B = rng.standard_normal((N, R)), list(rng.standard_normal((2, P, R)))
    C = rng.standard_normal((R, R))
    one = canonical_form.canonical(A, B)
    other = canonical_form.canonical(A @ C, [b @ np.linalg.inv(C).T for b in B])
    np.testing.assert_allclose(other[0], one[0], atol=1e-9)
    np.testing.assert_allclose(other[1], one[1], atol=1e-9)


def test_alignment_removes_changes_of_basis():
    rng = np.random.default_rng(5)
    B = rng.standard_normal((3, R, P))
    moved = B.copy()
    moved[1:] += rng.standard_normal((2, R, R)) @ B[0]
    everywhere = np.ones(P, bool)
    made = canonical_form.aligned(B, everywhere)
    np.testing.assert_allclose(made[1:] @ B[0].T, 0.0, atol=1e-10)
    np.testing.assert_allclose(canonical_form.aligned(moved, everywhere), made, atol=1e-10)
    np.testing.assert_array_equal(made[0], B[0])


def test_fixed_words_stay_and_fix_the_basis():
    rng = np.random.default_rng(6)
    B, moving = rng.standard_normal((2, R, P)), np.arange(P) < 5
    B[1:, :, ~moving] = 0.0
    np.testing.assert_array_equal(canonical_form.aligned(B, moving), B)
    B[:, :, ~moving] = 0.0
    B[0, 0, ~moving] = 1.0  # words that stay and fix one axis alone
    made = canonical_form.aligned(B, moving)
    np.testing.assert_allclose(made[1][:, ~moving], 0.0, atol=1e-12)
    assert np.abs(made - B).max() > 0.1

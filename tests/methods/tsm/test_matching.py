"""Thresholded similarity matching against dense algebra, and what it guarantees."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from contexts import context_of
from matching import clustered, dense_matching, dense_similarities, matched, two_threads

from wordgeom.linalg.device import get_ops
from wordgeom.methods.tsm import alternation, ritz, tiles
from wordgeom.methods.tsm.embedding import embed
from wordgeom.methods.tsm.factors import Factors
from wordgeom.methods.tsm.recomputed import RecomputedTarget
from wordgeom.methods.tsm.similarities import similarities
from wordgeom.methods.tsm.targets import StoredTarget
from wordgeom.methods.tsm.virtual import arc, virtual_inputs
from wordgeom.runtime.pool import Pool

__all__ = ["two_threads"]  # a fixture
TAU = 0.75


@pytest.fixture(scope="module")
def points():
    return clustered()


# ── S ────────────────────────────────────────────────────────────────────────────────────────


def test_the_similarities_are_those_of_all_pairs(points, context):
    made = similarities(points, TAU, context.pool)
    S = dense_similarities(points, TAU)
    panel = made.panels[0]
    found = np.zeros_like(S)
    found[panel.entry_rows, panel.indices] = panel.data
    np.testing.assert_allclose(found, S, atol=1e-5)
    norms = np.linalg.norm(points, axis=1)
    dense = (points @ points.T - TAU * np.outer(norms, norms)).sum()
    assert made.total == pytest.approx(dense, rel=1e-9)
    assert made.square == pytest.approx(np.square(S).sum(), rel=1e-5)
    assert made.positive == np.count_nonzero(S)


@pytest.mark.parametrize("cosine", [0.7, 0.2, -0.6, -1.0])
def test_an_arc_has_steps_below_the_threshold_and_no_point_too_many(cosine):
    one, other = np.eye(3)[0], np.array([cosine, np.sqrt(1.0 - cosine**2), 0.0])
    made = arc(one, other, 1.0, 3.0, TAU)
    chain = np.vstack((one, made, 3.0 * other))
    lengths = np.linalg.norm(chain, axis=1)
    steps = np.arccos(np.clip((chain[1:] * chain[:-1]).sum(1) / lengths[1:] / lengths[:-1], -1, 1))
    assert steps.max() < np.arccos(TAU)
    np.testing.assert_allclose(steps, np.arccos(cosine) / (len(made) + 1), atol=1e-6)
    assert np.arccos(cosine) / len(made) >= np.arccos(TAU) * (1.0 - 1e-4)
    np.testing.assert_allclose(np.diff(lengths), 2.0 / (len(made) + 1), atol=1e-9)


def test_a_point_alone_is_joined_to_its_nearest(points, context):
    with_outlier = np.vstack((points, -3.0 * points.mean(axis=0) + np.eye(12)[4] * 9.0))
    alone = np.flatnonzero(similarities(with_outlier, TAU, context.pool).degrees == 1)
    assert len(points) in alone
    added = virtual_inputs(with_outlier, alone, TAU, context.pool)
    joined = similarities(np.vstack((with_outlier, added)), TAU, context.pool)
    assert joined.degrees.min() > 1
    made = matched(with_outlier, context)
    assert (made.alone, made.virtual) == (len(alone), len(added))
    assert made.vectors.shape == (len(with_outlier), 4)


# ── Z ────────────────────────────────────────────────────────────────────────────────────────


def target_of(kind, points, context, monkeypatch, momentum=True):
    """Return Z of some points in several tiles."""
    monkeypatch.setattr(tiles, "WIDTH", 48)
    panels = similarities(points, TAU, context.pool).panels
    if kind is StoredTarget:
        return StoredTarget(panels, context.pool, momentum=momentum)
    return RecomputedTarget(panels, context.ops, context.pool)


@pytest.mark.parametrize("kind", [StoredTarget, RecomputedTarget])
def test_an_update_of_z_is_that_of_the_dense_matrix(kind, points, context, monkeypatch):
    target = target_of(kind, points, context, monkeypatch)
    rng = np.random.default_rng(2)
    F = rng.standard_normal((len(points), 3)).astype(np.float32)
    right = rng.standard_normal((len(points), 5)).astype(np.float32)
    w, S = np.array([1.0, -0.5, 0.3]), dense_similarities(points, TAU)
    image, sums = target.update(Factors(F, w), 0.9, right)
    L = (F * w) @ F.T
    Z = np.where(S > 0.0, S, np.minimum(L, 0.0))
    np.testing.assert_allclose(image, Z @ right, atol=1e-4)
    assert sums == pytest.approx([np.square(L - Z).sum(), Z.sum()], rel=1e-5)
    target.shift(-0.25)
    Z = np.where(S > 0.0, S, Z - 0.25)
    np.testing.assert_allclose(target.multiply(right), Z @ right, atol=1e-4)


def test_the_momentum_of_z_is_that_of_the_last_two(points, context, monkeypatch):
    target = target_of(StoredTarget, points, context, monkeypatch)
    rng, S = np.random.default_rng(3), dense_similarities(points, TAU)
    past: list[np.ndarray] = []
    eye = np.eye(len(points), dtype=np.float32)
    w = np.array([1.0, -1.0])
    for k in range(5):
        F = rng.standard_normal((len(points), 2)).astype(np.float32)
        image, _ = target.update(Factors(F, w), 0.5, eye)
        Z = np.where(S > 0.0, S, np.minimum((F * w) @ F.T, 0.0))
        if k > 1:
            Z += 0.5 * (past[1] - past[0])
        past = [*past, Z][-2:]
        np.testing.assert_allclose(image, Z, atol=1e-4)


# ── Eigenvectors ─────────────────────────────────────────────────────────────────────────────


def test_ritz_pairs_of_an_invariant_space_are_eigenpairs(context):
    rng = np.random.default_rng(4)
    Z = rng.standard_normal((60, 60)).astype(np.float32)
    Z += Z.T
    values, vectors = np.linalg.eigh(Z.astype(float))
    best = np.argsort(-np.abs(values))[:5]
    Q = np.ascontiguousarray(vectors[:, best], np.float32)
    made, image = ritz.refine(Q, Z @ Q, lambda right: Z @ right, 5, context.ops)
    assert sorted(made.weights) == pytest.approx(sorted(values[best]), rel=1e-5)
    np.testing.assert_allclose(image, Z @ made.basis, atol=1e-4)
    L = (vectors[:, best] * values[best]) @ vectors[:, best].T
    np.testing.assert_allclose((made.basis * made.weights) @ made.basis.T, L, atol=1e-3)


def test_steps_from_any_start_converge_to_the_eigenpairs_of_largest_magnitude(context):
    rng = np.random.default_rng(5)
    U = np.linalg.qr(rng.standard_normal((80, 80)))[0]
    values = np.concatenate(([9.0, -8.0, 7.0, -6.0], rng.uniform(-1.0, 1.0, 76)))
    Z = ((U * values) @ U.T).astype(np.float32)
    Q = np.linalg.qr(rng.standard_normal((80, 4)))[0].astype(np.float32)
    for _ in range(8):
        made, _ = ritz.refine(Q, Z @ Q, lambda right: Z @ right, 4, context.ops)
        Q = made.basis
    assert sorted(made.weights) == pytest.approx([-8.0, -6.0, 7.0, 9.0], rel=1e-5)


# ── The alternation ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("momentum", "constraint"),
    [(0.0, "off"), (0.9, "off"), (0.9, "paper"), (0.0, "reversed"), (0.5, "reversed")],
)
def test_objectives_are_those_of_dense_algebra(points, context, momentum, constraint):
    made = matched(points, context, updates=30, momentum=momentum, constraint=constraint)
    _, exact = dense_matching(points, 4, TAU, 30, momentum, constraint)
    assert made.virtual == 0
    ours, theirs = np.array(made.objectives), np.array(exact)
    assert ours[0] == pytest.approx(theirs[0], rel=1e-4)
    assert np.abs(ours - theirs).max() < 0.1 * theirs[0]
    assert ours[-1] == pytest.approx(theirs[-1], rel=0.1)


@pytest.mark.parametrize("d", [2, 4, 7])
@pytest.mark.parametrize("low_memory", [False, True])
def test_the_objective_never_increases_without_momentum_and_constraint(
    points, context, d, low_memory
):
    made = matched(points, context, d, momentum=0.0, low_memory=low_memory)
    of_rank_d = made.objectives[1:]  # the first L has rank d + 1
    assert np.diff(of_rank_d).max() <= 1e-6 * of_rank_d[0]
    assert of_rank_d[-1] < 0.9 * of_rank_d[0]
    assert made.shifts == 0


def test_momentum_ends_lower(points, context):
    plain, fast = (matched(points, context, momentum=m).objectives[-1] for m in (0.0, 0.9))
    assert fast < 0.8 * plain


def test_without_momentum_both_ways_of_storing_z_are_the_same_method(points, context):
    one, other = (matched(points, context, momentum=0.0, low_memory=low) for low in (False, True))
    assert one.objectives == pytest.approx(other.objectives, rel=1e-4)


@pytest.mark.parametrize("kind", ["off", "paper", "reversed"])
def test_the_shift_meets_the_constraint_exactly_where_it_is_violated(kind):
    constraint = alternation.Constraint(kind, 10.0, 4)
    for total in (2.0, 30.0):
        moved = total + 4 * constraint.shift(total)
        violated = {"off": False, "paper": total < 10.0, "reversed": total > 10.0}[kind]
        assert moved == (10.0 if violated else total)


def test_any_number_of_threads_gives_the_same_bytes(points):
    made = []
    for threads in (1, 3):
        with Pool(threads) as pool:
            for low in (False, True):
                result = matched(clustered(700), context_of(pool), updates=4, low_memory=low)
                made.append((result.vectors.tobytes(), result.objectives))
    assert made[:2] == made[2:]


@pytest.mark.torch
@pytest.mark.parametrize("low_memory", [False, True])
@pytest.mark.parametrize("constraint", ["off", "reversed"])
def test_torch_computes_the_same_updates(points, context, low_memory, constraint):
    device = replace(context, open_ops=partial(get_ops, "torch-cpu", context.pool))
    settings = {"updates": 6, "low_memory": low_memory, "constraint": constraint}
    ours, theirs = (matched(points, each, **settings) for each in (context, device))
    assert ours.objectives == pytest.approx(theirs.objectives, rel=1e-3)
    gram = ours.vectors @ ours.vectors.T
    np.testing.assert_allclose(
        theirs.vectors @ theirs.vectors.T, gram, atol=1e-3 * np.abs(gram).max()
    )
    assert ours.shifts == theirs.shifts


@pytest.mark.torch
def test_panels_that_do_not_fit_the_device_stay_beside_it(points, context, monkeypatch):
    """On a GPU they are in another memory, which no test can show without one."""
    from wordgeom.methods.tsm import torch_targets

    device = replace(context, open_ops=partial(get_ops, "torch-cpu", context.pool))
    whole = matched(points, device, updates=4)
    monkeypatch.setattr(torch_targets, "_room", lambda _: 0)
    beside = matched(points, device, updates=4)
    np.testing.assert_array_equal(beside.vectors, whole.vectors)


# ── The embedding ────────────────────────────────────────────────────────────────────────────


def test_vectors_that_exist_are_recovered_from_l(context):
    rng = np.random.default_rng(6)
    Y = rng.standard_normal((50, 3))
    norms = np.linalg.norm(Y, axis=1)
    L = Y @ Y.T - TAU * np.outer(norms, norms)
    values, vectors = np.linalg.eigh(L)
    best = np.argsort(-np.abs(values))[:4]
    factors = Factors(vectors[:, best].astype(np.float32), values[best])
    made = embed(factors, TAU, 3, context.ops)
    np.testing.assert_allclose(made.vectors @ made.vectors.T, Y @ Y.T, atol=1e-4)
    assert made.rank == 3


def test_the_embedding_is_the_best_of_its_rank_for_the_gram_matrix(context):
    rng = np.random.default_rng(7)
    F, w = rng.standard_normal((40, 4)), np.array([3.0, 2.0, 1.0, -0.5])
    Q = np.linalg.qr(F)[0].astype(np.float32)
    made = embed(Factors(Q, w), TAU, 3, context.ops)
    L = (Q * w) @ Q.T.astype(float)
    s = np.sqrt(np.maximum(np.diag(L), 0.0))
    values, vectors = np.linalg.eigh(L + TAU / (1.0 - TAU) * np.outer(s, s))
    best = (vectors[:, -3:] * np.maximum(values[-3:], 0.0)) @ vectors[:, -3:].T
    np.testing.assert_allclose(made.vectors @ made.vectors.T, best, atol=1e-5)
    assert made.eigenvalues[:4] == pytest.approx(values[::-1][:4], abs=1e-5)


def test_points_of_few_dimensions_are_matched_exactly(context):
    plane = np.random.default_rng(8).standard_normal((90, 3)) @ np.eye(3, 9)
    made = matched(plane, context, 5, updates=300)
    assert made.relative[-1] < 1e-8
    np.testing.assert_allclose(
        np.linalg.norm(made.vectors, axis=1), np.linalg.norm(plane, axis=1), rtol=1e-3
    )

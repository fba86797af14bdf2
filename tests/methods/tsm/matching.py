"""Points to embed, and thresholded similarity matching by dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
from contexts import context_of

from wordgeom.methods.tsm.solve import Settings, match
from wordgeom.runtime.pool import Pool


@pytest.fixture(scope="module", name="context")
def two_threads():
    """A context with two threads, for test modules that import it."""
    with Pool(2) as pool:
        yield context_of(pool)


def clustered(n=160, K=12, seed=1):
    """Return n points (n × K) in directions near a closed curve, of different lengths."""
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0.0, 2.0 * np.pi, n))
    waves = [f(k * angles) for k in range(1, K // 2 + 1) for f in (np.cos, np.sin)]
    points = np.column_stack(waves) + 0.02 * rng.standard_normal((n, K))
    return points * rng.uniform(0.5, 1.5, (n, 1))


def matched(points, context, d=4, threshold=0.75, **settings):
    """Return the matching of some points."""
    return match(points, Settings(d, threshold, **{"updates": 60} | settings), context)


def dense_similarities(points, threshold):
    """Return S (eq. 3)."""
    norms = np.linalg.norm(points, axis=1)
    return np.maximum(points @ points.T - threshold * np.outer(norms, norms), 0.0)


def dense_start(points, d, threshold):
    """Return the first L (eq. 17)."""
    _, axes = np.linalg.eigh(points.T @ points)
    projected = points @ axes[:, ::-1][:, :d]
    norms = np.linalg.norm(projected, axis=1)
    return projected @ projected.T - threshold * np.outer(norms, norms)


def dense_objective(L, S):
    """Return ‖L − Z‖² for the best Z."""
    return float(np.square(np.where(S > 0.0, S - L, np.maximum(L, 0.0))).sum())


def dense_matching(points, d, threshold, updates, momentum=0.0, constraint="off"):
    """Return L and the objectives by eq. 20–23, with all eigenvectors of each Z."""
    S, L = dense_similarities(points, threshold), dense_start(points, d, threshold)
    norms = np.linalg.norm(points, axis=1)
    bound = (points @ points.T - threshold * np.outer(norms, norms)).sum()
    objectives, past = [dense_objective(L, S)], list[np.ndarray]()
    for _ in range(updates):
        Z = np.where(S > 0.0, S, np.minimum(L, 0.0))
        missing = (bound - Z.sum()) / (S == 0.0).sum()
        delta = {"off": 0.0, "paper": max(0.0, missing), "reversed": min(0.0, missing)}[constraint]
        Z = np.where(S > 0.0, S, Z + delta)
        if len(past) == 2:
            Z += momentum * (past[1] - past[0])
        past = [*past, Z][-2:]
        values, vectors = np.linalg.eigh(Z)
        best = np.argsort(-np.abs(values))[:d]
        L = (vectors[:, best] * values[best]) @ vectors[:, best].T
        objectives.append(dense_objective(L, S))
    return L, objectives

"""Simulated documents with and without drift, and their F by ordinary regression."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from matrices import to_csr

from wordgeom.core.types import Array, Float64
from wordgeom.drift import testing
from wordgeom.drift.options import DriftOptions
from wordgeom.drift.verdict import Verdict
from wordgeom.linalg.device import get_ops
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.scheduler import Scheduler


@contextmanager
def opened(
    threads: int = 2, device: str = "cpu", memory: int = 10**9, seed: int = 1,
    cluster: Scheduler | None = None,
) -> Iterator[Context]:  # fmt: skip
    """A context on a pool."""
    with Pool(threads) as pool:
        yield Context(pool, partial(get_ops, device, pool), memory, seed, cluster=cluster)


def polynomials(times: Array, degree: int) -> Float64:
    """Powers of the times (n × q), orthogonal to each other and to 1, with mean square 1."""
    t = (times - times.mean()) / max(np.ptp(times), 1.0)
    basis = np.linalg.qr(np.vander(t, degree + 1, increasing=True))[0][:, 1:]
    return np.asarray(basis * len(times) ** 0.5)


def documents(
    rng: np.random.Generator,
    n: int,
    p: int,
    topics: int,
    *,
    t: Array | None = None,
    change: float = 0.0,
    moving: int | None = None,
    noise: float = 1.0,
) -> Float64:
    """A B₀ + T A B₁ + Z (n × p); change: standard deviation of B₁ for the first `moving` words."""
    A, B0 = rng.normal(size=(n, topics)), rng.normal(size=(topics, p))
    X = A @ B0 + noise * rng.normal(size=(n, p))
    if t is not None and change:
        B1 = change * rng.normal(size=(topics, p))
        B1[:, p if moving is None else moving :] = 0.0
        X += t[:, None] * (A @ B1)
    return np.asarray(X)


def regression(X: Array, U: Array, values: Array, hold: bool) -> tuple[Float64, Float64]:
    """F and partial R² of each word by np.linalg.lstsq, with the polynomials values (n × q)."""
    n, r, q = len(X), U.shape[1], values.shape[1]
    reduced = np.hstack([np.ones((n, 1)), U, values] if hold else [np.ones((n, 1)), U])
    full = np.hstack([np.ones((n, 1)), U, values, *(values[:, k, None] * U for k in range(q))])
    before, after = (_residual(X, design) for design in (reduced, full))
    degrees = n - full.shape[1]
    tested = r * q if hold else (r + 1) * q
    return (before - after) / tested / (after / degrees), 1.0 - after / before


def _residual(X: Array, design: Array) -> Float64:
    left = X - design @ np.linalg.lstsq(design, X, rcond=None)[0]
    return np.asarray((left**2).sum(axis=0))


def verdict_of(
    X: Array, times: Array, rank: int, *, degree: int = 1, threads: int = 1, seed: int = 1,
    memory: int = 10**9, groups: Array | None = None, device: str = "cpu",
    cluster: Scheduler | None = None, **options: Any,
) -> Verdict:  # fmt: skip
    """The verdict of `test_drift`."""
    options.setdefault("test", "permutation")
    if options.get("permute") == "within":
        options["group"] = "id"
    with opened(threads, device, memory, seed, cluster) as context:
        return testing.test_drift(
            to_csr(X.astype(np.float32)), polynomials(times, degree), times,
            DriftOptions(**options), rank, groups, context,
        )  # fmt: skip

"""Permutations and sign flips on a cluster give the statistics of a local run, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from drifting import documents, verdict_of
from flipping import drawn, flipped, topics
from pickled import PickledScheduler

from wordgeom.drift.verdict import Verdict
from wordgeom.schedulers import shared_array

_VALUES = ("F", "turn", "r2", "pvalues", "qvalues", "mixture_p", "global_p")


def _assert_same(found: Verdict, alone: Verdict) -> None:
    for name in _VALUES:
        np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))


@pytest.mark.parametrize("permute", ["times", "documents", "within"])
@pytest.mark.parametrize("trend", ["hold", "free"])
def test_permutations_have_the_bytes_of_a_local_run(permute, trend):
    rng = np.random.default_rng(1)
    X = np.round(documents(rng, 240, 150, 3), 3)
    X[rng.random(X.shape) < 0.3] = 0.0
    times = np.arange(240) % 8 * 1.0
    groups = np.arange(240) // 60 if permute == "within" else None
    given = {"permute": permute, "trend": trend, "permutations": 40, "degree": 2}
    alone = verdict_of(X, times, 3, groups=groups, threads=2, **given)
    cluster = PickledScheduler()
    found = verdict_of(X, times, 3, groups=groups, cluster=cluster, **given)
    _assert_same(found, alone)
    assert cluster.number > 3  # groups of permutations, and blocks of words


def test_sign_flips_have_the_bytes_of_a_local_run():
    rng = np.random.default_rng(2)
    mixtures = rng.dirichlet(np.full(4, 0.5), 160)
    X = drawn(rng, mixtures @ topics(rng, 4, 40), np.full(160, 50))
    times, cluster = np.arange(160) % 8, PickledScheduler()
    alone = flipped(X, times, degree=2, threads=2)
    _assert_same(flipped(X, times, degree=2, cluster=cluster), alone)
    assert cluster.number == 1


def test_a_worker_holds_the_arrays_of_two_maps():
    rng = np.random.default_rng(3)
    cluster = PickledScheduler()
    mixtures = rng.dirichlet(np.full(4, 0.5), 160)
    X = drawn(rng, mixtures @ topics(rng, 4, 40), np.full(160, 50))
    flipped(X, np.arange(160) % 8, cluster=cluster)
    assert 2 * cluster.shared <= shared_array._OPEN

"""The diagonal from which L-BFGS starts: pairs of an item, and what they gain."""

from __future__ import annotations

import numpy as np

from wordgeom.methods.mde import descent
from wordgeom.methods.mde.curvatures import curvatures
from wordgeom.methods.mde.distortions.attractive.log1p import Log1p
from wordgeom.methods.mde.distortions.repulsive.log import Log
from wordgeom.methods.mde.graphs.keys import to_pairs
from wordgeom.methods.mde.graphs.sampling import random_keys
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.methods.mde.problem import Term
from wordgeom.methods.mde.solve import Settings, get_problem, solve
from wordgeom.optim.constraints import Centered

n = 300


def star() -> Pairs:
    """Return pairs of item 0 with all others, and of neighbours in a row."""
    left = np.concatenate([np.zeros(n - 1, np.int32), np.arange(1, n - 1, dtype=np.int32)])
    right = np.concatenate([np.arange(1, n, dtype=np.int32), np.arange(2, n, dtype=np.int32)])
    return Pairs(left, right, np.ones(len(left), np.float32))


def terms() -> list[Term]:
    keys = random_keys(n, 600, np.random.default_rng(1), np.empty(0, np.int64))
    return [Term(star(), Log1p()), Term(to_pairs(keys, n, np.ones(len(keys))), Log())]


def test_similar_pairs_are_counted_and_no_item_has_fewer_than_half_of_the_mean():
    found = curvatures(terms(), n + 1)  # the last item has no pair
    mean = 2 * len(star()) / (n + 1)
    np.testing.assert_allclose(found[0], (n - 1) / mean)
    np.testing.assert_allclose(found[2 : n - 1], 3 / mean)
    assert found[n] == 0.5


def test_where_one_item_has_most_pairs_fewer_steps_are_needed(using, monkeypatch):
    start = np.random.default_rng(2).standard_normal((n, 3)).astype(np.float32)
    values = []
    for same in (False, True):
        if same:
            monkeypatch.setattr(descent, "curvatures", lambda terms, items: np.ones(items))
        found = solve(get_problem(n, terms(), using), start.copy(), Centered(n, using.ops),
                      Settings(steps=20, enough=0.0), using)  # fmt: skip
        values.append(found.values[-1])
    assert values[0] < 0.99 * values[1]

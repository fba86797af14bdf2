"""Ties: shared or decided by names, so that the order of the rows changes no vector."""

from __future__ import annotations

import numpy as np
import pytest
from contexts import context_of
from points import brute, surface

from wordgeom.imputation import graph as graph_module
from wordgeom.imputation import validation
from wordgeom.imputation.domain import Domain, DomainOptions
from wordgeom.imputation.graph import neighbour_graph
from wordgeom.imputation.latent import impute
from wordgeom.imputation.name_order import name_order
from wordgeom.imputation.options import ImputeOptions
from wordgeom.imputation.points import points as points_of
from wordgeom.imputation.tables.matching import Anchors
from wordgeom.linalg import nearest_neighbours
from wordgeom.runtime.pool import Pool

SECTORS = 11


def sectors(rng, n=160):
    """One-hot sectors, as pandas.get_dummies makes them; the last has one firm."""
    which = np.minimum(rng.integers(0, SECTORS - 1, n), SECTORS - 2)
    which[-1] = SECTORS - 1
    return np.eye(SECTORS)[which]


def fields(rng, n=160):
    """Two one-hot fields side by side: sector and country."""
    return np.hstack((np.eye(6)[rng.integers(0, 6, n)], np.eye(7)[rng.integers(0, 7, n)]))


def copies(rng, n=160):
    """Real features, of which a third occur up to 100 times."""
    points = rng.standard_normal((n, 20))
    points[: n // 3] = points[rng.integers(0, 3, n // 3)]
    return points


TABLES = {
    "one-hot": sectors,
    "two one-hot fields": fields,
    "one-hot of all": lambda rng: np.eye(100),
    "copies": copies,
    "all equal": lambda rng: np.ones((100, 3)),
    "0/1": lambda rng: (rng.random((160, 12)) < 0.3) + 0.0,
    "Likert": lambda rng: rng.integers(1, 6, (160, 4)) + 0.0,
    "one column": lambda rng: rng.integers(0, 50, (160, 1)) + 0.0,
    "few columns": lambda rng: rng.standard_normal((160, 3)),
    "many columns": lambda rng: rng.standard_normal((160, 40)),
}


def imputed(names, matrix, vectors, **options):
    """Return the vectors by name, and the trust table."""
    metric = options.pop("metric", "euclidean")
    standardise = options.pop("standardise", False)
    domain = Domain(names, matrix)
    points, _ = points_of(domain, DomainOptions(metric=metric, standardise=standardise))
    known = np.array([name in vectors for name in names])
    entities = np.flatnonzero(known)
    anchored = np.array([vectors[names[i]] for i in entities])
    anchors = Anchors(known, entities, entities, anchored, 0)
    with Pool(2) as pool:
        found = impute(names, points, anchors, ImputeOptions(**options), context_of(pool))
    unknown = [names[i] for i in np.flatnonzero(~known)]
    return dict(zip(unknown, found.vectors, strict=True)), found


def vectors_of(names, rng, share=0.3):
    return {name: rng.standard_normal(5) for name in names if rng.random() < share}


def assert_order_does_not_matter(points, seed=0, share=0.3, shuffles=2, **options):
    rng = np.random.default_rng(seed)
    names = [f"firm{i}" for i in range(len(points))]
    vectors = vectors_of(names, rng, share)
    first, made = imputed(names, points, vectors, **options)
    rows = {row.entity: row for row in made.trust}
    for _ in range(shuffles):
        order = rng.permutation(len(points))
        shuffled = [names[i] for i in order]
        again, other = imputed(shuffled, points[order], vectors, **options)
        for name, vector in first.items():
            np.testing.assert_allclose(again[name], vector, atol=1e-6, err_msg=name)
        for row in other.trust:
            before = rows[row.entity]
            assert (row.anchor, row.source) == (before.anchor, before.source)
            assert (row.tied, row.excluded) == (before.tied, before.excluded)
    return made


@pytest.mark.parametrize("weights", ["simplex", "nnls"])
@pytest.mark.parametrize("table", TABLES)
def test_the_order_of_the_rows_changes_no_vector(table, weights):
    for seed in range(2):
        points = TABLES[table](np.random.default_rng(seed))
        assert_order_does_not_matter(points, seed, weights=weights)
        assert_order_does_not_matter(points, seed, share=0.02, weights=weights, shuffles=1)


@pytest.mark.parametrize("limit", [20, 10_000])
@pytest.mark.parametrize("table", TABLES)
def test_the_order_of_the_rows_changes_no_figure_of_the_validation(table, limit, monkeypatch):
    monkeypatch.setattr(validation, "MAX_HIDDEN", limit)
    monkeypatch.setattr(validation, "RESAMPLES", 50)
    rng = np.random.default_rng(5)
    points = TABLES[table](rng)
    names = [f"firm{i}" for i in range(len(points))]
    vectors = vectors_of(names, rng)
    vectors[next(iter(vectors))] = np.zeros(5)
    _, made = imputed(names, points, vectors, validate=4)
    order = rng.permutation(len(points))
    shuffled = [names[i] for i in order]
    _, again = imputed(shuffled, points[order], vectors, validate=4)
    one, other = made.validation.to_dict(), again.validation.to_dict()
    assert one["notes"] == other["notes"]
    for part in ("scores", "differences"):
        for name, scores in one[part].items():
            for score, same in zip(scores, other[part][name], strict=True):
                assert same == pytest.approx(score, abs=1e-6, nan_ok=True), (name, score)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
@pytest.mark.parametrize("standardise", [False, True])
def test_rounding_by_a_metric_does_not_break_ties(metric, standardise):
    rng = np.random.default_rng(4)
    for table in (sectors(rng), fields(rng), rng.integers(1, 6, (160, 4)) + rng.random(4) / 3):
        scaled = table * (0.1 + (metric == "cosine") * rng.integers(1, 9, (len(table), 1)))
        keep = scaled.max(axis=1) > scaled.min(axis=1)
        assert_order_does_not_matter(scaled[keep], metric=metric, standardise=standardise)


@pytest.mark.parametrize("solver", ["exact", "power"])
def test_solvers_and_limits_do_not_depend_on_the_order(monkeypatch, solver):
    monkeypatch.setattr(graph_module, "MOST", 10)
    monkeypatch.setattr(graph_module, "_ROWS", 7)
    options = {"eta": 1e-9} if solver == "power" else {}
    made = assert_order_does_not_matter(
        sectors(np.random.default_rng(2)), solver=solver, delta=3, **options
    )
    assert made.statistics["excluded"] > 60
    assert any("a hash of the names chose" in note for note in made.notes)


@pytest.mark.parametrize("kind", ["surface", "copies", "grid"])
def test_approximate_neighbours_do_not_depend_on_the_order(monkeypatch, kind):
    monkeypatch.setattr(nearest_neighbours, "EXACT_ROWS", 1000)
    points = surface(4000)
    if kind == "copies":
        points[:900] = points[np.random.default_rng(1).integers(0, 30, 900)]
    if kind == "grid":
        points = np.round(points[:, :3] * 8)
    made = assert_order_does_not_matter(points, shuffles=1)
    assert kind == "grid" or not made.statistics["exact_neighbours"]
    assert (made.statistics["tied"] > 100) == (kind != "surface")


def test_identical_entities_get_the_mean_of_those_that_are_known():
    rng = np.random.default_rng(0)
    points = np.eye(4)[np.repeat(np.arange(4), 20)]
    names = [f"firm{i}" for i in range(80)]
    vectors = {name: rng.standard_normal(3) for name in names[::3]}
    found, made = imputed(names, points, vectors)
    for i, name in enumerate(names):
        if name not in vectors:
            alike = [vectors[other] for other in names[i // 20 * 20 :][:20] if other in vectors]
            np.testing.assert_allclose(found[name], np.mean(alike, axis=0), atol=1e-9)
    (note,) = made.notes
    assert "tied nearest neighbours, all of which are used" in note
    assert {row.tied for row in made.trust if row.source != "known"} <= {0, 19}
    # The hub of a class has all others in the tree already: it needed no further neighbours.
    assert sum(row.tied == 0 for row in made.trust if row.source != "known") <= 4


def test_all_tied_neighbours_are_in_the_graph_up_to_the_limit(monkeypatch):
    rng = np.random.default_rng(3)
    points = rng.integers(0, 4, (150, 3)).astype(np.float64)
    squared = brute(points)
    order = name_order([str(i) for i in range(150)])
    for most in (8, 16, 64):
        monkeypatch.setattr(graph_module, "MOST", most)
        with Pool(2) as pool:
            graph = neighbour_graph(points, 4, pool, order=order)
        assert graph.tied is not None
        assert graph.excluded is not None
        for i in range(150):
            part = slice(graph.indptr[i], graph.indptr[i + 1])
            row, tree = graph.indices[part], graph.tree[part] == 1
            assert (np.diff(row) > 0).all()
            filled = row[~tree]
            if not len(filled):
                continue
            cut = squared[i, filled].max()
            alike = np.flatnonzero(squared[i] <= cut)
            missing = np.setdiff1d(alike, row)
            assert bool(graph.excluded[i]) == bool(len(missing))
            if len(missing):
                assert (squared[i, missing] == cut).all()
                rank = np.argsort(order)
                taken = filled[squared[i, filled] == cut]
                assert rank[missing].min() > rank[taken].max()
                assert len(row) <= most + tree.sum()
            if graph.tied[i]:
                assert graph.tied[i] <= np.count_nonzero(squared[i, row] == cut)


def test_tables_without_ties_have_the_graph_of_algorithm_1():
    points = np.random.default_rng(1).standard_normal((300, 6))
    order = name_order([str(i) for i in range(300)])
    with Pool(2) as pool:
        plain, ordered = (neighbour_graph(points, 8, pool, order=o) for o in (None, order))
    assert plain.indptr.tobytes() == ordered.indptr.tobytes()
    assert plain.indices.tobytes() == ordered.indices.tobytes()
    assert plain.tree.tobytes() == ordered.tree.tobytes()
    assert ordered.tied is not None
    assert ordered.excluded is not None
    assert not ordered.tied.any()
    assert not ordered.excluded.any()
    assert (np.diff(ordered.indptr) == np.maximum(8, np.bincount(
        np.repeat(np.arange(300), np.diff(plain.indptr)), plain.tree, 300))).all()  # fmt: skip


def test_the_order_of_names_is_one_of_names_alone():
    names = [f"a{i}" for i in range(500)] + ["é", "東京", "a b"]
    order = name_order(names)
    assert sorted(order.tolist()) == list(range(503))
    mixed = np.random.default_rng(0).permutation(503)
    again = name_order([names[i] for i in mixed])
    assert [names[i] for i in order] == [names[mixed[i]] for i in again]
    assert [names[i] for i in order] != sorted(names)

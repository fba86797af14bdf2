"""Recipes against scikit-learn, where it solves the same problem, and against their settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wordgeom as wg
from wordgeom.core.errors import InputError, OptionError, RankError
from wordgeom.methods.mde.options import Options
from wordgeom.methods.mde.recipes import SETTINGS
from wordgeom.vectors.keyed import write_vectors

n, K = 90, 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Points near a curved surface, as vectors, and their deviations."""
    made, rng = tmp_path_factory.mktemp("recipes"), np.random.default_rng(5)
    u, v = rng.random((2, n))
    surface = np.stack([u, v, 0.4 * np.sin(3 * u), 0.2 * v * v, 0.05 * rng.random(n)], 1)
    points = surface.astype(np.float32)
    write_vectors(made / "v.bin", [f"w{k}" for k in range(n)], points)
    np.save(made / "points.npy", points)
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    lines = [f"w{i} w{j} {apart[i, j]!r}" for i in range(n) for j in range(i)]
    (made / "all.txt").write_text("\n".join(line.replace("np.float32(", "").rstrip(")")
                                            for line in lines), encoding="utf-8")  # fmt: skip
    return made


def points_of(folder):
    return np.load(folder / "points.npy").astype(np.float64)


def embedded(folder, recipe, **options):
    given: Any = {"dim": K, "recipe": recipe} | options
    if "pairs" in given:
        given["pairs"] = folder / given["pairs"]
    return wg.train(folder / "v.bin", "mde", **given).vectors.astype(np.float64)


def assert_same_columns(ours, theirs, atol=1e-3):
    """Assert that columns agree, but for their signs and lengths; ours are standardised."""
    assert np.abs(ours.T @ ours / n - np.eye(ours.shape[1])).max() < 1e-5
    theirs = theirs - theirs.mean(0)
    theirs *= np.sqrt(n) / np.linalg.norm(theirs, axis=0)
    theirs *= np.sign(np.sum(ours * theirs, axis=0))
    assert np.abs(ours - theirs).max() < atol * np.abs(theirs).max()


def test_pca_is_that_of_scikit_learn_whitened(folder):
    from sklearn.decomposition import PCA

    theirs = PCA(K, svd_solver="full", whiten=True).fit_transform(points_of(folder))
    ours = embedded(folder, "pca")
    assert_same_columns(ours, theirs)
    assert np.abs(np.abs(ours) - np.abs(theirs) * np.sqrt(n / (n - 1))).max() < 1e-3


def test_pca_of_fewer_items_than_dimensions(tmp_path):
    rng = np.random.default_rng(6)
    vectors = rng.standard_normal((12, 40)).astype(np.float32)
    write_vectors(tmp_path / "v.bin", [f"w{k}" for k in range(12)], vectors)
    made = wg.train(tmp_path / "v.bin", "mde", dim=4, recipe="pca").vectors
    centred = vectors - vectors.mean(0)
    U = np.linalg.svd(centred.astype(np.float64), full_matrices=False)[0][:, :4]
    assert np.abs(np.abs(made) - np.sqrt(12) * np.abs(U)).max() < 1e-4


@pytest.mark.parametrize("options", [{"metric": "euclidean"}, {"pairs": "all.txt"}], ids=str)
def test_classical_mds_is_that_of_scikit_learn(folder, options):
    manifold = pytest.importorskip("sklearn.manifold")
    if not hasattr(manifold, "ClassicalMDS"):
        pytest.skip("this scikit-learn has no ClassicalMDS")
    theirs = manifold.ClassicalMDS(n_components=K).fit_transform(points_of(folder))
    assert_same_columns(embedded(folder, "classical-mds", **options), theirs)


def test_isomap_is_that_of_scikit_learn(folder):
    from sklearn.manifold import Isomap

    theirs = Isomap(n_neighbors=8, n_components=2).fit_transform(points_of(folder))
    assert_same_columns(embedded(folder, "isomap", neighbours=8, metric="euclidean", dim=2), theirs)


def test_lle_is_that_of_scikit_learn(folder):
    from sklearn.manifold import LocallyLinearEmbedding

    theirs = LocallyLinearEmbedding(
        n_neighbors=8, n_components=2, eigen_solver="dense"
    ).fit_transform(points_of(folder))
    assert_same_columns(
        embedded(folder, "lle", neighbours=8, metric="euclidean", dim=2), theirs, 1e-2
    )


def test_laplacian_eigenmaps_are_those_of_scikit_learn_where_degrees_are_equal(tmp_path):
    # scikit-learn normalises the Laplacian by degrees; on a ring these are equal.
    from sklearn.manifold import SpectralEmbedding

    angles = 2 * np.pi * np.arange(40) / 40
    ring = np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)
    write_vectors(tmp_path / "v.bin", [f"w{k}" for k in range(40)], ring)
    ours = wg.train(tmp_path / "v.bin", "mde", dim=2, recipe="laplacian-eigenmaps", neighbours=4)
    graph = np.zeros((40, 40))
    for k in range(40):
        graph[k, [(k + s) % 40 for s in (-2, -1, 1, 2)]] = 2.0
    theirs = SpectralEmbedding(2, affinity="precomputed").fit_transform(graph)
    theirs /= np.linalg.norm(theirs, axis=0)
    X = ours.vectors / np.sqrt(40)
    # Eigenvalues are double: the planes agree.
    assert np.abs(X @ X.T - theirs @ theirs.T).max() < 1e-3
    L = np.diag(graph.sum(1)) - graph
    wanted = 40 / 80 * np.linalg.eigvalsh(L)[1:3].sum()  # (n/p) Σ λ, with p = 80 pairs
    assert ours.statistics["average_distortion"] == pytest.approx(wanted, rel=1e-4)
    assert ours.status == "converged"


def test_mds_has_at_most_the_stress_of_scikit_learn(folder):
    from sklearn.manifold import MDS

    points = points_of(folder)
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    options: Any = {"metric_mds": True} if "metric_mds" in MDS().get_params() else {"metric": True}
    if "init" in MDS().get_params():
        options["init"] = "random"
    theirs = MDS(2, n_init=2, random_state=0, eps=1e-9, **options).fit_transform(points)
    stress = [
        np.sum(np.triu(apart - np.linalg.norm(x[:, None] - x, axis=2)) ** 2)
        for x in (embedded(folder, "mds", dim=2), theirs)
    ]
    assert stress[0] <= 1.01 * stress[1]


@pytest.mark.parametrize("recipe", [*SETTINGS])
def test_every_recipe_gives_vectors(folder, recipe):
    metric = {} if recipe in ("pca", "mds", "sammon") else {"metric": "euclidean"}
    made = wg.train(folder / "v.bin", "mde", dim=2, recipe=recipe, **metric)
    assert made.vectors.shape == (n, 2)
    assert np.isfinite(made.vectors).all()
    assert made.vectors.std() > 0.01
    for name, value in SETTINGS[recipe].items():
        assert getattr(Options(recipe=recipe), name) == value


def test_sammon_weighs_by_the_deviation_and_pairs_may_give_it(folder):
    same = wg.train(folder / "v.bin", "mde", dim=2, recipe="sammon").statistics
    pairs = wg.train(folder / "v.bin", "mde", dim=2, recipe="sammon", pairs=folder / "all.txt")
    assert pairs.statistics["pairs"] == same["pairs"] == n * (n - 1) // 2
    assert pairs.statistics["average_distortion"] < 2.0 * same["average_distortion"]


@pytest.mark.parametrize(
    "options",
    [
        {"recipe": "umap", "repulsion": "inverse-power"}, {"recipe": "mds", "graph": "paths"},
        {"recipe": "mds", "loss": "huber"}, {"recipe": "umap", "exponent": 3.0},
        {"recipe": "pca", "steps": 5}, {"recipe": "pca", "neighbours": 5},
        {"recipe": "isomap", "graph": "paths"}, {"recipe": "lle", "constraint": "anchored"},
    ],
    ids=str,
)  # fmt: skip
def test_options_that_contradict_a_recipe_are_rejected(options):
    with pytest.raises(OptionError, match="recipe") as caught:
        Options(**options)
    assert "\n" not in str(caught.value)


def test_a_given_default_contradicts_a_recipe_too():
    with pytest.raises(OptionError, match="--recipe umap has --repulsion logratio, not log"):
        Options.asked({"recipe": "umap", "repulsion": "log"})
    assert Options.asked({"recipe": "umap", "neighbours": 30}).neighbours == 30


def test_what_classical_recipes_cannot_embed(folder, tmp_path):
    some = tmp_path / "some.txt"
    some.write_text("w0 w1 1\nw1 w2 2\n", encoding="utf-8")
    with pytest.raises(InputError, match="a deviation for each pair"):
        embedded(folder, "classical-mds", pairs=some)
    with pytest.raises(InputError, match="components"):
        embedded(folder, "isomap", pairs=some)
    with pytest.raises(RankError, match="5 dimensions"):
        embedded(folder, "pca", dim=6)
    with pytest.raises(OptionError, match="no effect with recipe"):
        embedded(folder, "pca", pairs=some)
    with pytest.raises(OptionError, match="no effect with recipe"):
        wg.train(folder / "v.bin", "mde", recipe="lle", init=folder / "v.bin")

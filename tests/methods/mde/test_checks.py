"""Held-out pairs and the distribution of distortions in the run card and notes of mde."""

from __future__ import annotations

import numpy as np
import pytest

import wordgeom as wg
from wordgeom.core.errors import OptionError
from wordgeom.methods.mde.checks import divided
from wordgeom.methods.mde.construction import Graph, no_pairs
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.vectors.keyed import write_vectors
from wordgeom.vectors.run_card import read_card

n = 80
WORDS = [f"w{k}" for k in range(n)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Points of a plane in six dimensions, a file of their distances, and anchors."""
    made, rng = tmp_path_factory.mktemp("checks"), np.random.default_rng(1)
    plane = rng.standard_normal((n, 2))
    turned = plane @ np.linalg.qr(rng.standard_normal((6, 2)))[0].T
    write_vectors(made / "v.bin", WORDS, np.ascontiguousarray(turned, np.float32))
    write_vectors(made / "anchors.bin", WORDS[:40], plane[:40].astype(np.float32))
    lines = [f"w{i}\tw{j}\t{np.linalg.norm(plane[i] - plane[j]):.6f}"
             for i in range(n) for j in range(i + 1, n)]  # fmt: skip
    (made / "distances.tsv").write_text("\n".join(lines) + "\n")
    return made


def trained(folder, name, **options):
    out = folder / f"{name}.bin"
    made = wg.train(folder / "v.bin", "mde", out=out, force=True, **options)
    return made, read_card(out)


def test_the_run_card_has_the_distribution_and_the_worst_pairs(folder):
    made, card = trained(folder, "plain", dim=2, neighbours=5)
    found = card["statistics"]["distortion_of_pairs"]
    assert set(found) == {"similar pairs", "dissimilar pairs"}
    sizes = [found[kind]["pairs"] for kind in ("similar pairs", "dissimilar pairs")]
    averages = [found[kind]["average"] for kind in ("similar pairs", "dissimilar pairs")]
    mean = np.dot(sizes, averages) / sum(sizes)
    assert mean == pytest.approx(card["statistics"]["average_distortion"], rel=1e-5)
    first = found["similar pairs"]["worst"][0]
    vectors = {word: made.vectors[k].astype(float) for k, word in enumerate(WORDS)}
    one, other = (vectors[word] for word in first["words"])
    assert first["distance"] == pytest.approx(np.linalg.norm(one - other), rel=1e-5)
    assert first["distortion"] == pytest.approx(found["similar pairs"]["quantiles"]["max"])
    assert any(note.startswith("largest distortion: w") for note in card["notes"])
    assert "held_out" not in card["statistics"]


def test_distances_that_were_held_out_are_predicted(folder):
    """80 points of a plane need far fewer distances than they have."""
    made, card = trained(folder, "held", dim=2, pairs=folder / "distances.tsv",
                         graph="deviations", hold_out=0.3, steps=500)  # fmt: skip
    found = card["statistics"]["held_out"]
    assert (found["fitted"]["pairs"], found["held_out"]["pairs"]) == (2212, 948)
    assert found["held_out"]["average"] < 1e-3
    assert any("of 948 pairs held out" in note for note in card["notes"])
    again, _ = trained(folder, "again", dim=2, pairs=folder / "distances.tsv",
                       graph="deviations", hold_out=0.3, steps=500, threads=1)  # fmt: skip
    np.testing.assert_array_equal(made.vectors, again.vectors)


def test_random_pairs_that_were_held_out_are_not(folder):
    rng = np.random.default_rng(2)
    lines = [f"w{i} w{j} {rng.uniform(1, 9):.4f}" for i in range(n) for j in range(i)]
    (folder / "random.txt").write_text("\n".join(lines) + "\n")
    _, card = trained(folder, "random", dim=30, pairs=folder / "random.txt", graph="deviations",
                      hold_out=0.5)  # fmt: skip
    found = card["statistics"]["held_out"]
    assert found["held_out"]["average"] > 2 * found["fitted"]["average"]


@pytest.mark.parametrize(
    "options",
    [
        {"dim": 3, "constraint": "standardized", "graph": "distances"},
        {"dim": 2, "constraint": "standardized"},
        {"dim": 2, "graph": "paths", "neighbours": 6},
        {"anchors": "anchors.bin", "neighbours": 5},
    ],
)
def test_pairs_are_held_out_of_each_graph(folder, options):
    if "anchors" in options:
        options = options | {"anchors": folder / options["anchors"]}
    _, card = trained(folder, "graph", hold_out=0.2, **options)
    found = card["statistics"]["held_out"]
    ratio = found["held_out"]["average"] / found["fitted"]["average"]
    assert 0.3 < ratio < 10  # also with deviations in another unit than the vectors


def pairs_of(left, right):
    return Pairs(np.array(left, np.int32), np.array(right, np.int32),
                 np.ones(len(left), np.float32))  # fmt: skip


def test_the_start_does_not_know_the_held_out_pairs():
    left, right = np.triu_indices(12, 1)
    similar, other = pairs_of(left[::2], right[::2]), pairs_of(left[1::2], right[1::2])
    graph = Graph(similar, other, no_pairs(), similar, notes=["before"])
    fitted, held = divided(graph, 0.25, 12, np.random.default_rng(1))
    assert len(held.similar) == round(0.25 * len(similar))
    assert len(held.dissimilar) == round(0.25 * len(other))
    np.testing.assert_array_equal(fitted.near.right, fitted.similar.right)
    assert graph.notes == ["before"]


def test_items_without_other_pairs_are_noted():
    graph = Graph(pairs_of([0, 2], [1, 3]), no_pairs(), no_pairs(), no_pairs())
    fitted, _ = divided(graph, 0.5, 5, np.random.default_rng(1))
    assert fitted.notes == ["2 items have no pairs but those of --hold-out"]


def test_a_share_without_pairs_and_a_recipe_by_eigenvectors_are_errors(folder):
    with pytest.raises(OptionError, match=r"hold_out= must leave pairs on both sides"):
        trained(folder, "few", dim=2, neighbours=5, hold_out=0.001)
    with pytest.raises(OptionError, match="hold_out= has no effect"):
        trained(folder, "pca", dim=2, recipe="pca", hold_out=0.1)

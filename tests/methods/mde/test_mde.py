"""mde from files: what it recovers, what it fixes, how it explains bad input and resumes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from interruptions import interrupted_after
from matrices import random_counts, store_matrix

import wordgeom as wg
from wordgeom.core.errors import InputError, OptionError, RankError, WordgeomError
from wordgeom.vectors.keyed import read_vectors, write_vectors
from wordgeom.vectors.run_card import read_card

n, GROUPS = 120, 4
LABELS = np.arange(n) % GROUPS


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Vectors of four clusters, points of a plane, counts, and files of pairs."""
    made, rng = tmp_path_factory.mktemp("mde"), np.random.default_rng(1)
    centres = 2.0 * np.linalg.qr(rng.standard_normal((12, GROUPS)))[0].T
    vectors = (centres[LABELS] + 0.3 * rng.standard_normal((n, 12))).astype(np.float32)
    words = [f"w{k}" for k in range(n)]
    write_vectors(made / "v.bin", words, vectors)
    np.save(made / "rows.npy", vectors.astype(np.float64))
    plane = rng.standard_normal((n, 2)).astype(np.float32)
    write_vectors(made / "plane.bin", words, plane)
    store_matrix(made / "cooc", random_counts(rng, n))
    write_vectors(made / "anchors.bin", words[:60], plane[:60])
    lines = [f"w{i}\tw{i + 4}\t1.0" for i in range(n - 4)]
    listed(made, "similar.tsv", lines)
    far = [f"w{i} w{(7 * i + 3) % n} -1" for i in range(n) if (7 * i + 3) % n != i]
    listed(made, "both.txt", [line.replace("\t", " ") for line in lines] + far)
    chain = [f"w{i};w{i + 1};{1 + i % 3}" for i in range(n - 1)]
    listed(made, "chain.csv", ["name1;name2;deviation", *chain])
    return made


def listed(folder, name, lines, end="\n"):
    (folder / name).write_bytes((end.join(lines) + end).encode())
    return folder / name


def train(folder, items="v.bin", **options):
    given: Any = {"dim": 2} | options
    for name in ("pairs", "anchors", "init"):
        if name in given:
            given[name] = folder / given[name]
    if "anchors" in given or "init" in given:
        given.pop("dim")
    return wg.train(folder / items, "mde", **given)


def gathered(vectors):
    """The share of items whose nearest neighbour has their label."""
    apart = np.linalg.norm(vectors[:, None] - vectors, axis=2)
    np.fill_diagonal(apart, np.inf)
    return np.mean(LABELS[apart.argmin(1)] == LABELS)


# ── What it makes ────────────────────────────────────────────────────────────────────────────


def test_the_default_problem_keeps_clusters_together_and_is_centred(folder):
    made = train(folder)
    assert made.vectors.shape == (n, 2)
    assert gathered(made.vectors) > 0.95
    assert np.abs(made.vectors.mean(axis=0)).max() < 1e-5
    facts = made.statistics
    assert facts["pairs_dissimilar"] == 3 * facts["pairs_similar"]
    assert facts["distortions"][-1] == pytest.approx(facts["average_distortion"], rel=1e-5)
    # A long course is sampled; how many steps a run takes depends on the CPU.
    assert facts["course_steps"][0] == 1
    assert facts["course_steps"][-1] == facts["steps"]
    lengths = {len(facts[name]) for name in ("gradient_norms", "step_lengths", "distortions")}
    assert lengths == {len(facts["course_steps"])}


def test_a_short_course_has_every_step(folder):
    facts = train(folder, steps=12, gradient_tol=0.0, tol=0.0).statistics
    assert facts["course_steps"] == list(range(1, 13))
    assert len(facts["distortions"]) == len(facts["gradient_norms"]) == 12


def test_rows_of_an_array_are_numbered_from_0(folder):
    made = train(folder, "rows.npy")
    assert made.words == [str(k) for k in range(n)]
    assert made.vectors.tobytes() == train(folder).vectors.tobytes()


def test_words_of_counts_are_joined_with_those_of_the_largest_ppmi(folder):
    one, other = (train(folder, "cooc", neighbours=5, weighting=w) for w in ("ppmi", "npmi"))
    assert one.vectors.shape == (n, 2)
    assert not np.array_equal(one.vectors, other.vectors)
    assert one.statistics["pairs_similar"] <= 5 * n


def test_distances_of_a_plane_are_recovered(folder):
    made = train(folder, "plane.bin", graph="distances", metric="euclidean", gradient_tol=1e-6)
    plane = read_vectors(folder / "plane.bin").matrix
    apart, wanted = (np.linalg.norm(x[:, None] - x, axis=2) for x in (made.vectors, plane))
    assert np.abs(apart - wanted).max() < 0.01
    assert made.statistics["pairs"] == n * (n - 1) // 2


def test_distances_of_many_dimensions_keep_clusters_together(folder):
    # From a start without the vectors, the descent ends in a disc of random places.
    assert gathered(train(folder, graph="distances", samples=2000).vectors) > 0.6


def test_deviations_of_a_chain_become_a_line(folder):
    made = train(folder, graph="deviations", pairs="chain.csv", start="random", steps=3000)
    steps = np.linalg.norm(np.diff(made.vectors, axis=0), axis=1)
    assert steps == pytest.approx(1.0 + np.arange(n - 1) % 3, abs=0.05)
    paths = train(folder, graph="paths", pairs="chain.csv", dim=1)
    along = np.concatenate(([0.0], np.cumsum(1.0 + np.arange(n - 1) % 3)))
    found = paths.vectors[:, 0] - paths.vectors[0, 0]
    assert np.abs(np.abs(found) - along).max() < 0.05


def test_pairs_with_weights_replace_neighbours(folder):
    made = train(folder, pairs="both.txt")
    assert made.statistics["pairs_similar"] == n - 4
    assert gathered(made.vectors) > 0.8
    more = train(folder, pairs="both.txt", dissimilar=2.0).statistics["pairs_dissimilar"]
    assert more == made.statistics["pairs_dissimilar"] + 2 * (n - 4)


def test_names_of_pairs_may_be_numbers_of_rows(folder):
    lines = [f"{i} {i + 4} 1" for i in range(n - 4)]
    pairs = listed(folder, "numbers.txt", lines, "\r\n")
    numbered = train(folder, "rows.npy", pairs=pairs.name)
    assert numbered.vectors.tobytes() == train(folder, pairs="similar.tsv").vectors.tobytes()


@pytest.mark.parametrize("graph", ["neighbours", "distances", "paths"])
def test_standardized_vectors_have_uncorrelated_columns_of_variance_1(folder, graph):
    made = train(folder, graph=graph, constraint="standardized", dim=3)
    X = made.vectors.astype(np.float64)
    assert np.abs(X.T @ X / n - np.eye(3)).max() < 1e-5
    assert np.abs(X.mean(axis=0)).max() < 1e-5
    if graph != "neighbours":
        lengths = np.linalg.norm(X[:, None] - X, axis=2)[np.triu_indices(n, 1)]
        natural = np.sqrt(np.mean(lengths**2))
        assert natural == pytest.approx(np.sqrt(2 * n * 3 / (n - 1)), rel=1e-5)


def test_a_quadratic_standardized_problem_is_solved_by_eigenvectors(folder):
    made = train(
        folder, attraction="power", dissimilar=0.0, constraint="standardized", neighbours=60
    )
    assert made.status == "converged"
    assert made.statistics["steps"] <= 3


def test_anchors_keep_their_bits_and_their_friends_gather_around_them(folder):
    made = train(folder, anchors="anchors.bin")
    anchors = read_vectors(folder / "anchors.bin")
    assert made.vectors[:60].tobytes() == anchors.matrix.tobytes()
    assert made.statistics["anchored_items"] == 60
    assert np.abs(made.vectors).max() < 100


def test_a_new_word_lies_among_its_anchored_neighbours(folder, tmp_path):
    words = ["new", *(f"w{k}" for k in range(8))]
    at = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [9, 8], [8, 9], [8, 8]], np.float32)
    write_vectors(tmp_path / "v.bin", words, np.zeros((9, 2), np.float32))
    write_vectors(tmp_path / "anchors.bin", words[1:], at)
    listed(tmp_path, "p.txt", [f"new w{k} 1" for k in range(4, 8)])
    made = train(tmp_path, anchors="anchors.bin", pairs="p.txt", dissimilar=0.0, attraction="power")
    assert made.vectors[0] == pytest.approx([8.5, 8.5], abs=1e-3)


def test_init_is_the_start(folder):
    far = train(folder, init="plane.bin", steps=1, nearby=0)
    near = train(folder, steps=1, nearby=0)
    start = read_vectors(folder / "plane.bin").matrix
    assert np.abs(far.vectors - (start - start.mean(0))).max() < 1.0
    assert far.statistics["distortion_at_start"] > near.statistics["distortion_at_start"]


@pytest.mark.parametrize("options", [
    {"attraction": a} for a in ("log1p", "power", "huber", "logistic")
] + [
    {"repulsion": r} for r in ("log", "inverse-power", "logratio")
] + [
    {"graph": "paths", "loss": loss} for loss in
    ("quadratic", "weighted", "huber", "absolute", "logistic", "fractional", "soft-fractional")
], ids=str)  # fmt: skip
def test_every_function_lowers_the_distortion(folder, options):
    facts = train(folder, neighbours=40, steps=50, **options).statistics
    assert facts["average_distortion"] < facts["distortion_at_start"]


def test_bytes_are_the_same_at_any_number_of_threads(folder):
    for options in ({}, {"graph": "paths"}, {"anchors": "anchors.bin"}):
        made = [train(folder, threads=threads, **options) for threads in (1, 3)]
        assert made[0].vectors.tobytes() == made[1].vectors.tobytes()


def test_the_run_card_records_the_course(folder, tmp_path):
    train(folder, out=tmp_path / "o.bin", steps=20, nearby=0)
    card = read_card(tmp_path / "o.bin")
    assert card is not None
    facts = card["statistics"]
    assert len(facts["distortions"]) == len(facts["gradient_norms"]) == facts["steps"] <= 20
    assert all(np.diff(facts["distortions"]) <= 0)
    assert facts["components"] >= 1


@pytest.mark.parametrize("more", [[], ["--constraint", "standardized"], ["--batch", "200"]])
def test_a_resumed_run_gives_the_same_bytes(folder, ask, tmp_path, more):
    line = ["train", str(folder / "v.bin"), "--method", "mde", "--dim", "2", "--steps", "30",
            "--checkpoint", "0", *([] if "--batch" in more else ["--tol", "0"]), *more,
            "-o"]  # fmt: skip
    assert ask(*line, str(tmp_path / "whole.bin")).status == 0
    part = str(tmp_path / "part.bin")
    with interrupted_after(4):
        assert ask(*line, part).status == 75
    with interrupted_after(11):  # in the last rounds, whose pairs are those of their vectors
        assert ask(*line, part, "--resume").status == 75
    assert ask(*line, part, "--resume").status == 0
    assert (tmp_path / "part.bin").read_bytes() == (tmp_path / "whole.bin").read_bytes()
    cards = [read_card(tmp_path / name) for name in ("whole.bin", "part.bin")]
    courses = [card["statistics"]["distortions"] for card in cards if card]
    assert courses[0] == courses[1]


# ── What it says ─────────────────────────────────────────────────────────────────────────────


def test_a_disconnected_graph_is_described(folder):
    made = train(folder, neighbours=3)
    assert made.statistics["components"] >= GROUPS
    note = next(note for note in made.notes if "components" in note)
    assert f"has {made.statistics['components']} components" in note
    assert "only dissimilar pairs place one relative to another" in note
    assert np.isfinite(made.vectors).all()


def test_a_component_does_not_push_all_others_into_a_point(folder, tmp_path):
    vectors = read_vectors(folder / "v.bin").matrix.copy()
    vectors[17] = 0.0
    write_vectors(tmp_path / "v.bin", [f"w{k}" for k in range(n)], vectors)
    for constraint, more in (("centered", {"nearby": 0}), ("standardized", {})):
        made = train(tmp_path, neighbours=60, constraint=constraint, **more)
        assert any("zero vector" in note and "w17" in note for note in made.notes)
        rest = np.delete(made.vectors, 17, axis=0)
        assert rest.std() > 0.2
        assert gathered(made.vectors) > 0.9


def test_pairs_that_are_not_used_are_counted(folder):
    lines = ["# comment", "w1 w2 1", "w2 w1 3", "w3 w3 1", "w4 nobody 1", "w5 w6 0", "w7 w8 2"]
    made = train(folder, pairs=listed(folder, "odd.txt", lines).name)
    said = "\n".join(made.notes)
    assert "1 pair of pairs= with a name that is no item: left out" in said
    assert "1 pair of pairs= of an item with itself: left out" in said
    assert "1 pair of pairs= with several numbers: averaged" in said
    assert "1 pair of weight 0: left out" in said
    assert f"{n - 6} items are in no pair of pairs=" in said
    assert made.statistics["pairs_similar"] == 2


def test_anchors_that_are_no_items_are_counted(folder, tmp_path):
    plane = read_vectors(folder / "plane.bin").matrix
    write_vectors(tmp_path / "a.bin", ["w3", "elsewhere", "w5"], plane[:3])
    made = train(folder, anchors=tmp_path / "a.bin")
    assert made.vectors[[3, 5]].tobytes() == plane[[0, 2]].tobytes()
    assert "1 word of anchors= is no item and without effect" in made.notes


def test_deviations_of_0_are_left_out_where_a_loss_divides_by_them(folder):
    lines = ["w1 w2 0", *(f"w{i} w{i + 1} 2" for i in range(2, 60))]
    pairs = listed(folder, "zero.txt", lines).name
    made = train(folder, graph="deviations", pairs=pairs, loss="weighted")
    assert any("1 pair of deviation 0" in note for note in made.notes)
    assert made.statistics["pairs"] == 58


def test_identical_items_are_moved_apart(folder, tmp_path):
    vectors = np.repeat(np.eye(4, dtype=np.float32), 10, axis=0)
    write_vectors(tmp_path / "v.bin", [f"w{k}" for k in range(40)], vectors)
    made = train(tmp_path, neighbours=5, nearby=0)
    assert np.isfinite(made.vectors).all()
    assert len(np.unique(made.vectors, axis=0)) == 40


def test_identical_items_lie_together_on_a_map_and_apart_from_others(tmp_path):
    write_vectors(tmp_path / "v.bin", [f"w{k}" for k in range(40)],
                  np.repeat(np.eye(4, dtype=np.float32), 10, axis=0))  # fmt: skip
    X = train(tmp_path, neighbours=5).vectors
    apart = np.linalg.norm(X[:, None] - X, axis=2).reshape(4, 10, 4, 10)
    within = max(apart[k, :, k].max() for k in range(4))
    between = min(apart[k, :, other].min() for k in range(4) for other in range(k))
    assert within < 0.5 * between


# ── Bad input ────────────────────────────────────────────────────────────────────────────────


def failing(kind, folder, items="v.bin", **options):
    with pytest.raises(kind) as caught:
        train(folder, items, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_fewer_than_3_items(tmp_path):
    write_vectors(tmp_path / "v.bin", ["a", "b"], np.eye(2, dtype=np.float32))
    assert "2 items are too few" in failing(InputError, tmp_path, dim=1)


@pytest.mark.parametrize("dim", [n, n + 7])
def test_as_many_dimensions_as_items(folder, dim):
    assert f"found {n}" in failing(RankError, folder, dim=dim)


def test_all_items_identical(tmp_path):
    write_vectors(tmp_path / "v.bin", list("abcde"), np.ones((5, 3), np.float32))
    for graph in ("neighbours", "distances", "paths"):
        assert "identical" in failing(InputError, tmp_path, graph=graph)
    write_vectors(tmp_path / "v.bin", list("abcde"), np.zeros((5, 3), np.float32))
    assert "zero" in failing(InputError, tmp_path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("w1 w2 nan", "not a finite number"), ("w1 w2 inf", "not a finite number"),
        ("w1 w2 1e39", "beyond the range"), ("w1 w2 NA", "two names and a number"),
        ("w1 w2", "two names and a number"), ("w1 w2 1,5", "two names and a number"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", [0, 2])
def test_a_line_that_is_no_pair(folder, line, said, place):
    lines = ["w3 w4 1", "w5 w6 -1"]
    lines.insert(place, line)
    message = failing(InputError, folder, pairs=listed(folder, "bad.txt", lines).name)
    assert said in message
    assert f"bad.txt line {place + 1}" in message


def test_only_dissimilar_pairs(folder):
    pairs = listed(folder, "far.txt", [f"w{i} w{i + 1} -1" for i in range(50)]).name
    assert "all pairs are dissimilar" in failing(InputError, folder, pairs=pairs)
    made = train(folder, pairs=pairs, constraint="standardized")  # is bounded
    assert np.isfinite(made.vectors).all()


def test_only_similar_pairs(folder):
    assert "all pairs are similar" in failing(InputError, folder, dissimilar=0.0)
    assert "all pairs are similar" in failing(
        InputError, folder, pairs="similar.tsv", dissimilar=0.0
    )


def test_pairs_of_no_items(folder):
    pairs = listed(folder, "others.txt", ["x y 1", "y z -1"]).name
    assert "no pair of pairs= has the names" in failing(InputError, folder, pairs=pairs)


def test_weights_that_are_all_0(folder):
    pairs = listed(folder, "zero.txt", ["w1 w2 0", "w2 w3 0"]).name
    assert "all weights of pairs= are 0" in failing(InputError, folder, pairs=pairs)


def test_negative_deviations(folder):
    assert "negative" in failing(InputError, folder, graph="deviations", pairs="both.txt")


def test_anchors_that_are_all_missing_or_all_there_are(folder, tmp_path):
    write_vectors(tmp_path / "a.bin", ["x", "y"], np.eye(2, dtype=np.float32))
    assert "none of the 2 words" in failing(InputError, folder, anchors=tmp_path / "a.bin")
    assert "nothing to place" in failing(InputError, folder, anchors="plane.bin")


def test_vectors_that_are_not_finite(folder, tmp_path):
    vectors = np.ones((4, 2), np.float32)
    vectors[2, 1] = np.nan
    np.save(tmp_path / "rows.npy", vectors)
    assert "'2'" in failing(InputError, tmp_path, "rows.npy")
    words = [f"w{k}" for k in range(4)]
    write_vectors(tmp_path / "a.bin", words, vectors)
    assert "'w2'" in failing(InputError, folder, anchors=tmp_path / "a.bin")
    assert "not finite" in failing(InputError, folder, init=tmp_path / "a.bin")


def test_arrays_that_cannot_be_trusted(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([{}, []], object), allow_pickle=True)
    assert "never unpickled" in failing(InputError, tmp_path, "objects.npy")
    np.save(tmp_path / "flat.npy", np.arange(5.0))
    assert "row of numbers per word" in failing(WordgeomError, tmp_path, "flat.npy")
    whole = (tmp_path / "flat.npy").read_bytes()
    (tmp_path / "cut.npy").write_bytes(whole[:-3])
    assert "truncated" in failing(WordgeomError, tmp_path, "cut.npy")


@pytest.mark.parametrize(
    "options",
    [
        {"graph": "weights"}, {"graph": "deviations"},
        {"graph": "distances", "pairs": "chain.csv"}, {"graph": "neighbours", "pairs": "both.txt"},
        {"pairs": "both.txt", "neighbours": 5}, {"pairs": "both.txt", "metric": "cosine"},
        {"graph": "paths", "pairs": "chain.csv", "neighbours": 3},
        {"graph": "distances", "neighbours": 5}, {"graph": "distances", "dissimilar": 2.0},
        {"graph": "distances", "attraction": "huber"}, {"graph": "paths", "repulsion": "logratio"},
        {"loss": "huber"}, {"samples": 5}, {"longest": 2.0},
        {"graph": "distances", "longest": 2.0},
        {"attraction": "huber", "exponent": 2.0}, {"threshold": 1.0}, {"sharpness": 1.0},
        {"graph": "distances", "loss": "absolute", "exponent": 1.0},
        {"nearby": 9, "dim": 4}, {"nearby": 9, "batch": 100}, {"nearby": 9, "dissimilar": 0.0},
        {"nearby": 9, "constraint": "standardized"}, {"nearby": 0, "repulsion_weight": 1.0},
        {"nearby": 9, "graph": "distances"}, {"repulsion_weight": 1.0, "dim": 4},
        {"batch": 100, "tol": 1e-3}, {"batch": 100, "gradient_tol": 1e-3},
        {"constraint": "anchored"}, {"constraint": "centered", "anchors": "anchors.bin"},
        {"constraint": "standardized", "anchors": "anchors.bin"},
        {"init": "plane.bin", "start": "random"}, {"weighting": "pmi"}, {"neg": 5.0},
        {"items": "cooc", "metric": "euclidean"},
    ],
    ids=str,
)  # fmt: skip
def test_options_without_effect_are_rejected(folder, options):
    message = failing(OptionError, folder, **options)
    assert any(f"{name}=" in message for name in options if name != "items")


def test_dimensions_that_contradict(folder):
    with pytest.raises(OptionError, match="dim= has dimension 3, init=2"):
        wg.train(folder / "v.bin", "mde", dim=3, init=folder / "plane.bin")


def test_counts_or_weights_make_words_similar(folder):
    counts = wg.open_matrix(folder / "cooc").to_scipy().toarray()
    made = train(folder, "cooc", neighbours=1, similarity="counts", steps=1)
    np.fill_diagonal(counts, 0.0)
    first = {(min(i, j), max(i, j)) for i, j in enumerate(counts.argmax(axis=1).tolist())}
    assert made.statistics["pairs_similar"] == len(first)
    other = train(folder, "cooc", neighbours=1, steps=1)
    assert made.vectors.tobytes() != other.vectors.tobytes()


def test_counts_need_a_matrix_that_has_them(folder, tmp_path):
    assert "has no effect on vectors" in failing(OptionError, folder, similarity="counts")
    wg.pmi(folder / "cooc", out=tmp_path / "pmi")
    assert "has no counts" in failing(InputError, tmp_path, "pmi", similarity="counts")
    said = failing(OptionError, folder, graph="distances", similarity="counts")
    assert "has no effect with graph=" in said


def test_distances_of_a_matrix(folder):
    for graph in ("distances", "paths"):
        assert "needs vectors" in failing(InputError, folder, "cooc", graph=graph)


def test_a_path_limit_that_leaves_nothing(folder):
    message = failing(InputError, folder, graph="paths", longest=1e-6)
    assert "no pair of items has a deviation" in message


def test_little_memory(folder, monkeypatch):
    monkeypatch.setattr("wordgeom.methods.mde.method._PAIR", 10**9)
    assert "pairs" in failing(InputError, folder)

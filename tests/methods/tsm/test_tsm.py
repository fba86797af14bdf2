"""tsm from files: what it keeps, how it explains bad input and resumes."""

from __future__ import annotations

import numpy as np
import pytest
from interruptions import interrupted_after, kill_after
from matching import clustered

import wordgeom as wg
from wordgeom.core.errors import InputError, OptionError, RankError, WordgeomError
from wordgeom.vectors.keyed import write_vectors
from wordgeom.vectors.run_card import read_card

n = 160


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tsm")
    points = clustered(n).astype(np.float32)
    write_vectors(made / "v.bin", [f"w{k}" for k in range(n)], points)
    np.save(made / "rows.npy", points.astype(np.float64))
    return made


def train(path, **options):
    return wg.train(path, "tsm", **{"dim": 4, "tau": 0.75, "updates": 60} | options)


def line(folder, *more):
    return ["train", str(folder / "v.bin"), "--method", "tsm", "--dim", "3", "--tau", "0.75",
            "--updates", "12", "--checkpoint", "0", *more, "-o"]  # fmt: skip


def cosines(vectors):
    wide = vectors.astype(float)
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    return np.clip(wide @ wide.T, -1.0, 1.0)


# ── What it keeps ────────────────────────────────────────────────────────────────────────────


def test_angles_of_similar_items_are_kept_better_than_by_projection(folder):
    points = np.load(folder / "rows.npy")
    given = cosines(points)
    near = given > 0.75
    _, axes = np.linalg.eigh(points.T @ points)

    def error(vectors):
        return np.abs(np.arccos(given) - np.arccos(cosines(vectors)))[near].mean()

    ours, theirs = train(folder / "v.bin", updates=200).vectors, points @ axes[:, -4:]
    assert error(ours) < 0.75 * error(theirs)


def test_dissimilar_items_stay_dissimilar(folder):
    given = cosines(np.load(folder / "rows.npy")) > 0.75
    ours = cosines(train(folder / "v.bin", updates=200, dim=6).vectors) > 0.75
    assert (given & ours).sum() / (given | ours).sum() > 0.8


@pytest.mark.parametrize("scale", [1e-12, 3.0, 1e12])
def test_the_scale_of_the_vectors_is_that_of_the_input(folder, tmp_path, scale):
    points = np.load(folder / "rows.npy")
    np.save(tmp_path / "scaled.npy", points * scale)
    one, other = train(folder / "rows.npy"), train(tmp_path / "scaled.npy")
    gram = one.vectors.astype(float) @ one.vectors.T
    scaled = other.vectors.astype(float) @ other.vectors.T / scale**2
    np.testing.assert_allclose(scaled, gram, atol=0.02 * np.abs(gram).max())


def test_rows_of_an_array_are_numbered_from_0(folder):
    made = train(folder / "rows.npy")
    assert made.words == [str(k) for k in range(n)]
    assert made.vectors.tobytes() == train(folder / "v.bin").vectors.tobytes()


def test_zero_and_equal_vectors(folder, tmp_path):
    points = np.load(folder / "rows.npy")
    points[5] = 0.0
    points[9] = points[8]
    np.save(tmp_path / "p.npy", points)
    for options in ({}, {"landmarks": 60, "neighbours": 8}):
        made = train(tmp_path / "p.npy", **options)
        assert not made.vectors[5].any()
        assert made.statistics["zero_vectors"] == 1
        assert any("1 zero vector stays zero" in note for note in made.notes)
        apart = np.linalg.norm(made.vectors[9] - made.vectors[8])
        assert apart < 0.05 * np.linalg.norm(made.vectors[8])


def test_landmarks_have_the_vectors_of_their_own_matching(folder, tmp_path):
    np.save(tmp_path / "first.npy", np.load(folder / "rows.npy")[:80])
    alone = train(tmp_path / "first.npy")
    made = train(folder / "v.bin", landmarks=80, tol=1e-6)
    assert made.vectors.shape == (n, 4)
    np.testing.assert_allclose(made.vectors[:80], alone.vectors, atol=1e-5)
    assert made.statistics["matched"] == 80
    assert made.statistics["extension_residual"] < 1e-5


def test_the_sparsity_asked_for_is_that_of_the_pairs(folder):
    made = wg.train(folder / "v.bin", "tsm", dim=4, sparsity=0.9, updates=5).statistics
    given = cosines(np.load(folder / "rows.npy"))[np.triu_indices(n, 1)]
    assert made["sparsity"] == pytest.approx(0.9, abs=2e-3)
    assert made["tau"] == pytest.approx(np.quantile(given, 0.9), abs=5e-3)
    assert made["similar_pairs"] == (given > made["tau"]).sum()


def test_the_run_card_records_the_course(folder):
    facts = train(folder / "v.bin", updates=30).statistics
    assert facts["losses"][0] == facts["objective_at_start"]
    assert facts["losses"][-1] == facts["objective"]
    assert facts["loss_updates"] == list(range(31))
    assert facts["updates"] == 30
    assert facts["shifted_updates"] == 0
    assert facts["effective_rank"] == 4
    assert train(folder / "v.bin", sum_constraint="reversed").statistics["shifted_updates"] > 0


# ── Resuming ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("more", [[], ["--low-memory"], ["--momentum", "0"]])
def test_a_resumed_run_gives_the_same_bytes(folder, ask, tmp_path, more):
    assert ask(*line(folder, *more), str(tmp_path / "whole.bin")).status == 0
    part = str(tmp_path / "part.bin")
    with interrupted_after(1):
        assert ask(*line(folder, *more), part).status == 75
    with interrupted_after(4):
        assert ask(*line(folder, *more), part, "--resume").status == 75
    assert ask(*line(folder, *more), part, "--resume").status == 0
    assert (tmp_path / "part.bin").read_bytes() == (tmp_path / "whole.bin").read_bytes()
    cards = [read_card(tmp_path / name) for name in ("whole.bin", "part.bin")]
    courses = [card["statistics"]["losses"] for card in cards if card]
    assert courses[0] == courses[1]


def test_a_killed_run_resumes_with_the_same_bytes(folder, ask, tmp_path):
    assert ask(*line(folder), str(tmp_path / "whole.bin")).status == 0
    part = str(tmp_path / "part.bin")
    kill_after(5, [*line(folder), part])
    assert not (tmp_path / "part.bin").exists()
    assert ask(*line(folder), part, "--resume").status == 0
    assert (tmp_path / "part.bin").read_bytes() == (tmp_path / "whole.bin").read_bytes()


# ── Bad input ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tau": 1.0}, "tau must be above 0 and below 1, found 1.0"),
        ({"tau": 0.0}, "tau must be above 0 and below 1, found 0.0"),
        ({"tau": -0.5}, "tau"),
        ({"sparsity": 1.0}, "sparsity"),
        ({"tau": 0.5, "sparsity": 0.9}, "tau= excludes sparsity="),
        ({"landmarks": 6}, "landmarks=6 are fewer than 8 neighbours"),
        ({"neighbours": 8}, "neighbours= has no effect without landmarks="),
        ({"landmarks": 50, "weight_penalty": 0.0}, "weight_penalty must be above 0"),
    ],
)
def test_options_that_make_no_sense(folder, options, said):
    with pytest.raises(OptionError, match=said):
        wg.train(folder / "v.bin", "tsm", **{"dim": 4, "updates": 1} | options)


@pytest.mark.parametrize("dim", [n, n + 5])
def test_as_many_dimensions_as_vectors(folder, dim):
    with pytest.raises(RankError, match=f"needs more than {dim} nonzero vectors, found {n}"):
        train(folder / "v.bin", dim=dim)


def test_a_threshold_that_leaves_most_items_alone_is_replaced_in_the_message(folder):
    with pytest.raises(InputError, match="no other at a cosine above") as caught:
        train(folder / "v.bin", tau=0.9999)
    said = str(caught.value)
    assert "\n" not in said
    better = float(said.partition("tau=")[2].split()[0])
    assert train(folder / "v.bin", tau=better).statistics["alone"] <= 0.06 * n


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda points: points * np.where(np.arange(12) == 3, np.nan, 1.0), "NaN or infinity"),
        (lambda points: points[:, :1], "one dimension"),
        (lambda points: points * 0.0, "nonzero vectors, found 0"),
        (lambda points: points[:3], "nonzero vectors, found 3"),
        (lambda _: np.eye(12), "no other at a cosine above .*; project them"),
    ],
)
def test_arrays_that_cannot_be_embedded(folder, tmp_path, harm, said):
    np.save(tmp_path / "bad.npy", harm(np.load(folder / "rows.npy")))
    with pytest.raises(WordgeomError, match=said) as caught:
        train(tmp_path / "bad.npy")
    assert "\n" not in str(caught.value)


def test_landmarks_that_leave_nothing_to_extend_to(folder):
    with pytest.raises(InputError, match="leave none of 160 nonzero vectors"):
        train(folder / "v.bin", landmarks=n)


def test_too_little_memory_is_reported_before_the_work(ask, tmp_path):
    rng = np.random.default_rng(1)
    np.save(tmp_path / "many.npy", rng.standard_normal((60_000, 4)).astype(np.float32))
    answer = ask("train", str(tmp_path / "many.npy"), "--method", "tsm", "--dim", "2",
                 "--memory", "1", "-o", str(tmp_path / "out.bin"))  # fmt: skip
    assert answer.status == 1
    assert "--low-memory" in answer.err
    assert not (tmp_path / "out.bin").exists()

"""train --method ssmds --propagate: the functions behind it, its options, few pairs, same bytes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from matrices import random_counts, store_matrix

import wordgeom as wg
from wordgeom.core.errors import InputError, OptionError
from wordgeom.methods.ssmds import spreading
from wordgeom.methods.ssmds.propagation import Frame, propagate
from wordgeom.methods.ssmds.propagation_choice import Choice, choose
from wordgeom.runtime.progress import Progress
from wordgeom.transforms.fit.scored_pairs import ScoredPairs
from wordgeom.vectors.keyed import read_vectors, write_vectors
from wordgeom.vectors.run_card import read_card

V, K, PAIRS = 90, 12, 160


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Counts, vectors of a file, and pairs judged by people who ignore its first three axes."""
    made, rng = tmp_path_factory.mktemp("spreading"), np.random.default_rng(41)
    store_matrix(made / "cooc", random_counts(rng, V))
    store_matrix(made / "left", random_counts(rng, V, symmetric=False), symmetric=False)
    axes = np.where(np.arange(K) < 3, 3.0, 1.0)
    own = (rng.standard_normal((V, K)) * axes).astype(np.float32)
    write_vectors(made / "own.bin", words(V), own)
    write_vectors(made / "part.bin", words(80), own[:80])
    seen = own * np.where(np.arange(K) < 3, 0.1, 1.0)
    seen /= np.linalg.norm(seen, axis=1, keepdims=True)
    left, right = np.triu_indices(60, 1)
    some = np.sort(rng.choice(len(left), PAIRS, replace=False))
    left, right = left[some], right[some]
    scores = np.round(5 + 4 * np.sum(seen[left] * seen[right], axis=1), 2)
    write_pairs(made, "pairs.tsv", left, right, scores)
    late = np.where(np.arange(PAIRS) % 8 == 0, right + 30, right)  # some words are not in part.bin
    write_pairs(made, "late.tsv", left, late, scores)
    write_pairs(made, "few.tsv", left[:4], right[:4], scores[:4])
    write_pairs(made, "star.tsv", np.zeros(8, int), np.arange(1, 9), np.arange(8.0))
    return made


def words(number):
    return [f"w{k}" for k in range(number)]


def write_pairs(folder, name, left, right, scores):
    lines = [f"w{i}\tw{j}\t{score}" for i, j, score in zip(left, right, scores, strict=True)]
    (folder / name).write_text("\n".join(["# judged", *lines]) + "\n", encoding="utf-8")


def train(folder, store="cooc", pairs="pairs.tsv", init: str | None = "own.bin", **options):
    given: Any = {"pairs": folder / pairs, "propagate": True} | options
    given |= {"init": folder / init} if init else {"dim": K}
    return wg.train(folder / store, "ssmds", **given)


def directly(start, lines, seed=1):
    """Return what the functions behind the option give."""
    table = [line.split("\t") for line in lines if not line.startswith("#")]
    ends = np.array([[int(w[1:]) for w in line[:2]] for line in table])
    rows, places = np.unique(ends, return_inverse=True)
    left, right = places.reshape(ends.shape).T
    pairs = ScoredPairs(left, right, np.array([float(line[2]) for line in table]))
    start = start.astype(np.float64)
    choice = choose(Frame.of(start).inwards(start[rows]), pairs, start[rows], seed)
    assert choice.strength is not None
    return choice, propagate(start, rows, pairs, choice.strength)


# ── Results ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", [1, 5])
def test_it_gives_what_the_functions_give_and_records_it(folder, seed):
    made = train(folder, seed=seed)
    lines = (folder / "pairs.tsv").read_text().splitlines()
    own = read_vectors(folder / "own.bin").matrix
    choice, expected = directly(own, lines, seed)
    assert made.vectors.dtype == np.float32
    np.testing.assert_allclose(made.vectors, expected, atol=1e-5)
    facts = made.statistics
    assert choice.strength is not None
    assert facts["strength_of_metric"] == choice.strength.metric
    assert facts["strength_of_displacement"] == choice.strength.displacement
    assert facts["power"] == choice.strength.power
    assert facts["cross_validated_at_start"] == pytest.approx(choice.before)
    assert facts["cross_validated_best"] == pytest.approx(choice.after)
    assert facts["cross_validated_best"] > facts["cross_validated_at_start"] + 0.1
    assert (facts["pairs"], facts["folds"]) == (PAIRS, choice.folds)
    assert facts["correlation"] > facts["correlation_at_start"]
    moved = np.linalg.norm(made.vectors - own, axis=1) / np.linalg.norm(own, axis=1)
    supervised = np.isin(np.arange(V), [int(w[1:]) for line in lines[1:] for w in line.split()[:2]])
    assert facts["words_supervised"] == supervised.sum()
    assert facts["moved_supervised"] == pytest.approx(moved[supervised].mean(), rel=1e-5)
    assert facts["moved_others"] == pytest.approx(moved[~supervised].mean(), rel=1e-5)
    assert facts["words_moved"] == V
    assert made.notes == []
    assert made.status == "converged"


@pytest.mark.parametrize("how", ["eigenpairs", "build-up"])
def test_without_a_file_it_starts_where_a_descent_starts(folder, how, monkeypatch):
    with monkeypatch.context() as still:
        still.setattr(spreading, "choose", lambda *_: Choice(None, 0.0, 0.0, 1))
        start = train(folder, init=None, start=how).vectors
    descent = {"propagate": False, "start": how, "steps": 1, "data_weight": 1.0}
    first = train(folder, init=None, **descent).statistics["correlation_at_start"]
    found = train(folder, init=None, start=how).statistics["correlation_at_start"]
    assert found == pytest.approx(first, abs=1e-5)
    left, right = np.triu_indices(40, 1)
    turned = start / np.linalg.norm(start, axis=1, keepdims=True) * (np.arange(K) > 2)
    scores = np.sum(turned[left] * turned[right], axis=1)
    write_pairs(folder, "of_start.tsv", left[::4], right[::4], scores[::4])
    made = train(folder, pairs="of_start.tsv", init=None, start=how)
    assert made.vectors.shape == (V, K)
    lengths = [np.linalg.norm(vectors, axis=1) for vectors in (made.vectors, start)]
    np.testing.assert_allclose(lengths[0], lengths[1], rtol=1e-5)
    assert made.statistics["words_moved"] == V
    assert made.statistics["cross_validated_best"] > made.statistics["cross_validated_at_start"]


def test_words_that_the_file_lacks_stay_zero_and_teach_nothing(folder):
    made = train(folder, pairs="late.tsv", init="part.bin")
    assert not made.vectors[80:].any()
    assert any("10 words have zero vectors, absent from init=" in note for note in made.notes)
    facts = made.statistics
    without = facts["pairs_without_vector"]
    assert 0 < without < PAIRS // 8
    assert facts["pairs"] == PAIRS - without
    said = f"{without} pairs with a word whose vector is zero: left out"
    assert any(said in note for note in made.notes)
    kept = [line for line in (folder / "late.tsv").read_text().splitlines()
            if line[0] != "#" and all(int(w[1:]) < 80 for w in line.split()[:2])]  # fmt: skip
    own = np.vstack((read_vectors(folder / "part.bin").matrix, np.zeros((10, K), np.float32)))
    np.testing.assert_allclose(made.vectors, directly(own, kept)[1], atol=1e-5)


def test_zero_vectors_of_the_file_are_counted(folder):
    held = read_vectors(folder / "own.bin")
    matrix = held.matrix.copy()
    matrix[[3, 7]] = 0.0
    write_vectors(folder / "zeros.bin", held.words, matrix)
    assert any(
        "2 words have zero vectors in init=" in n for n in train(folder, init="zeros.bin").notes
    )


def test_a_file_needs_no_matrix_of_a_certain_kind(folder):
    assert np.array_equal(train(folder, store="left").vectors, train(folder).vectors)


@pytest.mark.parametrize("name", ["few.tsv", "star.tsv"])
def test_pairs_that_cannot_be_validated_leave_the_vectors_as_they_are(folder, name):
    made = train(folder, pairs=name)
    assert np.array_equal(made.vectors, read_vectors(folder / "own.bin").matrix)
    number = len((folder / name).read_text().splitlines()) - 1
    said = f"{number} pairs cannot be cross-validated by folds of words: the vectors stay as they"
    assert any(said in note for note in made.notes), made.notes
    facts = made.statistics
    assert (facts["folds"], facts["words_moved"], facts["moved_others"]) == (0, 0, 0.0)
    assert facts["power"] is None
    assert facts["cross_validated_best"] is None
    json.dumps(facts, allow_nan=False)


def test_where_no_strength_is_better_the_vectors_stay_as_they_are(folder, monkeypatch):
    from wordgeom.methods.ssmds import propagation_choice

    for name in ("METRICS", "DISPLACEMENTS"):
        monkeypatch.setattr(propagation_choice, name, (0.0,))
    own = read_vectors(folder / "own.bin").matrix
    units = own / np.linalg.norm(own, axis=1, keepdims=True)
    left, right = np.triu_indices(20, 1)
    shifted = units + 1.0  # scores agree with vectors that are not centred
    write_vectors(folder / "shifted.bin", words(V), shifted.astype(np.float32))
    unit = shifted / np.linalg.norm(shifted, axis=1, keepdims=True)
    write_pairs(folder, "agree.tsv", left, right, np.sum(unit[left] * unit[right], axis=1))
    made = train(folder, pairs="agree.tsv", init="shifted.bin")
    assert np.array_equal(made.vectors, shifted.astype(np.float32))
    assert any("no strength improves the correlation" in note for note in made.notes), made.notes
    assert made.statistics["cross_validated_best"] < made.statistics["cross_validated_at_start"]


@pytest.mark.parametrize("vectors", [np.ones((V, 3)), np.arange(1.0, V + 1)[:, None]])
def test_vectors_without_directions_stay_as_they_are(folder, vectors):
    write_vectors(folder / "flat.bin", words(V), vectors.astype(np.float32))
    made = train(folder, init="flat.bin")
    assert np.array_equal(made.vectors, vectors.astype(np.float32))
    json.dumps(made.statistics, allow_nan=False)


# ── Options ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("flags", "say"),
    [
        *((f"{flag} {value}".strip(), f"{flag} has no effect with --propagate; omit one")
          for flag, value in [
              ("--optimiser", "sgd"), ("--optimiser", "lbfgs"), ("--steps", "200"),
              ("--tol", "0.1"), ("--rate", "0.1"), ("--decay", "1"), ("--batch-words", "5"),
              ("--data-weight", "0.5"), ("--plain-sums", ""),
          ]),
        ("--objective inner", "--propagate needs --objective correlation, found inner"),
        ("--objective euclidean --data distances", "--propagate needs --objective correlation"),
        ("--start random", "--propagate needs --start eigenpairs or build-up, found random"),
        ("--start build-up --data gram", "--start build-up needs --data inner"),
        ("--init own.bin --start eigenpairs", "--init excludes --start"),
        *((f"--init own.bin {flag} {value}", f"{flag} has no effect with --init and --propagate; "
           f"omit {flag}")
          for flag, value in [
              ("--data", "gram"), ("--neg", "1"), ("--cds", "0.75"), ("--weighting", "pmi"),
              ("--weight", "log"),
          ]),
    ],
)  # fmt: skip
def test_options_without_effect_are_rejected(folder, ask, tmp_path, flags, say):
    given = flags.replace("own.bin", str(folder / "own.bin")).split()
    answer = ask("train", str(folder / "cooc"), "--method", "ssmds", "--propagate", "--pairs",
                 str(folder / "pairs.tsv"), "-o", str(tmp_path / "o.bin"), *given)  # fmt: skip
    assert answer.status != 0
    assert say in answer.err
    assert len(answer.err.splitlines()) == 1
    assert not (tmp_path / "o.bin").exists()


def test_the_default_objective_may_be_given(folder):
    assert train(folder, objective="correlation").statistics["folds"]
    with pytest.raises(OptionError, match="steps= has no effect with propagate="):
        train(folder, steps=5)


@pytest.mark.parametrize(("name", "init"), [("_ROW", None), ("_ROW", "own.bin")])
def test_what_does_not_fit_in_memory_is_rejected(folder, monkeypatch, name, init):
    from wordgeom.methods.ssmds import problem

    monkeypatch.setattr(problem, name, 10**8)
    with pytest.raises(InputError, match=r"of propagation need .* more than the memory limit"):
        train(folder, init=init, memory=0.5)


def test_the_equations_of_many_pairs_count_as_memory(folder, monkeypatch):
    monkeypatch.setattr(spreading, "_SQUARES", 10**4)
    with pytest.raises(InputError, match=r"more than the memory limit.*pass fewer pairs"):
        train(folder, memory=0.5)


def test_more_pairs_than_it_can_spread_are_rejected_before_any_work(folder, monkeypatch):
    monkeypatch.setattr(spreading, "MOST_PAIRS", PAIRS - 1)
    monkeypatch.setattr(spreading, "spread", None)
    say = "propagate=True takes time that grows with the cube of the pairs, 160; pass at most 159"
    with pytest.raises(InputError, match=say):
        train(folder)


def test_the_choice_of_strengths_shows_its_progress(folder, monkeypatch):
    shown, follow = [], Progress.follow

    def watched(self, items, label, total, *rest):
        taken = list(items)
        shown.append((label, total, len(taken)))
        return follow(self, iter(taken), label, total, *rest)

    monkeypatch.setattr(Progress, "follow", watched)
    made = train(folder)
    assert ("strengths", 4 * made.statistics["folds"], 4 * made.statistics["folds"]) in shown


# ── Determinism ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("init", [None, "own.bin"])
def test_bytes_do_not_depend_on_threads(folder, init):
    made = {train(folder, init=init, threads=n).vectors.tobytes() for n in (1, 3)}
    assert len(made) == 1


def test_a_resumed_run_writes_the_bytes_of_an_uninterrupted_one(folder, ask, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    line = ["train", str(folder / "cooc"), "--method", "ssmds", "--propagate", "--pairs",
            str(folder / "pairs.tsv"), "--init", str(folder / "own.bin"), "--checkpoint", "0",
            "-o"]  # fmt: skip
    assert ask(*line, str(tmp_path / "whole.bin")).status == 0
    part = tmp_path / "part.bin"
    with monkeypatch.context() as stop:
        stop.setattr(spreading, "choose", interrupted)
        assert ask(*line, str(part)).status in (75, 130)
    assert not part.exists()
    assert ask(*line, str(part), "--resume").status == 0
    assert part.read_bytes() == (tmp_path / "whole.bin").read_bytes()
    card = read_card(part)
    assert card is not None
    assert card["request"]["options"]["propagate"] is True
    assert card["statistics"]["moved_others"] > 0

"""Extension: what new words' vectors are, what their held-out figure tells, what is refused."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import matrices
import numpy as np
import pytest
import running
from contexts import context_of
from matrices import random_counts, store_matrix, to_csr, to_dense
from running import Done, train

import wordgeom as wg
from wordgeom.cli import main
from wordgeom.core.errors import (
    FormatError,
    InputError,
    MissingInputError,
    OptionError,
    OutputExistsError,
    WriteError,
)
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.linalg.logistic_rows import curvature
from wordgeom.linalg.numpy_ops import NumpyOps
from wordgeom.linalg.row_solver import Penalty
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.methods.gbu.anchored_rows import SquaredRows, row_problem
from wordgeom.methods.gbu.calibration import cosines, fit_map
from wordgeom.methods.gbu.extension import Anchored
from wordgeom.methods.gbu.logistic_sweeps import LogisticLoss, thinned
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.trained_options import trained_options
from wordgeom.storage import files
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors, read_vectors, write_vectors
from wordgeom.weighting.options import PmiOptions
from wordgeom.weighting.pmi import WeightedMatrix

V, K, NEW = 80, 4, (7, 20, 41, 66)  # words, numbers of a vector, rows that the vectors lack


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with cooc/ and with vectors.bin of gbu, which lacks NEW, and its run card."""
    monkeypatch.chdir(tmp_path)
    store_matrix(Path("cooc"), random_counts(np.random.default_rng(0), V))
    train(
        "cooc",
        "gbu",
        {"dim": K, "loss": "squared", "x_max": 5.0},
        RunOptions(threads=1),
        out="all.bin",
    )
    made, card = read_vectors("all.bin"), run_card.read_card(Path("all.bin"))
    assert card is not None
    kept = [row for row in reversed(range(V)) if row not in NEW]  # in an order of their own
    words = [made.words[row] for row in kept]
    run_card.write(Path("vectors.bin"), Vectors(words, made.matrix[kept]), card)
    return tmp_path


def extend(out: str | None = "new.bin", **values: Any) -> Done:
    run = RunOptions.take({"threads": 2, **values})
    vectors, counts = values.pop("vectors", "vectors.bin"), values.pop("counts", "cooc")
    return running.extend(vectors, counts, values, run, out=out, space=values.pop("space", None))


def new_vectors(made: Done) -> Array:
    assert made.vectors is not None
    rows = [made.vectors.index[f"w{row}"] for row in NEW]
    return made.vectors.matrix[rows]


def exact(anchors: int) -> tuple[Float64, Float64]:
    """New vectors and held-out cosines by dense algebra, row by row, as the card has it."""
    stored, base = StoredMatrix.open("cooc"), read_vectors("vectors.bin")
    counts = stored.to_scipy().toarray()
    with Pool(1) as pool:
        weighted = WeightedMatrix(stored, PmiOptions(neg=0.2), pool)
        targets = np.zeros((V, V))
        whole = weighted.full()
        targets[np.repeat(np.arange(V), np.diff(whole.indptr)), whole.indices] = whole.data
    c = np.minimum(1.0, counts / 5.0) ** 0.5
    known = np.setdiff1d(np.arange(V), NEW)  # rows stand in order of frequency
    chosen = known[:anchors] if anchors else known
    true = np.zeros((V, K))
    true[known] = [base.matrix[base.index[f"w{row}"]] for row in known]
    U = true[chosen] / np.sqrt((true[chosen] ** 2).sum() / len(chosen))
    B = 0.05 * U.T @ U + max(0.03 * K, 1.0) * np.eye(K)
    x, pairs = np.zeros((V, K)), np.zeros(V)
    for i in range(V):
        weights = np.where(chosen == i, 0.0, c[i, chosen])
        pairs[i] = np.count_nonzero(weights)
        x[i] = np.linalg.solve(B + (U.T * weights) @ U, (U.T * weights) @ targets[i, chosen])
    able = known[pairs[known] >= 5]
    drawn = able[np.random.default_rng(1).permutation(len(able))]
    held, fitted = drawn[: len(able) // 2], drawn[len(able) // 2 :]
    size = np.sum(x[fitted] ** 2)
    ridge, prior = 100.0 * size / (K * len(fitted)), np.sum(x[fitted] * true[fitted]) / size
    T = np.linalg.solve(
        x[fitted].T @ x[fitted] + ridge * np.eye(K),
        x[fitted].T @ true[fitted] + ridge * prior * np.eye(K),
    )
    judged = x[held] @ T
    lengths = np.linalg.norm(judged, axis=1) * np.linalg.norm(true[held], axis=1)
    return x[list(NEW)] @ T, (judged * true[held]).sum(1) / lengths


def anchored(
    full: Float64, weights: Float64, anchors: Int64, vectors: Array, held: Penalty
) -> Anchored:
    place = np.full(len(full), -1, np.int32)
    place[anchors] = np.arange(len(anchors))
    there = np.asarray(weights[full != 0], np.float32)
    targets, known = to_csr(full.astype(np.float32)), vectors.astype(np.float32)
    return Anchored(targets, there, place, known, SquaredRows(held))


def test_vectors_of_a_matrix_of_low_rank_come_back():
    draw = np.random.default_rng(3)
    true, weights = draw.standard_normal((60, 5)), draw.uniform(0.1, 1.0, (60, 60))
    full = np.hstack((true @ true[:40].T, np.zeros((60, 20))))
    with Pool(1) as pool:
        problem = anchored(full, weights, np.arange(40), true[:40], Penalty(1e-9, 1e-9))
        solved, missed = problem.solve(np.arange(60), context_of(pool), "words")
    assert missed == 0
    scale = np.sqrt((true[:40] ** 2).sum() / 40)  # anchors were brought to length 1
    assert solved == pytest.approx(true * scale, abs=2e-2)


def test_logistic_rows_solve_the_bound_that_touches_where_counted_pairs_are_best():
    draw = np.random.default_rng(6)
    counts = random_counts(draw, 30).astype(np.float32)
    rows, anchors, beta = np.arange(30), np.arange(0, 30, 2), -0.75 * np.log(2.0)
    targets, loss = to_csr(counts), LogisticLoss(0.75, 2.0, 0.75, 0.3, 1e-3)
    weights, problem = row_problem(loss, targets, targets.data.copy(), anchors, 3)
    place = np.full(30, -1, np.int32)
    place[anchors] = np.arange(len(anchors))
    U = draw.standard_normal((len(anchors), 3)).astype(np.float32)
    with Pool(1) as pool:
        solved, missed = Anchored(targets, weights, place, U, problem).solve(
            rows, context_of(pool), "words"
        )
    assert missed == 0
    pairs = thinned(to_csr(counts), loss)
    C, N = to_dense(pairs.counts)[:, anchors], np.outer(pairs.words, pairs.contexts[anchors])
    U = 2.0 * U / np.sqrt((U**2).sum(1).mean())
    for i in rows:
        c = np.where(anchors == i, 0.0, C[i])  # not the word itself
        touching = np.log(np.where(c > 0, c, N[i]) / N[i])
        h, flat = (np.array([curvature(t) for t in x]) for x in (touching, np.ones(len(anchors))))
        weight = h * c + flat * N[i]
        system = 2.0 * (U.T * weight) @ U + 2.0 * pairs.ridges[i] * np.eye(3)
        side = U.T @ (c / 2.0 - N[i] / 2.0 - 2.0 * weight * beta)
        assert solved[i] == pytest.approx(np.linalg.solve(system, side), rel=1e-2, abs=2e-3)


def test_the_map_from_many_solutions_to_vectors_is_found():
    draw = np.random.default_rng(3)
    solved, turn = draw.standard_normal((20_000, 5)), draw.standard_normal((5, 5))
    with Pool(1) as pool:
        found = fit_map(solved, solved @ turn, NumpyOps(pool))
    # What differs is the prior, which weighs as 100 words of 20,000 spread over 5 numbers.
    assert found == pytest.approx(turn, abs=2e-2)


def test_a_word_s_own_column_gives_nothing_away():
    draw = np.random.default_rng(4)
    full, weights = draw.uniform(1.0, 2.0, (12, 12)), draw.uniform(0.1, 1.0, (12, 12))
    vectors, rows, held = draw.standard_normal((9, 3)), np.arange(12), Penalty(0.05, 1.0)
    other = full + np.diag(draw.uniform(5.0, 9.0, 12))
    with Pool(1) as pool:
        one, two = (
            anchored(matrix, weights, np.arange(9), vectors, held).solve(
                rows, context_of(pool), "words"
            )[0]
            for matrix in (full, other)
        )
    assert one.tobytes() == two.tobytes()


def test_pairs_are_those_with_anchors_a_word_itself_aside():
    full = np.array([[1.0, 2.0, 0.0], [2.0, 0.0, 3.0], [0.0, 3.0, 4.0]])
    problem = anchored(full, full, np.array([0, 2]), np.ones((2, 1)), Penalty(0.0, 1.0))
    assert problem.pairs().tolist() == [0, 2, 0]


@pytest.mark.parametrize("words", [1, 3, 50])
def test_a_map_that_is_a_multiple_is_found_however_few_the_words(words):
    solved = np.random.default_rng(5).standard_normal((words, 6))
    with Pool(1) as pool:
        assert fit_map(solved, 2.5 * solved, NumpyOps(pool)) == pytest.approx(2.5 * np.eye(6))
        assert not fit_map(0 * solved, solved, NumpyOps(pool)).any()


@pytest.mark.parametrize(("anchors", "noise"), [(0, 0.0), (12, 0.0), (0, 3.0)])
def test_new_vectors_and_the_held_out_figure_are_those_of_dense_algebra(folder, anchors, noise):
    old, card = read_vectors("vectors.bin"), run_card.read_card(Path("vectors.bin"))
    drawn = np.random.default_rng(8).standard_normal(old.matrix.shape)
    matrix = (old.matrix + noise * drawn).astype(np.float32)
    run_card.write(Path("vectors.bin"), Vectors(old.words, matrix), card)
    made = extend(None, anchors=anchors)
    vectors, judged = exact(anchors)
    assert new_vectors(made) == pytest.approx(vectors, rel=5e-3, abs=5e-3)
    held = made.statistics["held_out"]
    assert held["words"] == len(judged)
    assert held["mean_cosine"] == pytest.approx(judged.mean(), abs=1e-3)
    assert held["median_cosine"] == pytest.approx(np.median(judged), abs=1e-3)
    assert made.statistics["anchors"] == (anchors or V - len(NEW))
    assert f"mean {held['mean_cosine']:.3f}, median {held['median_cosine']:.3f}" in made.summary


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_new_words_come_near_the_vectors_that_training_gave_them(folder, loss):
    draw = np.random.default_rng(9)
    places = draw.standard_normal((V, K))
    upper = np.triu(draw.poisson(30.0 * np.exp(0.7 * places @ places.T)))
    store_matrix(Path("mixed"), np.maximum(upper, upper.T))
    train(
        "mixed", "gbu", {"dim": K, "loss": loss}, RunOptions(threads=1, force=True), out="all.bin"
    )
    all_words = read_vectors("all.bin")
    kept = [row for row in range(V) if row not in NEW]
    words = [all_words.words[row] for row in kept]
    card = run_card.read_card(Path("all.bin"))
    run_card.write(Path("vectors.bin"), Vectors(words, all_words.matrix[kept]), card)
    made = extend(None, counts="mixed")
    assert f"--loss {loss}" in made.notes[0]
    assert np.median(cosines(new_vectors(made), all_words.matrix[list(NEW)])) > 0.9


@pytest.mark.parametrize(
    ("options", "loss"),
    [
        ({"method": "gbu", "loss": "logistic", "sweeps": 3, "weighted": True}, "logistic"),
        ({"method": "gbu", "loss": "logistic", "sweeps": 0, "weighted": True}, "squared"),
        ({"method": "gbu", "x_max": 5.0}, "squared"),  # of a version without --loss
        ({"method": "mde", "loss": "cubic"}, "squared"),
        ({"method": "pmi-eigs", "neg": 2.0}, "squared"),
        ({"loss": "logistic", "temper": 0.5}, "logistic"),  # of extend
        (None, "logistic"),
    ],
)
def test_the_loss_is_that_which_the_vectors_were_trained_with(folder, options, loss):
    old = read_vectors("vectors.bin")
    write_vectors("made.bin", old.words, old.matrix)
    if options is not None:
        card = {"request": {"command": "train", "options": options}}
        run_card.write(Path("made.bin"), old, card)
    trained = trained_options(Path("made.bin"))
    assert trained.options["loss"] == loss
    others = dict(options or {})
    assert trained.sweeps.x_max == others.get("x_max", 20.0)
    assert trained.sweeps.temper == others.get("temper", 0.75)


def test_known_vectors_stay_bit_for_bit_and_new_ones_follow_by_frequency(folder):
    old, made = read_vectors("vectors.bin"), extend()
    new = read_vectors("new.bin")
    assert new.words == [*old.words, *(f"w{row}" for row in NEW)]
    assert new.matrix[: len(old.words)].tobytes() == old.matrix.tobytes()
    only = extend("only.bin", keep_only_new=True)
    assert read_vectors("only.bin").words == [f"w{row}" for row in NEW]
    assert new_vectors(only).tobytes() == new_vectors(made).tobytes()


@pytest.mark.parametrize("scale", [2.0**10, 2.0**-70, 2.0**70])
def test_the_scale_of_the_vectors_is_that_of_the_new(folder, scale):
    old, one = read_vectors("vectors.bin"), extend(None)
    card = run_card.read_card(Path("vectors.bin"))
    run_card.write(Path("scaled.bin"), Vectors(old.words, old.matrix * np.float32(scale)), card)
    two = extend(None, vectors="scaled.bin")
    assert new_vectors(two) / scale == pytest.approx(new_vectors(one), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_threads_and_memory_do_not_change_a_byte(folder, loss):
    vectors = read_vectors("vectors.bin")
    if loss == "logistic":
        write_vectors("vectors.bin", vectors.words, vectors.matrix)
        Path("vectors.bin.json").unlink()
    for threads in (1, 2):
        made = extend(f"{threads}.bin", threads=threads, memory=float(threads))
        assert f"--loss {loss}" in made.notes[0]
    assert Path("1.bin").read_bytes() == Path("2.bin").read_bytes()


def test_pairs_are_weighted_as_the_run_card_says(folder):
    made = extend(None)
    assert made.notes[0].startswith("options from the run card of vectors.bin: --weighting ppmi")
    assert "--x-max 5," in made.notes[0]
    assert "by default" not in made.notes[0]
    old = read_vectors("vectors.bin")
    write_vectors("bare.bin", old.words, old.matrix)
    bare = extend("more.bin", vectors="bare.bin")
    assert bare.notes[0].startswith("by default: --weighting ppmi, --neg 1, --cds 0.75, --loss log")
    assert new_vectors(bare) != pytest.approx(new_vectors(made), rel=1e-3)
    train("cooc", "pmi-eigs", {"dim": K}, RunOptions(threads=1), out="eigs.bin")
    note = trained_options(Path("eigs.bin")).note("eigs.bin")
    assert "--neg 1, --cds 1; by default: --loss squared, --x-max 20, --alpha" in note


def test_what_was_extended_tells_how_pairs_were_weighted(folder):
    extend()
    assert trained_options(Path("new.bin")) == trained_options(Path("vectors.bin"))


def test_the_same_request_is_up_to_date_and_another_refused(folder):
    extend()
    assert extend(threads=1).summary == "new.bin: up to date"
    for values, how in (
        ({"min_pairs": 3}, "--min-pairs 5, not 3"),
        ({"seed": 2}, "--seed 1, not 2"),
        ({"vectors": "all.bin", "counts": "more"}, "made from another matrix or vectors"),
    ):
        store_matrix(folder / "more", random_counts(np.random.default_rng(1), V + 5))
        with pytest.raises(OutputExistsError, match=how):
            extend(**values)
    assert "up to date" not in extend(min_pairs=3, force=True).summary


def test_the_card_holds_what_was_found(folder):
    made = extend()
    card = json.loads(Path("new.bin.json").read_bytes())
    assert (card["statistics"], card["notes"]) == (made.statistics, made.notes)
    assert card["request"]["command"] == "extend"
    assert card["statistics"]["new"] == len(NEW)
    held = card["statistics"]["held_out"]
    assert held["words"] + held["fitted"] <= V - len(NEW)


def test_a_failure_to_write_leaves_all_as_it_was(folder, monkeypatch):
    extend()
    before = {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}

    def disk(step: str, path: Path) -> None:
        if step == "write" and path.name == ".new.bin.json.part":
            raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(files, "boundary", disk)
    with pytest.raises(WriteError, match="cannot be written: no space left on device"):
        extend(min_pairs=3, force=True)
    assert {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()} == before


def test_new_words_with_too_few_pairs_are_left_out_and_told(folder):
    full = StoredMatrix.open("cooc").to_scipy().toarray().astype(np.int64)
    full[66, :], full[:, 66] = 0, 0
    full[66, :3], full[:3, 66] = 2, 2
    store_matrix(Path("few"), full)
    made = extend(None, counts="few")
    assert "1 new word co-occurs with fewer than 5 known words; left out" in made.notes
    assert made.vectors is not None
    assert "w66" not in made.vectors.index
    assert (made.statistics["new"], made.statistics["left_out"]) == (3, 1)
    assert extend(None, counts="few", min_pairs=3).statistics["left_out"] == 0
    what = "no new word co-occurs with 500 known words, only with [0-9]+ at most; count more text"
    with pytest.raises(InputError, match=what):
        extend(None, min_pairs=500)


def test_vectors_that_say_nothing_of_the_counts_are_warned_of(folder):
    old = read_vectors("vectors.bin")
    noise = np.random.default_rng(6).standard_normal((len(old.words), 20)).astype(np.float32)
    made = extend(None, vectors=Vectors([*old.words], noise))
    assert made.statistics["held_out"]["median_cosine"] < 0.5
    assert any("do not rely on" in note for note in made.notes)
    assert not any("do not rely on" in note for note in extend(None).notes)


def test_vectors_in_memory_are_extended_from_python(folder):
    store_matrix(Path("large"), random_counts(np.random.default_rng(1), V + 5))
    model = wg.train("cooc", "gbu", dim=3)
    made = wg.extend(model, wg.open_matrix("large"), min_pairs=2, out="new.bin")
    assert made.words == [*model.words, *(f"w{row}" for row in range(V, V + 5))]
    again = wg.extend(model, "large", min_pairs=2, out="new.bin")  # up to date
    assert again.vectors.tobytes() == made.vectors.tobytes()
    assert (again.notes, again.statistics) == (made.notes, made.statistics)


def test_words_that_the_file_holds_again_are_told(folder):
    old = read_vectors("vectors.bin")
    twice = Vectors(old.words, old.matrix, duplicates=2)
    notes = extend(None, vectors=twice).notes
    assert "the vectors: 2 repeated words ignored" in notes


def edit_card(**options: Any) -> None:
    vectors, card = read_vectors("vectors.bin"), run_card.read_card(Path("vectors.bin"))
    assert card is not None
    card["request"]["options"] |= options
    run_card.write(Path("vectors.bin"), vectors, card)


def test_white_space_in_words_is_replaced_as_in_the_vectors(folder, monkeypatch):
    old, card = read_vectors("vectors.bin"), run_card.read_card(Path("vectors.bin"))
    full = StoredMatrix.open("cooc").to_scipy().toarray().astype(np.int64)
    spaced = Vocabulary([f"a w{row}" for row in range(V)], np.arange(V, 0, -1))
    monkeypatch.setattr(matrices, "Vocabulary", lambda *_: spaced)
    store_matrix(Path("spaced"), full)
    run_card.write(Path("vectors.bin"), Vectors([f"a_{w}" for w in old.words], old.matrix), card)
    with pytest.raises(InputError, match=r"spaced: none of 80 words has a vector in vectors\.bin"):
        extend(counts="spaced")
    extend(counts="spaced", space="_", keep_only_new=True)
    assert read_vectors("new.bin").words == [f"a_w{row}" for row in NEW]
    edit_card(space="_")
    extend("told.bin", counts="spaced", keep_only_new=True)
    assert Path("told.bin").read_bytes() == Path("new.bin").read_bytes()


def test_bad_input_is_told_in_one_line(folder):
    draw = np.random.default_rng(7)
    store_matrix(Path("left"), random_counts(draw, V, symmetric=False), symmetric=False)
    store_matrix(Path("pmi"), draw.random((V, V)).astype(np.float32), kind="pmi")
    old = read_vectors("vectors.bin")
    odd, zero = old.matrix.copy(), 0 * old.matrix
    odd[3, 1] = np.nan
    write_vectors("odd.bin", old.words, odd)
    write_vectors("zero.bin", old.words, zero)
    write_vectors("foreign.bin", ["x", "y"], old.matrix[:2])
    write_vectors("one.bin", old.words[:1], old.matrix[:1])
    Path("cut.bin").write_bytes(Path("vectors.bin").read_bytes()[:-9])
    for values, error, line in (
        ({"vectors": "all.bin"}, InputError, "cooc: all 80 words have vectors in all.bin"),
        ({"vectors": "foreign.bin"}, InputError, "cooc: none of 80 words has a vector"),
        ({"counts": "left"}, InputError, "left: extend needs symmetric counts, not one-sided"),
        ({"counts": "pmi"}, MissingInputError, "pmi: is a PMI matrix, not a co-occurrence matrix;"),
        ({"counts": "none"}, MissingInputError, "none"),
        ({"vectors": "none.bin"}, MissingInputError, "none.bin"),
        ({"vectors": "cut.bin"}, FormatError, "cut.bin"),
        ({"vectors": "odd.bin"}, InputError, "odd.bin: the vector of 'w76' contains NaN or inf"),
        ({"vectors": "zero.bin"}, InputError, "zero.bin: the vectors of all anchors are 0"),
        ({"vectors": "one.bin", "min_pairs": 1}, InputError, "cooc: only "),
        ({"memory": 1e-5}, InputError, "vectors of 4 need 316 KB, more than the memory"),
        ({"out": "vectors.bin"}, OptionError, "vectors.bin: is an input, which the output would"),
        ({"out": "cooc"}, OptionError, "cooc: is a directory, not a vectors file; use .bin"),
        ({"out": "new"}, OptionError, "new: the name of a vectors file needs a suffix; use .bin"),
        ({"out": "new.csv"}, OptionError, "new.csv: unknown suffix '.csv' of a vectors file"),
        ({"min_pairs": 0}, OptionError, "--min-pairs must be at least 1, found 0"),
    ):  # fmt: skip
        with pytest.raises(error) as told:
            extend(**values)
        assert line in str(told.value)
        assert not Path("new.bin").exists()
    edit_card(x_max="many")
    with pytest.raises(FormatError, match=r"vectors\.bin\.json: contains an invalid option"):
        extend()


def test_the_command_prints_how_far_to_trust_what_it_made(folder, capsys):
    assert main(["extend"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("vectors.extended.bin: 4 new words added to 76; cosine of ")
    assert told.err.startswith("wordgeom: note: options from the run card of vectors.bin: ")
    only_new = ["extend", "vectors.bin", "cooc", "--keep-only-new", "-o"]
    assert main([*only_new, "n.vec", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main([*only_new, "o.vec"]) == 0
    assert capsys.readouterr().out.startswith("o.vec: 4 new words solved from 76 known ones; ")
    assert read_vectors("n.vec").words == [f"w{row}" for row in NEW]
    assert main(["extend", "all.bin", "--quiet", "-o", "none.bin"]) == 1
    assert "error: cooc: all 80 words have vectors in all.bin" in capsys.readouterr().err

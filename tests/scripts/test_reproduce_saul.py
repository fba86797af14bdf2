"""scripts/reproduce/saul: chosen words, eq. 13, Isomap's eigenvalues, criteria, a complete run."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import wordgeom
from wordgeom.linalg.device import open_context
from wordgeom.runtime.run_options import UseOptions
from wordgeom.vectors.keyed import Vectors, read_vectors, write_vectors

sys.path.insert(0, str(Path(wordgeom.__file__).parent.parent / "scripts" / "reproduce"))

pytest.importorskip("matplotlib")
pytest.importorskip("gensim")

import saul
import saul_analogies as analogies
import saul_cells as cells
import saul_completion as completion
import saul_data as data
import saul_isomap as isomap
import saul_landmarks as landmarks
import saul_matching as matching


@pytest.fixture
def context():
    with open_context(UseOptions(threads=1, seed=1)) as made:
        yield made


def clusters(n: int, width: int, seed: int):
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((12, width))
    points = centres[rng.integers(0, 12, n)] + 0.4 * rng.standard_normal((n, width))
    return points.astype(np.float32)


def asked_words() -> list[str]:
    """The words of a few questions of each half of the analogies."""
    halves = analogies.halves().values()
    questions = [q for half in halves for q in (*half.questions[:12], *half.questions[-12:])]
    return list(dict.fromkeys(word.lower() for question in questions for word in question))


def test_equation_13_by_brute_force():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 4)).astype(np.float32) * rng.uniform(0.1, 5, (20, 1))
    vectors = Vectors([f"w{k}" for k in range(20)], X.astype(np.float32))
    rows = rng.permuted(np.tile(np.arange(20), (700, 1)), axis=1)[:, :3]
    found = completion.nearest_words(vectors, rows)
    matrix = vectors.matrix.astype(np.float64)
    for (a, b, c), given in zip(rows, found, strict=True):
        t = matrix[c] + matrix[b] - matrix[a]
        cosines = matrix @ t / np.linalg.norm(matrix, axis=1)
        others = [k for k in range(20) if k not in (b, c)]
        assert given == max(others, key=cosines.__getitem__)
    assert (found == rows[:, 0]).any()  # a is not excluded


def test_every_question_is_semantic_or_syntactic():
    halves = analogies.halves()
    sections = {kind: set(half.sections) for kind, half in halves.items()}
    assert len(sections["semantic"]) == 5
    assert len(sections["syntactic"]) == 9
    numbers = {kind: len(half.questions) for kind, half in halves.items()}
    assert numbers["semantic"] + numbers["syntactic"] == numbers["both"] == 19_544


def test_the_words_are_the_most_frequent_those_of_analogies_and_their_neighbours(tmp_path, context):
    asked = asked_words()[:3]
    words = [*(f"w{k}" for k in range(100)), *asked]
    matrix = clusters(len(words), 6, 1)
    write_vectors(tmp_path / "v.bin", words, matrix)
    study = data.word_study(tmp_path / "v.bin", 10, 5, 50, tmp_path, context)
    units = matrix / np.linalg.norm(matrix, axis=1)[:, None]
    expected = {*words[:10], *asked}
    for word in asked:
        row = words.index(word)
        order = np.argsort(-units @ units[row])
        expected |= {words[k] for k in order[order != row][:15]}
    assert set(read_vectors(study.chosen).words) == expected
    assert read_vectors(study.few).words == words[:5]
    assert read_vectors(study.every).words == words[:50]
    assert study.landmarks == 10


def test_eigenvalues_are_those_of_the_centred_gram_matrix():
    points = np.random.default_rng(1).standard_normal((30, 3))
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    centred = points - points.mean(axis=0)
    expected = np.linalg.eigvalsh(centred.T @ centred)[::-1]
    np.testing.assert_allclose(isomap.eigenvalues(apart, 3), expected, rtol=1e-10)
    ring = np.minimum(np.arange(30), 30 - np.arange(30))
    paths = ring[(np.arange(30)[:, None] - np.arange(30)) % 30].astype(np.float64)
    found = isomap.eigenvalues(paths, 12)
    assert (np.diff(np.abs(found)) <= 1e-9).all()
    assert (found < 0).any()  # paths around a ring are no distances of points


def test_isomap_keeps_the_neighbours_of_an_arc(context):
    angles = np.arange(40) * 0.05
    arc = np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)
    vectors = Vectors([f"w{k}" for k in range(40)], arc)
    found = isomap.isomap_facts(vectors, (1, 2), float(np.cos(0.06)), context)
    assert found["jaccard"][1] == 1.0
    assert found["eigenvalues"][0] > 100 * abs(found["eigenvalues"][1])


def test_a_stored_value_belongs_to_its_key(tmp_path):
    path, values = tmp_path / "value.json", iter("abc")

    def value(key):
        return cells.stored(path, {"key": key}, lambda: next(values))

    assert [value(1), value(1), value(2), value(2), value(1)] == ["a", "a", "b", "b", "c"]


def cell(delta, J, other=(0.3, 0.1), **facts):
    rows = {"TSM": {"Δ": delta, "J": J}, "SVD": {"Δ": other[0], "J": other[1]}}
    return cells.Cell(Path(), facts, rows)


def test_the_criteria_are_judged():
    grid = {"words": {16: cell(0.1, 0.5), 32: cell(0.2, 0.05)}}
    assert [claim.met for claim in matching.criteria("3", "4", grid, [16])] == [True, True]
    assert [claim.met for claim in matching.criteria("3", "4", grid, [16, 32])] == [True, False]
    assert landmarks.smaller(grid, {"words": {16: cell(0.2, 0.5)}}).met
    assert not landmarks.smaller(grid, {"words": {16: cell(0.05, 0.5)}}).met
    curve = [(k, value) for k, value in enumerate((1.0, 1.2, 0.5, 0.4))]
    plain = [(k, value) for k, value in enumerate((1.0, 1.2, 0.6, 0.7))]
    found = matching.criteria_8({"words": {"momentum": curve, "none": plain}})
    assert [claim.met for claim in found] == [True, True, False]
    default, better, mixed = cell(0.2, 0.3), cell(0.1, 0.4), cell(0.1, 0.2)
    others = {"off": [default] * 2, "paper": [default] * 2}
    assert matching.constraint_criterion({**others, "reversed": [better, mixed]}).met
    assert not matching.constraint_criterion({**others, "reversed": [better] * 2}).met


def test_the_criteria_of_isomap_are_judged():
    dims = (4, 8, 16)
    values = [5.0, -4.0, *[1.0] * 98, *[-0.5, 0.5] * 50]
    found = {"words": isomap.Paths({4: 0.3, 8: 0.4, 16: 0.2}, values)}
    made = {"words": {d: cell(0.1, 0.25) for d in dims}}
    assert found["words"].first_negative == 2
    assert [claim.met for claim in isomap.criteria_9(found, made, dims)] == [True, True]
    assert [claim.met for claim in isomap.criteria_11(found, dims)] == [True, True]
    rising = {"words": isomap.Paths({4: 0.2, 8: 0.3, 16: 0.4}, values[:1] * 200)}
    assert [claim.met for claim in isomap.criteria_9(rising, made, dims)] == [False, False]
    assert [claim.met for claim in isomap.criteria_11(rising, dims)] == [None, False]


def idx(array, magic):
    head = np.array([magic, *array.shape], ">i4").tobytes()
    return head + array.astype(np.uint8).tobytes()


def test_a_run_prints_every_result_and_makes_none_again(tmp_path, monkeypatch, capsys):
    words = asked_words()
    words += [f"w{k}" for k in range(240 - len(words))]
    write_vectors(tmp_path / "v.bin", words, clusters(240, 40, 1))
    pixels = np.abs(100 * clusters(200, 48, 2)).clip(0, 255).reshape(200, 6, 8)
    (tmp_path / "images").write_bytes(idx(pixels, 0x803))
    (tmp_path / "labels").write_bytes(idx(np.arange(200) % 10, 0x801))
    monkeypatch.setattr(landmarks, "DIMS", (8,))
    monkeypatch.setattr(cells, "SPARSITY", 0.9)  # few items have few pairs
    given = ["--vectors", "v.bin", "--images", "images", "labels", "--out", "out", "--dims", "8,32",
             "--words", "150", "--few", "120", "--threads", "1"]  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["saul", *given])
    saul.main()
    shown = capsys.readouterr().out
    for name in ("Figure 2", "Figures 3 and 4", "Figure 5", "Figures 6 and 7", "Figure 8",
                 "Figure 9", "Figure 11", "Table 1", "The sum constraint"):  # fmt: skip
        assert f"### {name}" in shown
    made = sorted(path.name for path in (tmp_path / "out").glob("*.png"))
    assert made == [f"figure-{name}.png" for name in (
        "11", "2-digits", "2-words", "3-4-few", "3-4", "5", "6-7", "8", "9")]  # fmt: skip
    again = cells.Cells(tmp_path / "out", 1)
    stamps = {path: path.stat().st_mtime_ns for path in again.folder.iterdir()}
    rows = again.cell(again.folder / "words.bin", 32).rows
    assert {*rows["TSM"], *rows["SVD"]} == {"Δ", "J", "lengths", "recall"}
    assert rows["TSM"]["Δ"] < rows["SVD"]["Δ"]
    assert {path: path.stat().st_mtime_ns for path in again.folder.iterdir()} == stamps


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "^error: nothing to do without --vectors and --images"),
        (["--vectors", "none.bin"], "^error: none.bin: no such"),
        (["--vectors", "none.bin", "--dims", "8,x"], "^error: --dims must be numbers"),
    ],
)
def test_invalid_requests_are_an_error_of_one_line(tmp_path, arguments, line, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["saul", *arguments])
    with pytest.raises(SystemExit, match=line + ".*$"):
        saul.main()

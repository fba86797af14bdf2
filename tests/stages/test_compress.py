"""Compress: the command and the function, readers, the choice of a reduction, measures, errors."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from interruptions import kill_after

import wordgeom as wg
from wordgeom.cli import main
from wordgeom.core.errors import InputError, OptionError
from wordgeom.formats.vector_files import read_any_vectors
from wordgeom.linalg.device import open_context
from wordgeom.runtime.run_options import UseOptions
from wordgeom.stages import reducers
from wordgeom.stages.faithfulness import faithfulness
from wordgeom.stages.reducers import REDUCERS
from wordgeom.vectors.keyed import Vectors, read_vectors, write_vectors
from wordgeom.vectors.norms import row_norms
from wordgeom.vectors.options import REDUCERS as NAMES

N, D = 400, 24


@pytest.fixture
def words(tmp_path, monkeypatch):
    """Words in groups of similar ones, of which the first are the longest."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(1)
    centres = draw.standard_normal((20, D))[np.arange(N) % 20]
    spectrum = np.geomspace(1, 0.05, D)
    points = (centres + 0.3 * draw.standard_normal((N, D))) * spectrum
    points *= np.geomspace(10, 0.1, N)[:, None]
    made = Vectors([f"w{k}" for k in range(N)], points.astype(np.float32))
    write_vectors("vectors.bin", made.words, made.matrix)
    pairs = [(a, b) for a in range(0, 60, 3) for b in (a + 20, a + 7)]
    lines = [f"w{a}\tw{b}\t{10 * (a % 20 == b % 20) + a % 3}\n" for a, b in pairs]
    Path("pairs.tsv").write_text("".join(lines))
    return made


def compressed(*options, out="v.npz"):
    assert main(["compress", "vectors.bin", "-o", out, "--quiet", *options]) == 0
    return read_any_vectors(Path(out))


def cosines(one, two):
    products = np.einsum("ij,ij->i", one.astype(np.float64), two.astype(np.float64))
    return products / row_norms(one) / row_norms(two)


def test_every_command_reads_the_file(words, capsys):
    compressed("--dim", "12")
    card = json.loads(Path("v.npz.json").read_text())
    assert card["statistics"]["bytes"] == Path("v.npz").stat().st_size
    assert card["statistics"]["original_bytes"] == Path("vectors.bin").stat().st_size
    for command in (
        ["similar", "v.npz", "w0"], ["analogy", "v.npz", "w0", "w20", "w1"],
        ["eval", "v.npz", "pairs.tsv"], ["eval", "v.npz", "--reference", "vectors.bin"],
        ["convert", "v.npz", "v.bin"], ["convert", "v.npz", "v.txt"], ["info", "v.npz", "--check"],
        ["transform", "v.npz", "--center", "-o", "c.bin"],
        ["compare", "v.npz", "vectors.bin", "--set", "pairs.tsv"],
    ):  # fmt: skip
        assert main(command) == 0, capsys.readouterr().err
    np.testing.assert_array_equal(
        read_vectors("v.bin").matrix, read_any_vectors(Path("v.npz")).matrix
    )
    np.testing.assert_array_equal(wg.load_vectors("v.npz")["w3"], read_vectors("v.bin").matrix[3])


@pytest.mark.parametrize("options", [("--bits", "8"), (), ("--pq", "12"), ("--reducer", "svd")])
def test_norms_stay_and_directions_nearly(words, options):
    made = compressed(*options)
    assert made.words == words.words
    np.testing.assert_allclose(row_norms(made.matrix), row_norms(words.matrix), rtol=2**-10)
    before, after = (each / row_norms(each)[:, None] for each in (words.matrix, made.matrix))
    most = 0.005 if "--bits" in options else 0.1
    assert np.abs(before @ before.T - after @ after.T).mean() < most


def test_bytes_do_not_depend_on_threads(words):
    for options in (
        ("--dim", "9", "--bits", "4"),
        ("--pq", "6"),
        ("--reducer", "tsm", "--dim", "6"),
    ):
        for threads in ("1", "3"):
            compressed(*options, "--threads", threads, "--force", out=f"{threads}.npz")
        assert Path("1.npz").read_bytes() == Path("3.npz").read_bytes()


def test_the_reduction_with_the_best_recall_is_chosen(words):
    assert set(NAMES) == set(REDUCERS)
    compressed("--dim", "4")
    statistics = json.loads(Path("v.npz.json").read_text())["statistics"]
    recall = {name: found[0]["score"] for name, found in statistics["faithfulness"].items()}
    assert set(recall) == set(REDUCERS)
    assert recall[statistics["reducer"]] == max(recall.values())
    for name in REDUCERS:
        alone = compressed("--dim", "4", "--reducer", name, out=f"{name}.npz")
        same = np.array_equal(alone.matrix, read_any_vectors(Path("v.npz")).matrix)
        assert same == (name == statistics["reducer"])


@pytest.mark.parametrize(("matched", "most"), [(N, N), (N // 2, N), (N // 2, 3 * N // 4)])
def test_tsm_is_chosen_where_it_keeps_more_neighbours(tmp_path, monkeypatch, matched, most):
    monkeypatch.setattr(reducers, "MATCHED", matched)  # the others are extended
    monkeypatch.setitem(REDUCERS, "tsm", replace(REDUCERS["tsm"], most=most))
    draw = np.random.default_rng(1)
    centres = draw.standard_normal((40, D))[np.arange(N) % 40]
    points = (centres + 0.5 * draw.standard_normal((N, D))).astype(np.float32)
    write_vectors(tmp_path / "groups.bin", [f"w{k}" for k in range(N)], points)
    made = wg.compress(tmp_path / "groups.bin", dim=6, bits=8, threads=2)
    recall = {name: each[0]["score"] for name, each in made.statistics["faithfulness"].items()}
    assert made.statistics["reducer"] == "tsm"
    assert recall["tsm"] > recall["svd-unit"] + 0.02
    np.testing.assert_allclose(row_norms(made.vectors), row_norms(points), rtol=2**-10)


def test_a_reduction_that_loses_on_drawn_words_is_not_tried_on_all(words, monkeypatch):
    seen = []

    def noise(vectors, K, context):
        seen.append(vectors)
        return np.random.default_rng(0).standard_normal((len(vectors.words), K)).astype(np.float32)

    monkeypatch.setitem(REDUCERS, "tsm", reducers.Reducer(noise, most=N - 50))
    made = wg.compress("vectors.bin", dim=3)
    assert set(made.statistics["faithfulness"]) == {"svd", "svd-unit"}
    assert any(f"on {N - 50} drawn words" in note for note in made.notes)
    [drawn], given = seen, read_any_vectors(Path("vectors.bin"))
    assert len(set(drawn.words)) == len(drawn.words) == N - 50
    rows = [given.words.index(word) for word in drawn.words]
    np.testing.assert_array_equal(drawn.matrix, given.matrix[rows])


def test_a_killed_run_resumes_with_the_same_bytes(words, capsys):
    line = ["compress", "vectors.bin", "--dim", "4", "--checkpoint", "0"]
    assert main([*line, "-o", "whole.npz"]) == 0
    kill_after(3, [*line, "-o", "part.npz"])
    assert not Path("part.npz").exists()
    assert main([*line, "-o", "part.npz"]) == 1
    assert "--resume" in capsys.readouterr().err
    assert main([*line, "-o", "part.npz", "--resume"]) == 0
    assert Path("part.npz").read_bytes() == Path("whole.npz").read_bytes()
    assert not list(Path().glob(".*.state"))


def test_the_measures_are_those_of_the_vectors_that_were_written(words):
    made = compressed("--dim", "6", "--bits", "4", "--reducer", "svd")
    statistics = json.loads(Path("v.npz.json").read_text())["statistics"]
    report = wg.score("v.npz", reference=["vectors.bin"], neighbours=10, metric="cosine")
    found = {score.measure: score.value for score in report.scores}
    for score in statistics["faithfulness"]["svd"]:
        assert score["score"] == pytest.approx(found[score["measure"]], abs=1e-9)
    with open_context(UseOptions(threads=1)) as context:
        scores, tau = faithfulness(made, words, "vectors.bin", context)
    assert scores[0].value == pytest.approx(found["recall at 10"], abs=1e-9)
    assert 0 < tau < 1


def test_sets_are_scored_before_and_after(words, capsys):
    assert main(["compress", "vectors.bin", "--set", "pairs.tsv", "--dim", "5"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"pairs +spearman +[\d.]+ +[\d.]+ +[+-]", out)
    size = Path("vectors.compressed.npz").stat().st_size
    assert f"{size:,} bytes" in out
    model = wg.compress("vectors.bin", sets=["pairs.tsv"], dim=5)
    changes = {row["measure"]: row for row in model.statistics["report"]}
    before, after = (wg.score(path, ["pairs.tsv"]).scores[0].value
                     for path in ("vectors.bin", "vectors.compressed.npz"))  # fmt: skip
    assert changes["spearman"]["before"] == pytest.approx(before)
    assert changes["spearman"]["after"] == pytest.approx(after)
    np.testing.assert_array_equal(
        model.vectors, read_any_vectors(Path("vectors.compressed.npz")).matrix
    )


def test_a_second_run_is_up_to_date(words, capsys):
    compressed("--dim", "5")
    assert main(["compress", "vectors.bin", "-o", "v.npz", "--dim", "5"]) == 0
    assert "v.npz: up to date" in capsys.readouterr().out
    assert main(["compress", "vectors.bin", "-o", "v.npz", "--dim", "6"]) == 1
    assert "--force" in capsys.readouterr().err
    again = wg.compress("vectors.bin", out="v.npz", dim=5)
    np.testing.assert_array_equal(again.vectors, read_any_vectors(Path("v.npz")).matrix)


def test_low_rank_zero_and_few_vectors(words):
    few = Vectors(["a", "b", "c"], np.array([[1, 2, 0], [0, 0, 0], [2, 4, 0]], np.float32))
    write_vectors("few.bin", few.words, few.matrix)
    made = wg.compress("few.bin")
    assert made.vectors.shape == (3, 1)
    assert cosines(made.vectors[::2], made.vectors[[2, 0]]) == pytest.approx([1, 1])
    assert made.statistics["faithfulness"] == {"svd": [], "svd-unit": []}
    assert any(note.startswith("tsm: ") for note in made.notes)
    with pytest.raises(InputError, match=r"tsm: .* needs more than 3 nonzero vectors, found 2"):
        wg.compress("few.bin", reducer="tsm")
    write_vectors("zero.bin", few.words, np.zeros((3, 2), np.float32))
    with pytest.raises(InputError, match="every vector is zero"):
        wg.compress("zero.bin")


def test_errors_are_one_line_and_write_nothing(words, capsys):
    cases = (
        (["--dim", "25"], 2, "exceeds the columns"), (["--pq", "9", "--dim", "8"], 2, "--pq 9"),
        (["--bits", "5"], 2, "4 or 8"), (["--pq", "3", "--bits", "8"], 2, "exclude"),
        (["-o", "out.bin"], 2, ".npz"), (["-o", "no/v.npz"], 1, "no such directory"),
        (["--set", "none.tsv"], 1, "none.tsv"), (["-o", "vectors.npz", "--reducer", "x"], 2, "x"),
    )  # fmt: skip
    before = sorted(Path().iterdir())
    for options, status, say in cases:
        assert main(["compress", "vectors.bin", *options]) == status
        error = capsys.readouterr().err
        assert say in error
    assert sorted(Path().iterdir()) == before
    bad = words.matrix.copy()
    bad[3, 1] = np.nan
    with pytest.raises(InputError, match="w3"):
        wg.compress(wg.Model(Vectors(words.words, bad), [], {}))
    with pytest.raises(OptionError):
        wg.compress("vectors.bin", bits=3)


def test_a_configuration_compresses_what_was_trained(words, capsys):
    Path("steps.toml").write_text(
        '[transform]\nvectors = "vectors.bin"\ncenter = true\nout = "new.bin"\n'
        '[compress]\nvectors = "new.bin"\ndim = 5\nout = "small.npz"\n'
    )
    assert main(["run", "steps.toml"]) == 0, capsys.readouterr().err
    assert read_any_vectors(Path("small.npz")).matrix.shape == (N, 5)

"""`compare`: scores and intervals on common words, training, and failures as rows."""

from __future__ import annotations

import json
import signal
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wordgeom.cli import main
from wordgeom.comparison import compare, entries
from wordgeom.comparison.entries import Candidate, CompareRequest, Training
from wordgeom.core.errors import InputError
from wordgeom.evaluation.answers import Answers, Measure
from wordgeom.evaluation.options import EvalOptions
from wordgeom.peers import cache
from wordgeom.runtime import subprocesses
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors.keyed import Vectors, read_vectors, write_vectors

WORDS = [f"w{k}" for k in range(80)]
LATENT = np.random.default_rng(0).standard_normal((80, 12))


def cosine(a: int, b: int) -> float:
    left, right = LATENT[a], LATENT[b]
    return float(left @ right / np.linalg.norm(left) / np.linalg.norm(right))


def noisy(path: str, noise: float, words: slice = slice(None)) -> None:
    """Write the planted vectors with added noise."""
    drawn = LATENT + noise * np.random.default_rng(1).standard_normal(LATENT.shape)
    write_vectors(path, WORDS[words], drawn[words].astype(np.float32))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with vectors from good to bad, and pairs scored by the true cosines."""
    monkeypatch.chdir(tmp_path)
    for name, noise in (("good", 0.1), ("fair", 1.0), ("bad", 4.0)):
        noisy(f"{name}.bin", noise)
    pairs = np.random.default_rng(2).integers(0, 80, (150, 2)).tolist()
    lines = [f"w{a} w{b} {cosine(a, b):.4f}\n" for a, b in pairs if a != b]
    Path("pairs.txt").write_text("".join(lines))
    return tmp_path


@pytest.fixture
def ask(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run `compare` with the planted set; returns what it printed."""

    def run(*args: str, status: int = 0) -> Any:
        capsys.readouterr()
        assert main(["compare", *args, "--set", "pairs.txt", "--resamples", "200"]) == status
        return capsys.readouterr()

    return run


@pytest.fixture
def counts(folder: Path) -> str:
    """The counts of a text of 400 lines about five topics."""
    draw = np.random.default_rng(3)
    ids = draw.integers(0, 16, (400, 8)) + 16 * draw.integers(0, 5, (400, 1))
    Path("text.txt").write_text("".join(" ".join(f"w{k}" for k in row) + "\n" for row in ids))
    assert main(["build-cooc", "text.txt", "--tokeniser", "whitespace", "--quiet"]) == 0
    return "cooc"


def rows_of(ask: Any, *args: str) -> dict[str, Any]:
    facts = json.loads(ask(*args, "--json").out)
    return {row["name"]: row for row in facts["rows"]}


# ── Evaluation ──────────────────────────────────────────────────────────────────────────────────


def test_the_planted_order_is_found_and_intervals_exclude_0(ask):
    rows = rows_of(ask, "good.bin", "fair.bin", "bad.bin")
    scores = [rows[f"{name}.bin"]["scores"][0]["score"] for name in ("good", "fair", "bad")]
    assert scores == sorted(scores, reverse=True)
    assert rows["good.bin"]["differences"] == []
    for name in ("fair.bin", "bad.bin"):
        less = {each["measure"]: each for each in rows[name]["differences"]}
        assert set(less) == {"spearman", "pearson"}  # every measure, not the main one alone
        assert less["spearman"]["high"] < 0
        own = rows[name]["scores"][0]["score"] - scores[0]
        assert less["spearman"]["score"] == pytest.approx(own, abs=1e-12)
    shown = ask("good.bin", "fair.bin", "--markdown").out.splitlines()
    assert shown[0] == "| name | K | seconds | memory | pairs spearman |"
    assert next(line for line in shown if line.startswith("| fair.bin | -")).endswith("* |")


def test_the_reference_can_be_chosen(ask):
    rows = rows_of(ask, "good.bin", "bad.bin", "--against", "bad.bin")
    assert rows["bad.bin"]["differences"] == []
    assert rows["good.bin"]["differences"][0]["low"] > 0
    err = ask("good.bin", "bad.bin", "--against", "god.bin", status=2).err
    assert "--against must name a row, found 'god.bin'; did you mean good.bin?" in err


def test_the_difference_of_a_file_from_itself_is_0_without_an_interval_or_a_mark(ask):
    rows = rows_of(ask, "fair.bin", "fair.bin", "./fair.bin")
    assert list(rows) == ["fair.bin", "fair.bin (2)", "fair.bin (3)"]
    for name in ("fair.bin (2)", "fair.bin (3)"):
        differences = {(d["score"], d["low"], d["high"]) for d in rows[name]["differences"]}
        assert differences == {(0, None, None)}
    line = ask("fair.bin", "fair.bin").out.split("\n\n")[1].splitlines()[1]
    assert line.endswith("  +0.000")


def test_words_that_are_not_common_are_left_out_and_counted(ask):
    noisy("part.bin", 0.1, slice(None, None, -2))  # half of the words, in another order
    both = ask("good.bin", "part.bin").out
    assert "good.bin: left out: 40 of 80 words (not in all vectors)\n" in both
    assert "part.bin: " not in both.split("evaluated on 40 words")[1]
    rows = rows_of(ask, "good.bin", "part.bin")
    assert rows["part.bin"]["words"] == 40
    assert rows["good.bin"]["scores"] == rows["part.bin"]["scores"]  # of the same vectors
    alone = rows_of(ask, "part.bin")
    assert rows["part.bin"]["scores"][0]["used"] == alone["part.bin"]["scores"][0]["used"]


def test_the_policy_names_what_the_sets_depend_on(ask):
    policy = ask("good.bin", "--against", "good.bin").out.splitlines()[-1]
    assert "; pairs use the first 300,000 words; 200 resamples, seed 1" in policy
    assert "3CosMul" not in policy


def test_qvec_of_different_dimensions_is_noted(ask):
    lines = [f'{w}\t{{"x": {k % 3}, "y": {k % 2}}}' for k, w in enumerate(WORDS)]
    Path("oracle.tsv").write_text("\n".join(lines))
    write_vectors("short.bin", WORDS, LATENT[:, :5].astype(np.float32))
    line = "QVEC grows with K; do not compare rows of different K\n"
    assert line in ask("good.bin", "short.bin", "--set", "oracle.tsv").out
    assert line not in ask("good.bin", "fair.bin", "--set", "oracle.tsv").out
    assert line not in ask("good.bin", "short.bin").out


def test_no_word_in_common_is_one_line(ask):
    write_vectors("other.bin", ["eins", "zwei"], np.eye(2, 12, dtype=np.float32))
    told = ask("good.bin", "other.bin", status=1)
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert "no word in common" in told.err
    assert "; " in told.err


def test_vectors_that_cannot_answer_a_set_are_noted(ask):
    write_vectors("zero.bin", WORDS, np.zeros((80, 3), np.float32))
    rows = rows_of(ask, "good.bin", "zero.bin")
    assert (rows["zero.bin"]["scores"], rows["zero.bin"]["differences"]) == ([], [])
    assert rows["zero.bin"]["dimension"] == 3
    assert "zero.bin: all sets skipped: " in ask("good.bin", "zero.bin").out
    held = ask("good.bin", "zero.bin", "--against", "zero.bin").out
    assert "zero.bin has no scores; differences are relative to good.bin" in held
    assert ask("zero.bin", status=1).out == ""


class WordCount:
    """A set whose score is the number of words, minus 1."""

    name = "counted"

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        given = np.array([vectors.words.index(word) for word in vectors.words])
        measure = Measure("last", lambda given, gold: float(given[-1]))
        return Answers("fake", self.name, (measure,), given, given, given)


def test_common_words_are_in_the_order_of_the_first_file(folder):
    noisy("part.bin", 0.1, slice(None, None, -2))
    request = CompareRequest(files=("good.bin", "part.bin"))
    found = compare.compare(
        request, [WordCount(), WordCount()], EvalOptions(resamples=0), RunOptions()
    )
    assert found.sets == ("counted", "counted (2)")
    assert [one.scores["counted"][0].value for one in found.evaluations] == [39, 39]


# ── Training ─────────────────────────────────────────────────────────────────────────────────


def test_methods_peers_and_files_share_a_table(ask, counts, monkeypatch):
    monkeypatch.setattr(cache, "_cache_directory", lambda: None)
    monkeypatch.setattr(entries, "available_methods", lambda _: ["gbu"])
    args = (counts, "good.bin", "--peers", "lsi", "--dim", "6", "--keep", "kept")
    drawn = find_spec("matplotlib") is not None
    first = rows_of(ask, *args, *(["--picture", "q.svg"] if drawn else []))
    assert {name: row["kind"] for name, row in first.items()} == {
        "good.bin": "file", "gbu": "method", "lsi": "peer",
    }  # fmt: skip
    for name in ("gbu", "lsi"):
        row = first[name]
        assert row["dimension"] == read_vectors(f"kept/{name}.bin").matrix.shape[1] <= 6
        assert row["seconds"] > 0.1  # Python's start is in it
        assert row["peak_bytes"] is None or row["peak_bytes"] > 10**7
    assert first["good.bin"]["seconds"] is None
    assert Path("q.svg").exists() == drawn
    err = ask(*args, status=1).err
    assert "kept: exists and is not an empty directory" in err
    kept = rows_of(ask, "kept/gbu.bin", "kept/lsi.bin")
    assert kept["gbu.bin"]["scores"] == first["gbu"]["scores"]
    assert 0 < kept["gbu.bin"]["seconds"] < first["gbu"]["seconds"]  # without the start
    assert kept["lsi.bin"]["seconds"] == first["lsi"]["seconds"]


def test_a_method_that_fails_is_a_row(ask, counts):
    rows = rows_of(ask, counts, "good.bin", "--methods", "gbu", "--dim", "5000")
    assert "\n" not in rows["gbu"]["error"]
    assert "5000" in rows["gbu"]["error"].replace(",", "")
    assert (rows["gbu"]["scores"], rows["gbu"]["seconds"]) == ([], None)
    assert rows["good.bin"]["scores"][0]["score"] > 0.9


def test_if_all_fail_there_is_one_line(ask, counts, monkeypatch):
    def fail(module: str, arguments: list[str]) -> subprocesses.Finished:
        raise InputError(f"{arguments[3]} cannot")

    monkeypatch.setattr(entries, "run_module", fail)
    told = ask("--methods", "gbu", status=1)
    assert told.out == ""
    assert told.err.splitlines()[-1] == (
        "wordgeom: error: all training runs failed: gbu: gbu cannot"
    )


def test_methods_get_the_given_options(ask, counts, monkeypatch):
    asked: list[list[str]] = []

    def run(module: str, arguments: list[str]) -> subprocesses.Finished:
        asked.append(arguments)
        noisy(arguments[arguments.index("-o") + 1], 0.5)
        return subprocesses.Finished("", 2.5)

    monkeypatch.setattr(entries, "run_module", run)
    rows = rows_of(ask, "--methods", "gbu,gbu", "--neg", "5", "--seed", "9", "--threads", "1")
    assert (list(rows), rows["gbu"]["seconds"]) == (["gbu"], 2.5)
    (arguments,) = asked
    assert arguments[:6] == ["train", "cooc", "--method", "gbu", "--dim", "100"]
    given = dict(zip(arguments[-6::2], arguments[-5::2], strict=True))
    assert given == {"--neg": "5.0", "--seed": "9", "--threads": "1"}


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({}, []),
        ({"weighted": False}, ["--no-weighted"]),
        ({"as_published": True}, ["--as-published"]),
        ({"neg": 1.0}, ["--neg", "1.0"]),
    ],
)
def test_switches_are_passed_as_flags(tmp_path, monkeypatch, values, wanted):
    asked: list[list[str]] = []

    def run(module: str, arguments: list[str]) -> subprocesses.Finished:
        asked.append(arguments)
        return subprocesses.Finished("", 2.5)

    monkeypatch.setattr(entries, "run_module", run)
    request = CompareRequest(matrix="cooc", methods=("gbu",), dim=5, weighting=values)
    list(entries.from_methods(Training(request, RunOptions(), tmp_path)))
    (arguments,) = asked
    assert arguments[arguments.index("--quiet") + 1 :] == wanted


def test_a_subprocess_ends_with_its_caller():
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    began = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            subprocesses.run_module("timeit", ["-n1", "-r1", "import time; time.sleep(30)"])
    finally:
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - began < 5


def test_a_failed_subprocess_reports_its_last_line():
    with pytest.raises(InputError) as caught:
        subprocesses.run_module("timeit", ["-n1", "-r1", "raise ValueError('no')"])
    assert str(caught.value) == "ValueError: no"
    with pytest.raises(InputError) as own:
        subprocesses.run_module("wordgeom", ["similar", "nowhere.bin", "word"])
    assert str(own.value).startswith("nowhere.bin: no such file")


# ── Bad input ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("args", "status", "say"),
    [
        ((), 1, ("cooc: nothing to compare", "build-cooc")),
        (("good.bin", "no.bin"), 1, ("no.bin: no such file or directory",)),
        (("pairs.txt",), 1, ("pairs.txt", )),
        (("good.bin", "--methods", "gbx"), 2, ("unknown method 'gbx'", "gbu")),
        (("good.bin", "--peers", "glove"), 2, ("unknown peer 'glove'", "sgns")),
        (("good.bin", "--methods", "gbu"), 1, ("cooc",)),
        (("good.bin", "--json", "--markdown"), 2, ("--json and --markdown",)),
        (("good.bin", "--picture", "q.jpg"), 2, ("q.jpg", ".svg")),
        (("good.bin", "--dim", "0"), 2, ("--dim",)),
    ],
)  # fmt: skip
def test_invalid_requests_are_one_line_errors(ask, args, status, say):
    told = ask(*args, status=status)
    assert (told.out, told.err.count("\n")) == ("", 1)
    for part in say:
        assert part in told.err


def test_two_matrices_are_rejected(ask, counts):
    Path("more").mkdir()
    err = ask("cooc", "more", status=2).err
    assert "compare takes one matrix, found cooc and more" in err


def test_files_with_the_same_name_are_numbered_uniquely():
    names = CompareRequest(files=("a/v", "b/v", "v (2)", "c/v")).names()
    assert len(set(names)) == 4
    assert names[:2] == ["v", "v (2)"]


def test_a_candidate_has_the_cost_of_its_run_card(folder):
    assert entries.from_files(["good.bin"]) == [Candidate("good.bin", "file", Path("good.bin"))]

"""`compare`: scores and intervals on common words, training, and failures as rows."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_process import run_here

from wordgeom.cli import compare_tables, main
from wordgeom.comparison import compare, entries
from wordgeom.comparison.counting import Counts
from wordgeom.comparison.entries import Candidate, CompareRequest, Training
from wordgeom.core.errors import InputError, StoppedError
from wordgeom.evaluation.answers import Answers, Measure, Score
from wordgeom.evaluation.options import EvalOptions
from wordgeom.matrices.cooccurrence import COOC, DTM
from wordgeom.matrices.count_request import made_options
from wordgeom.matrices.opening import open_any
from wordgeom.peers import cache
from wordgeom.runtime import subprocesses
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import RunOptions
from wordgeom.storage.store import Store
from wordgeom.vectors.keyed import Vectors, read_vectors, write_vectors
from wordgeom.vectors.run_card import add_card

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
    Path("prose.txt").write_text("It was a dark and stormy night.\n")
    Path("empty").mkdir()
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
    monkeypatch.setattr(cache, "run_module", run_here)  # test_peers has it in its own process
    monkeypatch.setattr(entries, "available_methods", lambda _: ["gbu"])
    args = (counts, "good.bin", "--peers", "lsi", "--dim", "6", "--keep", "kept")
    drawn = find_spec("matplotlib") is not None
    told = ask(*args, "--json", *(["--picture", "q.svg"] if drawn else []))
    first = {row["name"]: row for row in json.loads(told.out)["rows"]}
    assert ("wordgeom: note: q.svg: quality against seconds\n" in told.err) == drawn
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
    request = CompareRequest(methods=("gbu",), dim=5, weighting=values)
    counts = Counts({COOC: Path("cooc")})
    list(entries.from_methods(Training(request, RunOptions(), tmp_path, counts)))
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
        (("pairs.txt",), 2, ("pairs.txt: is a test set of word pairs", "--set")),
        (("good.bin", "prose.txt"), 2, ("prose.txt: is neither counts nor vectors", "--methods")),
        (("prose.txt", "--methods", "dlsa"), 2, ("dlsa makes no vectors",)),
        (("prose.txt", "--corpus", "prose.txt"), 2, ("a text or counts",)),
        (("-", "--methods", "gbu"), 2, ("compare needs files, found -",)),
        (("good.bin", "--window", "3"), 2, ("--window is for counting a text",)),
        (("empty",), 1, ("empty: the directory contains no files",)),
        (("none/*.txt",), 1, ("none/*.txt: no file matches",)),
        (("good.bin", "--methods", "gbx"), 2, ("unknown method 'gbx'", "gbu")),
        (("good.bin", "--peers", "glove"), 2, ("unknown peer 'glove'", "sgns")),
        (("good.bin", "--methods", "gbu"), 1, ("cooc",)),
        (("prose.txt", "--methods", "none"), 2, ("nothing to compare: neither", "--peers")),
        (("good.bin", "--json", "--markdown"), 2, ("--json and --markdown",)),
        (("good.bin", "--picture", "q.jpg"), 2, ("q.jpg", ".svg")),
        (("good.bin", "--dim", "0"), 2, ("--dim must be at least 1",)),
        (("good.bin", "--dim", "50"), 2, ("--dim has no effect", "add --methods or --peers")),
        (("prose.txt", "--peer-epochs", "2"), 2, ("--peer-epochs has no effect", "add --peers")),
    ],
)  # fmt: skip
def test_invalid_requests_are_one_line_errors(ask, args, status, say):
    told = ask(*args, status=status)
    assert (told.out, told.err.count("\n")) == ("", 1)
    for part in say:
        assert part in told.err


def test_counts_without_methods_or_peers_are_nothing_to_compare(ask, counts):
    told = ask(counts, "--methods", "none", "--picture", "q.svg", status=2)
    assert "neither a method nor a peer is to be trained; choose --methods or --peers" in told.err


def test_two_matrices_are_rejected(ask, counts):
    shutil.copytree("cooc", "more")
    err = ask("cooc", "more", status=2).err
    assert "compare takes one matrix of each kind, found cooc and more" in err


def test_files_with_the_same_name_are_numbered_uniquely():
    names = CompareRequest(files=("a/v", "b/v", "v (2)", "c/v")).names()
    assert len(set(names)) == 4
    assert names[:2] == ["v", "v (2)"]


def test_a_candidate_has_the_cost_of_its_run_card(folder):
    assert entries.from_files(["good.bin"]) == [Candidate("good.bin", "file", Path("good.bin"))]
    for command, note in (("train", "seconds"), ("subwords", "seconds of subwords alone,")):
        made = {"request": {"command": command}, "seconds": 1.5, "peak_bytes": 7}
        add_card(Path("good.bin"), made)
        assert entries.from_files(["good.bin"]) == [
            Candidate("good.bin", "file", Path("good.bin"), 1.5, 7, (f"{note} from its run card",))
        ]


# ── A text ───────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def text(folder: Path) -> str:
    """A text of 400 lines about five topics."""
    draw = np.random.default_rng(3)
    ids = draw.integers(0, 16, (400, 8)) + 16 * draw.integers(0, 5, (400, 1))
    lines = (" ".join(f"w{k}" for k in row) + "\n" for row in ids)
    Path("text.txt").write_text("".join(lines))
    return "text.txt"


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The arguments of the processes that would train."""
    asked: list[list[str]] = []

    def run(module: str, arguments: list[str], *_: object) -> subprocesses.Finished:
        asked.append(arguments)
        if module == "wordgeom.peers":
            noisy(arguments[1], 0.5)
            facts = json.dumps({"tokens": 7, "peak_bytes": 8, "notes": []})
            return subprocesses.Finished(facts, 9.0)
        noisy(arguments[arguments.index("-o") + 1], 0.5)
        return subprocesses.Finished("", 2.5)

    monkeypatch.setattr(entries, "run_module", run)
    monkeypatch.setattr(cache, "run_module", run)
    monkeypatch.setenv("WORDGEOM_CACHE", str(Path("cache").resolve()))
    return asked


def kinds_read(asked: list[list[str]]) -> dict[str, str]:
    return {each[3]: Store.open(each[1]).kind for each in asked if each[0] == "train"}


def test_a_text_is_counted_as_each_method_needs_it(ask, text, trained):
    args = ("--methods", "gbu,pmi-eigs,lsa", "--keep", "kept", "--min-count", "2", "--window", "3")
    facts = json.loads(ask(text, *args, "--tokeniser", "whitespace", "--json").out)
    assert [row["name"] for row in facts["rows"]] == ["gbu", "pmi-eigs", "lsa"]
    assert set(facts["counting_seconds"]) == {"cooc", "dtm"}
    assert kinds_read(trained) == {"gbu": COOC, "pmi-eigs": COOC, "lsa": DTM}
    made = made_options(Store.open("kept/cooc").request)
    assert (made["window"], made["min_count"], made["tokeniser"]) == (3, 2, "whitespace")
    words = [open_any(f"kept/{name}").vocabulary.words for name in ("cooc", "dtm")]
    assert words[0] == words[1]
    assert any("cooc: 80 words" in note and "no row includes" in note for note in facts["notes"])


@pytest.mark.parametrize("force", [(), ("--force",)], ids=["", "force"])
def test_a_file_is_no_directory_for_vectors(ask, text, trained, force):
    Path("kept").write_text("mine\n")
    err = ask(text, "--methods", "gbu", "--keep", "kept", *force, status=2).err
    assert err == "wordgeom: error: kept: is not a directory; choose another with --keep\n"
    assert not trained


@pytest.mark.parametrize(("methods", "wanted"), [("gbu", {"cooc"}), ("lsa", {"dtm"})])
def test_only_what_is_needed_is_counted(ask, text, trained, methods, wanted):
    facts = json.loads(ask(text, "--methods", methods, "--json").out)
    assert set(facts["counting_seconds"]) == wanted
    assert not Path(trained[0][1]).exists()  # the counts were temporary


def test_peers_of_a_text_get_its_window_words_and_the_epochs(ask, text, trained):
    rows = rows_of(ask, text, "--methods", "lsa", "--peers", "cbow", "--window", "7",
                   "--peer-epochs", "2")  # fmt: skip
    assert list(rows) == ["lsa", "cbow"]
    request = json.loads(trained[-1][0])
    assert (request["options"]["window"], request["options"]["epochs"]) == (7, 2)
    assert request["text"]["names"] == [str(Path(text).resolve())]
    again = rows_of(ask, text, "--methods", "lsa", "--peers", "cbow", "--window", "7",
                    "--peer-epochs", "2")  # fmt: skip
    assert (rows["cbow"]["cached"], again["cbow"]["cached"]) == (False, True)
    assert any("those of an earlier run" in note for note in again["cbow"]["notes"])
    fresh = rows_of(ask, text, "--methods", "lsa", "--peers", "cbow", "--window", "7",
                    "--peer-epochs", "2", "--no-cache")  # fmt: skip
    assert not fresh["cbow"]["cached"]


def test_sets_of_another_language_are_refused_before_the_training(folder, text, trained, capsys):
    assert main(["compare", text, "--methods", "gbu"]) == 1
    assert trained == []
    assert capsys.readouterr().err.splitlines()[-1] == (
        "wordgeom: error: too few items of wordsim353, simlex999 or questions-words have words "
        "that were counted, so there is nothing to score; name sets in the language of the text "
        "with --set"
    )


def test_directories_patterns_and_several_files_are_texts(ask, text, trained):
    Path("texts").mkdir()
    shutil.copy(text, "texts/a.txt")
    Path("texts/b.txt").write_bytes(Path(text).read_bytes().replace(b"\n", b"\r\n"))
    for names in (("texts",), ("texts/*.txt",), ("texts/a.txt", "texts/b.txt")):
        notes = json.loads(ask(*names, "--methods", "gbu", "--json").out)["notes"]
        assert any("6,400 tokens" in note for note in notes)


def test_a_text_and_vectors_share_a_table(ask, text, trained):
    rows = rows_of(ask, text, "good.bin", "--methods", "gbu")
    assert list(rows) == ["good.bin", "gbu"]


def test_both_kinds_of_counts_can_be_given(ask, counts, trained):
    assert main(["build-dtm", "text.txt", "--tokeniser", "whitespace", "--quiet"]) == 0
    rows = rows_of(ask, "cooc", "dtm", "--methods", "lsa,gbu")
    assert list(rows) == ["lsa", "gbu"]
    assert kinds_read(trained) == {"gbu": COOC, "lsa": DTM}
    every = rows_of(ask, "dtm", "cooc")
    assert {"gbu", "pmi-eigs", "lsa"} <= set(every)
    err = ask("cooc", "--methods", "lsa", status=1).err
    assert "cooc: is a co-occurrence matrix; the method needs a document-term matrix" in err


def test_an_option_of_some_methods_is_passed_to_these_and_noted(ask, text, trained):
    facts = json.loads(ask(text, "--methods", "gbu,lsa", "--neg", "5", "--json").out)
    given = {each[3]: "--neg" in each for each in trained}
    assert given == {"gbu": True, "lsa": False}
    assert "--neg applies to gbu only" in facts["notes"]
    err = ask(text, "--methods", "lsa", "--neg", "5", status=2).err
    assert "--neg is not an option of lsa" in err


def test_an_interrupted_count_leaves_nothing(folder, text, monkeypatch, capsys):
    def interrupt(*_: object, **__: object) -> None:
        raise StoppedError(saved=True)

    monkeypatch.setattr("wordgeom.comparison.counting.run_stage", interrupt)
    args = ["compare", text, "--methods", "gbu", "--set", "pairs.txt", "--tmp-dir", "empty"]
    assert main(args) == 130
    assert capsys.readouterr().err.splitlines()[-1] == (
        "wordgeom: interrupted; existing output is unchanged"
    )
    assert not list(Path("empty").iterdir())


def test_an_interrupted_peer_ends_with_its_caller_and_leaves_nothing(folder, text):
    """Send Ctrl-C to the process group, as a terminal does, while gensim trains."""
    here = {**os.environ, "WORDGEOM_CACHE": "cache", "TMPDIR": "empty"}
    options = ["--peers", "sgns", "--peer-epochs", "100000", "--threads", "1"]
    options += ["--set", "pairs.txt"]
    command = [sys.executable, "-m", "wordgeom", "compare", text, "--methods", "none", *options]
    with subprocess.Popen(
        command, env=here, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        assert any("training sgns" in line for line in process.stderr)
        time.sleep(2)  # gensim is imported, and trains
        began = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        said = process.stderr.read()
        assert process.wait() == 130
    assert time.monotonic() - began < 5
    assert said == "wordgeom: interrupted; existing output is unchanged\n"
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert not [p for p in Path("empty").iterdir() if p.name.startswith("wordgeom")]
    assert not list(Path("cache/peers").iterdir())


# ── What readers must know ───────────────────────────────────────────────────────────────────


def test_files_that_are_alike_are_told_apart(ask):
    for name in ("a", "b"):
        Path(name).mkdir()
        noisy(f"{name}/v.bin", 0.5)
    notes = json.loads(ask("a/v.bin", "b/v.bin", "./a/v.bin", "--json").out)["notes"]
    assert "v.bin (2) is b/v.bin, another file" in notes
    assert "v.bin (3) is a/v.bin, the same file as a/v.bin" in notes


def test_zero_vectors_are_named(ask):
    rows = LATENT.astype(np.float32)
    rows[[3, 5, 8, 9]] = 0
    write_vectors("some.bin", WORDS, rows)
    notes = json.loads(ask("some.bin", "good.bin", "--json").out)["notes"]
    assert "some.bin: 4 zero vectors: w3, w5, w8, w9" in notes


def test_a_set_with_few_common_pairs_has_no_score(ask):
    noisy("few.bin", 0.1, slice(12))
    lines = Path("pairs.txt").read_text().splitlines()
    Path("more.txt").write_text("".join(f"w{k} w{k + 1} {k % 7}\n" for k in range(79)))
    Path("three.txt").write_text("w0 w1 3\nw1 w2 1\nw2 w3 2\nw2 w3 2\n")
    known = sum(all(int(w[1:]) < 12 for w in line.split()[:2]) for line in lines)
    assert 0 < known < 10
    found = json.loads(ask("good.bin", "few.bin", "--set", "more.txt", "--json").out)
    for row in found["rows"]:
        assert {score["set"] for score in row["scores"]} == {"more"}
    say = f"pairs skipped: {known} of "
    assert sum(say in note for note in found["notes"]) == 2
    whole = rows_of(ask, "few.bin", "--set", "three.txt")["few.bin"]["scores"]
    assert [score["used"] for score in whole] == [4, 4]  # all of a small set
    err = ask("few.bin", status=1).err
    assert f"pairs: {known} of " in err
    assert err.endswith("can be answered; a score needs 10\n")


@pytest.mark.parametrize("suffix", ["npy", "npz", "txt", "vec", "txt.gz"])
def test_every_format_of_vectors_is_read(ask, suffix):
    assert main(["convert", "good.bin", f"same.{suffix}", "--quiet"]) == 0
    rows = rows_of(ask, "good.bin", f"same.{suffix}")
    first, second = (row["scores"][0]["score"] for row in rows.values())
    assert second == pytest.approx(first, abs=1e-5)


def test_vectors_without_a_header_or_suffix_are_not_taken_for_a_text(ask):
    main(["convert", "good.bin", "glove.txt", "--no-header", "--quiet"])
    shutil.copy("good.bin", "model")
    assert list(rows_of(ask, "good.bin", "glove.txt", "model")) == [
        "good.bin",
        "glove.txt",
        "model",
    ]


def test_a_method_without_its_package_is_left_out_unless_named(monkeypatch):
    assert entries.available_methods([COOC]).count("sgd") == (find_spec("torch") is not None)
    monkeypatch.setattr(entries, "find_spec", lambda _: None)
    found = entries.available_methods([COOC])
    assert "sgd" not in found
    assert {"gbu", "pmi-eigs"} <= set(found)


@pytest.mark.parametrize(
    ("value", "low", "high", "cell"),
    [
        (-0.019, -0.037, -0.0003, "-0.019 [-0.037, -0.0003]"),
        (0.019, 2e-7, 0.037, "+0.019 [+2e-07, +0.037]"),
        (-0.0004, -0.037, 0.0002, "0.000 [-0.037, +0.000]"),
        (-0.0004, -0.0005, -0.0002, "-0.0004 [-0.001, -0.0002]"),
        (-0.019, -0.037, 0.0, "-0.019 [-0.037, +0.000]"),
    ],
)
def test_a_difference_that_excludes_0_is_seen_to_exclude_it(value, low, high, cell):
    score = Score("similarity", "pairs", "spearman", value, low, high, 20, 20)
    assert compare_tables._cell(score, "+") == cell

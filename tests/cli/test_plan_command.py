"""`wordgeom plan`: predictions near what the run takes, and what does not fit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from in_process import run_here

from wordgeom.cli.job_costs import predicted_costs
from wordgeom.cli.pipeline import read_steps
from wordgeom.core.errors import InputError
from wordgeom.planning.pilot import read_cost

CONFIG = """
[build-cooc]
corpus = "corpus.txt"
min-count = 3

[build-dtm]
corpus = "corpus.txt"

[build-pmi]
counts = "cooc"

[[train]]
matrix = "cooc"
method = "pmi-eigs"
dim = 8
out = "v.bin"

[[train]]
matrix = "other"
method = "gbu"
dim = 8
out = "w.bin"

[embed]
texts = "corpus.txt"
vectors = "v.bin"
weights = "mean"

[eval]
sets = ["pairs.txt"]
"""


_MADE = {"build-pmi": "made", "merge": "made", "embed": "made.npy"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A text by Zipf's law; pilots run in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("wordgeom.planning.pilot.run_module", run_here)
    draw = np.random.default_rng(2).zipf(1.4, (20_000, 12)) % 100_000
    Path("corpus.txt").write_text("".join(" ".join(f"w{k}" for k in row) + "\n" for row in draw))
    return tmp_path


def test_a_plan_is_near_what_the_run_takes_and_leaves_nothing(folder, ask):
    Path("x.toml").write_text(CONFIG)
    Path("pairs.txt").write_text("".join(f"w{k}\tw{k + 1}\t{k % 7}\n" for k in range(1, 40)))
    ask("build-cooc", "corpus.txt", "-o", "other")
    before = sorted(folder.rglob("*"))
    answer = ask("plan", "x.toml", "--json", "--tmp-dir", str(folder))
    assert (answer.status, answer.err) == (0, "")
    assert sorted(folder.rglob("*")) == before
    plan = json.loads(answer.out)
    assert plan["not_planned"] == ["x.toml [eval]"]  # two steps of one table
    assert ask("run", "x.toml", "--quiet").status == 0
    assert [one["out"] for one in plan["commands"]] == [
        "cooc", "dtm", "pmi", "v.bin", "w.bin", "texts.npy",
    ]  # fmt: skip
    for one in plan["commands"]:
        made = read_cost(Path(one["out"]))
        for part in ("words", "entries", "disk"):
            value = getattr(made, part)
            assert value / 1.25 <= one[part] <= 1.25 * value, (one["out"], part)
        assert one["memory"] >= made.memory / 1.5
    rows = json.loads(answer.out)["commands"][1]["rows"]
    assert rows == pytest.approx(20_000, rel=0.05)


def test_what_does_not_fit_is_said_with_the_option_to_change(folder, ask, monkeypatch):
    config = '[build-cooc]\ncorpus = "corpus.txt"\nmemory = 0.3\n'
    later = '[train]\nmatrix = "cooc"\nmethod = "pmi-eigs"\ndim = 8\nmemory = 0.3\n'
    Path("x.toml").write_text(config + later)
    monkeypatch.setattr("wordgeom.cli.pilots.memory_limit", lambda run: int(run.memory * 1e8))
    answer = ask("plan", "x.toml")
    assert answer.status == 3
    (line,) = [line for line in answer.out.splitlines() if line.startswith("does not fit")]
    assert "train vectors.bin needs" in line
    assert "--max-vocab" in line


def test_what_samples_show_not_to_fit_is_planned_without_the_limit(folder, ask, monkeypatch):
    ask("build-cooc", "corpus.txt")
    train = ["train", "cooc", "--method", "pmi-eigs", "--dim", "8"]
    whole = json.loads(ask("plan", "--json", *train).out)["commands"][0]
    run, limits = run_here, []

    def exceeded(module, arguments):
        limits.append("memory" in Path(arguments[-1]).read_text())
        if limits[-1]:
            raise InputError("the matrix needs 1 GB, more than the memory limit of 300 MB")
        return run(module, arguments)

    monkeypatch.setattr("wordgeom.planning.pilot.run_module", exceeded)
    monkeypatch.setattr("wordgeom.cli.pilots.memory_limit", lambda run: int(run.memory * 1e8))
    answer = ask("plan", *train, "--memory", "0.3")
    assert answer.status == 3, answer
    assert "does not fit: train vectors.bin needs" in answer.out
    assert limits == [True] * 4 + [False] * 4
    found = json.loads(ask("plan", "--json", *train, "--memory", "0.3").out)["commands"][0]
    assert found["disk"] == whole["disk"]


@pytest.mark.parametrize(
    "line", [("plan", "x.toml", "--json"), ("jobs", "x.toml")], ids=["plan", "jobs"]
)
def test_pilot_runs_are_shown_on_a_terminal_alone(folder, ask, monkeypatch, line):
    Path("x.toml").write_text('[build-cooc]\ncorpus = "corpus.txt"\n[build-pmi]\n')
    quiet = ask(*line)
    assert (quiet.status, quiet.err) == (0, "")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    shown = ask(*line)
    assert "pilot runs:   0%" in shown.err
    assert "0/8" in shown.err  # four of each command
    if line[0] == "jobs":  # a plan says how long its pilots took
        assert len(shown.out.splitlines()) == len(quiet.out.splitlines())


def test_one_command_is_planned_with_its_options(folder, ask):
    found = []
    for window in ("2", "9"):
        answer = ask("plan", "--json", "build-cooc", "corpus.txt", "--window", window)
        assert answer.status == 0
        found += json.loads(answer.out)["commands"]
    narrow, wide = found
    assert narrow["words"] == wide["words"]
    assert wide["entries"] > 1.5 * narrow["entries"]


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("build-pmi", ("cooc",)),
        ("train", ("dtm", "--method", "lsa", "--dim", "6")),
        ("train", ("cooc", "--method", "gbu", "--dim", "8", "--subwords", "2-4")),
        ("transform", ("v.bin", "--center")),
        ("subwords", ("v.bin", "--subwords", "2-4", "--min-words", "2")),
        ("train", ("v.bin", "--method", "mde", "--dim", "2", "--seed", "3")),
        ("merge", ("cooc", "half/cooc")),
        ("impute", ("--domain", "domain.csv", "--vectors", "v.bin", "--lower")),
        ("extend", ("part.bin", "cooc")),
        ("embed", ("corpus.txt", "--vectors", "v.bin", "--counts", "cooc")),
    ],
)
def test_a_command_is_planned_from_parts_of_its_stored_input(folder, ask, command, options):
    ask("build-cooc", "corpus.txt", "--save-vocab", "words")
    Path("half.txt").write_text(Path("corpus.txt").read_text()[:400_000])
    Path("half").mkdir()
    ask("build-cooc", "half.txt", "-o", "half/cooc", "--read-vocab", "words")
    ask("build-dtm", "corpus.txt")
    ask("train", "cooc", "--method", "pmi-eigs", "--dim", "8", "-o", "v.bin")
    ask("train", "cooc", "--method", "gbu", "--dim", "8", "-o", "whole.bin")
    ask("convert", "whole.bin", "part.bin", "--limit", "400")
    draw = np.random.default_rng(4).standard_normal((2_000, 6)).round(3).tolist()
    lines = [f"W{k}," + ",".join(map(str, row)) for k, row in enumerate(draw)]
    Path("domain.csv").write_text("\n".join(["name,a,b,c,d,e,f", *lines, ""]))
    before = sorted(folder.rglob("*"))
    answer = ask("plan", "--json", "--tmp-dir", str(folder), command, *options)
    assert (answer.status, answer.err) == (0, ""), answer
    assert sorted(folder.rglob("*")) == before
    (planned,) = json.loads(answer.out)["commands"]
    made = Path(_MADE.get(command, "made.bin"))
    assert ask(command, *options, "-o", str(made), "--quiet").status == 0
    cost = read_cost(made)
    assert cost.disk / 1.25 <= planned["disk"] <= 1.25 * cost.disk
    assert cost.ngrams == sum(part.stat().st_size for part in Path("made.subwords").glob("*.1.*"))
    assert cost.ngrams / 1.5 <= planned["ngrams"] <= 1.5 * cost.ngrams
    assert cost.entries / 1.25 <= planned["entries"] <= 1.25 * cost.entries
    assert planned["memory"] >= cost.memory / 1.5


@pytest.mark.parametrize("command", ["build-cooc", "build-dtm"])
def test_counts_that_need_wider_numbers_than_those_of_samples_are_planned(folder, ask, command):
    rng = np.random.default_rng(7)  # 2 · most · Σ weights crosses 2³² beyond the largest sample
    ids = np.where(rng.random((40_000, 12)) < 0.8, 0, rng.zipf(1.4, (40_000, 12)) % 3_000)
    Path("dull.txt").write_text("".join(" ".join(f"w{k}" for k in row) + "\n" for row in ids))
    plan = json.loads(ask("plan", "--json", command, "dull.txt").out)["commands"][0]
    assert ask(command, "dull.txt", "-o", "made").status == 0
    cost = read_cost(Path("made"))
    assert plan["entry_bytes"] == cost.entry_bytes == (12 if command == "build-cooc" else 8)
    assert cost.disk / 1.25 <= plan["disk"] <= 1.25 * cost.disk


@pytest.mark.parametrize("stored", [True, False], ids=["a stored model", "a model of the plan"])
def test_a_test_of_change_is_planned_without_an_output(folder, ask, stored):
    rng = np.random.default_rng(5)
    lines = []
    for k in range(1_500):  # each in one of four topics, which have words of their own
        ids = rng.zipf(1.3, 60) % 80 * 4 + np.where(rng.random(60) < 0.8, k % 4, rng.integers(4))
        lines.append(f"{1900 + k % 20}\t{' '.join(f'w{j}' for j in ids.tolist())}\n")
    Path("dated.tsv").write_text("".join(lines))
    Path("x.toml").write_text(
        """
        [[build-dtm]]
        corpus = "dated.tsv"
        text-field = 2
        time-field = 1
        [train]
        method = "dlsa"
        dim = 2
        [drift]
        permutations = 19
        words = ["w1"]
        """
    )
    test = ["drift", "model", "--permutations", "19", "w1"]
    if stored:
        assert ask("run", "x.toml", "--quiet").status == 0
        ask("build-dtm", "dated.tsv", "--text-field", "2", "--time-field", "1", "--passages", "10",
            "-o", "passages")  # fmt: skip
        test += ["--counts", "passages"]
    before = sorted(folder.rglob("*"))
    answer = ask("plan", "--json", "--tmp-dir", str(folder), *(test if stored else ["x.toml"]))
    assert (answer.status, answer.err) == (0, ""), answer
    assert sorted(folder.rglob("*")) == before
    *_, planned = json.loads(answer.out)["commands"]
    assert (planned["command"], planned["out"], planned["disk"]) == ("drift", None, 0)
    if stored:
        failed = ask("plan", "drift", "model", "--rank", "300")
        assert failed.status == 1
        assert "drift: a part of its words cannot be tested: " in failed.err
        assert "; run the command itself" in failed.err
    assert planned["memory"] > 1e8
    assert planned["seconds"] > 0
    if not stored:
        costs, problem = predicted_costs(read_steps("x.toml"), None)
        assert problem == ""
        assert costs["x.toml [drift]"].memory > 1e8


def test_shards_are_planned_with_their_merge(folder, ask):
    answer = ask("plan", "--json", "--shards", "2", "build-cooc", "corpus.txt")
    assert answer.status == 0, answer
    each, merged = json.loads(answer.out)["commands"]
    assert (each["runs"], merged["runs"], merged["command"]) == (2, 1, "merge")
    ask("build-cooc", "corpus.txt", "--shard", "1/2")
    ask("build-cooc", "corpus.txt", "--shard", "2/2")
    ask("merge", "cooc.shard-1-of-2", "cooc.shard-2-of-2")
    for one, path in ((each, "cooc.shard-1-of-2"), (merged, "cooc")):
        made = read_cost(Path(path))
        for part in ("words", "entries", "disk"):
            value = getattr(made, part)
            assert value / 1.3 <= one[part] <= 1.3 * value, (path, part)


@pytest.mark.parametrize(
    ("arguments", "said", "status"),
    [
        (("absent.toml",), "absent.toml: no such file", 1),
        (("train", "absent", "--method", "gbu"), "absent: no such", 1),
        (("build-cooc", "absent.txt"), "absent.txt: no such file", 1),
        (
            ("build-cooc", "corpus.txt", "--widow", "3"),
            "error: wordgeom build-cooc has no option --widow; did you mean --window?",
            2,
        ),
        (
            ("train", "cooc", "--method", "gbu", "more"),
            "error: wordgeom train --method gbu takes no more arguments after MATRIX, found more; "
            "see wordgeom train --method gbu --help",
            2,
        ),
        (("--shard", "3", "x.toml"), "--shard is not an option of plan; did you mean --shards?", 2),
        (
            ("x.toml", "--tmp-dri=x"),
            "--tmp-dri is not an option of plan; did you mean --tmp-dir?",
            2,
        ),
        (("build-cooc", "-"), "cannot be sampled", 1),
        (("build-cooc", "empty.txt"), "empty.txt: is empty", 1),
        (("build-cooc", "blank.txt"), "blank.txt: its sample cannot be read: contains no", 1),
        (("build-cooc", "corpus.txt", "--memory", "0.001"), "--memory must be 0 or at least", 2),
        (("frobnicate",), "frobnicate is neither a command nor a file; plan build-cooc", 2),
        (("eval", "v.bin"), "eval cannot be planned; plan build-cooc", 2),
        (
            ("drift", "v.bin", "--measure", "procrustes", "--from", "w.bin"),
            "drift --measure and drift --from cannot be planned",
            2,
        ),
        (("--shards", "2", "build-dtm", "corpus.txt"), "--shards applies to build-cooc", 2),
        (("--shards", "0", "build-cooc", "corpus.txt"), "--shards", 2),
        (("build-cooc", "tiny.txt"), "", 1),
        (("x.toml", "--window", "3"), "--window is not an option of plan; set it in the tables", 2),
        (("--memory", "3", "x.toml"), "--memory is not an option of plan; set it in the tables", 2),
        (("x.toml", "y.toml"), "takes no arguments", 2),
    ],
)
def test_what_cannot_be_planned_is_one_line(folder, ask, arguments, said, status):
    Path("tiny.txt").write_text("a b\n")
    Path("empty.txt").touch()
    Path("blank.txt").write_text("\n" * 5000)
    answer = ask("plan", *arguments)
    assert answer.status == status, answer
    assert answer.err.count("\n") == 1
    assert said in answer.err

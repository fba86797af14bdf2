"""--dim auto: planted ranks through the commands, the bytes of --dim K, and its options."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from interruptions import kill_after
from matrices import store_documents, store_matrix

import wordgeom as wg
from wordgeom.core.errors import OptionError
from wordgeom.linalg.dimension import choice
from wordgeom.methods import load

V, RANK = 300, 6
RULES = ("parallel", "eigengap", "pip")


def planted(n, m, rng):
    """Non-negative data of a clear rank: groups of words that occur together."""
    rows, columns = np.arange(n) % RANK, np.arange(m) % RANK
    return 4.0 * (rows[:, None] == columns) + np.abs(rng.standard_normal((n, m)))


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A PMI matrix and document counts, both of six groups."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    G = planted(V, V, rng)
    store_matrix(tmp_path / "pmi", ((G + G.T) / 2).astype(np.float32), kind="pmi")
    store_documents(tmp_path / "dtm", rng.poisson(planted(400, 120, rng)))


def card(path):
    """The statistics in a run card."""
    return json.loads(Path(f"{path}.json").read_text(encoding="utf-8"))["statistics"]


@pytest.mark.parametrize(
    ("method", "source"), [("pmi-eigs", "pmi"), ("gbu", "pmi"), ("lsa", "dtm")]
)
@pytest.mark.parametrize("rule", RULES)
def test_the_planted_rank_is_found(stored, ask, method, source, rule):
    sweeps = ("--sweeps", "0") if method == "gbu" else ()
    weight = ("--weight", "raw") if method == "lsa" else ()
    line = ("train", source, "--method", method, "--dim", f"auto:{rule}", *sweeps, *weight)
    done = ask(*line, "-o", "v.bin")
    assert done.status == 0, done.err
    found = card("v.bin")["dimension"]
    assert (found["rule"], found["parallel"], found["pip"]) == (rule, RANK, RANK)
    assert found["eigengap"] in (1, RANK)  # the first direction is the mean
    assert f"--dim {found[rule]} by" in done.err
    for name in ("parallel analysis", "eigengap", "PIP loss"):
        assert name in done.err
    assert done.out.startswith(f"v.bin: {V if source == 'pmi' else 120} × {found[rule]} by")


def test_auto_is_parallel_analysis_and_makes_the_bytes_of_that_dimension(stored, ask):
    for dim, name in (("auto", "a"), ("auto:parallel", "b"), (str(RANK), "c")):
        line = ("train", "pmi", "--method", "pmi-eigs", "--dim", dim, "-o", f"{name}.bin")
        assert ask(*line).status == 0
    assert Path("a.bin").read_bytes() == Path("c.bin").read_bytes()
    again = ask("train", "pmi", "--method", "pmi-eigs", "--dim", "auto:parallel", "-o", "a.bin")
    assert again.out == "a.bin: up to date\n"


def test_answers_do_not_depend_on_threads(stored, ask):
    found = []
    for threads in "1", "3":
        line = ("train", "dtm", "--method", "lsa", "--dim", "auto", "-o", f"{threads}.bin")
        assert ask(*line, "--threads", threads).status == 0
        found.append(card(f"{threads}.bin")["dimension"])
    assert found[0] == found[1]


@pytest.mark.parametrize("method", ["pmi-eigs", "gbu", "lsa"])
def test_a_run_killed_after_the_search_resumes_to_the_same_bytes(stored, ask, method):
    check_resumed(ask, method, "dtm" if method == "lsa" else "pmi", writes=1)


@pytest.mark.parametrize("method", ["pmi-eigs", "lsa"])
def test_a_run_killed_during_the_fit_resumes_to_the_same_bytes(stored, ask, method):
    """More rows than those of a matrix that is solved at once: the fit has states of its own."""
    large, rng = 1100, np.random.default_rng(2)
    data = planted(large, large, rng) * (rng.random((large, large)) < 0.1)
    store_matrix(Path("large"), ((data + data.T) / 2).astype(np.float32), kind="pmi")
    store_documents(Path("documents"), np.ceil(data))
    source = "documents" if method == "lsa" else "large"
    check_resumed(ask, method, source, "--basis", "9", "--tol", "1e-6", writes=3)


def check_resumed(ask, method, source, *more, writes):
    """Kill a run after some states; --resume makes the same bytes without another search."""
    line = ["train", source, "--method", method, "--dim", "auto:pip", *more, "--checkpoint", "0"]
    assert ask(*line, "-o", "whole.bin").status == 0
    kill_after(writes, [*line, "-o", "part.bin"])
    assert not Path("part.bin").exists()
    with patch.object(choice, "_values", side_effect=AssertionError("searched again")):
        done = ask(*line, "-o", "part.bin", "--resume")
    assert done.status == 0, done.err
    assert Path("part.bin").read_bytes() == Path("whole.bin").read_bytes()
    assert card("part.bin")["dimension"] == card("whole.bin")["dimension"]


def test_python_and_toml_take_the_words(stored, ask):
    made = wg.train("pmi", "pmi-eigs", dim="auto:pip")
    assert made.vectors.shape == (V, RANK)
    Path("run.toml").write_text(
        '[train]\nmatrix = "pmi"\nmethod = "pmi-eigs"\ndim = "auto"\nout = "t.bin"\n',
        encoding="utf-8",
    )
    assert ask("run", "run.toml").status == 0
    assert card("t.bin")["dimension"]["rule"] == "parallel"


@pytest.mark.parametrize("dim", ["auto:best", "AUTO", "many", "", 2.5, True, None])
def test_other_words_are_errors(dim):
    with pytest.raises(OptionError, match="--dim must"):
        load("pmi-eigs").Options(dim=dim)


def test_the_command_line_names_the_words(ask):
    done = ask("train", "x", "--method", "lsa", "--dim", "some")
    assert done.status == 2
    assert done.err.count("\n") == 1
    assert "an integer, auto, auto:parallel, auto:eigengap or auto:pip" in done.err


def test_methods_without_rules_take_numbers_only(ask):
    done = ask("train", "x", "--method", "dc", "--dim", "auto")
    assert done.status == 2


def test_too_little_memory_is_said_before_the_search(stored, ask, monkeypatch):
    monkeypatch.setattr(choice, "_ENTRY", 10**6)
    done = ask("train", "pmi", "--method", "pmi-eigs", "--dim", "auto", "-o", "v.bin",
               "--memory", "0.3")  # fmt: skip
    assert done.status == 1
    assert "the permuted matrices of --dim auto need" in done.err


def test_plot_spectrum_marks_the_answers(stored, ask):
    pytest.importorskip("matplotlib")
    from wordgeom.plot.spectrum import read_spectrum

    for method, source in (("gbu", "pmi"), ("lsa", "dtm")):
        line = ("train", source, "--method", method, "--dim", "auto", "-o", f"{method}.bin")
        assert ask(*line).status == 0
        read = read_spectrum(f"{method}.bin")
        found = card(f"{method}.bin")["dimension"]
        assert read.chosen == {rule: found[rule] for rule in RULES}
        assert len(read.values) == len(found["spectrum"]) > found["pip"]
    done = ask("plot", "spectrum", "gbu.bin", "lsa.bin", "-o", "s.svg")
    assert done.status == 0, done.err
    assert Path("s.svg").exists()

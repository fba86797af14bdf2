"""A new method is one file: these three get flags, TOML keys, run cards, info, resume and more."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from matrices import random_counts, store_documents, store_matrix

import wordgeom as wg
from wordgeom import methods
from wordgeom.checkpoint.state import state_folder
from wordgeom.cli import main
from wordgeom.methods.contract import Context
from wordgeom.vectors.keyed import read_vectors, write_vectors
from wordgeom.vectors.run_card import read_card

TOYS = Path(__file__).parent / "toys"
V = 30
WORDS = [f"w{k}" for k in range(V)]


@pytest.fixture(autouse=True)
def toys(monkeypatch, tmp_path):
    monkeypatch.setenv("WORDGEOM_METHODS", str(TOYS))  # for processes that tests start
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(TOYS)])
    # The options of compare follow from the methods at its import.
    monkeypatch.delitem(sys.modules, "wordgeom.cli.compare", raising=False)
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    store_matrix(tmp_path / "cooc", random_counts(rng, V))
    store_documents(tmp_path / "dtm", rng.poisson(1.0, (20, V)))
    words = wg.open_matrix("cooc").words
    write_vectors(tmp_path / "vectors.bin", words, rng.standard_normal((V, 4)).astype(np.float32))
    pairs = [f"{words[2 * k]} {words[2 * k + 1]} {k}" for k in range(8)]
    (tmp_path / "pairs.txt").write_text("\n".join(pairs) + "\n")


def ask(*line: str, status: int = 0) -> None:
    assert main(list(line)) == status


def shown(capsys, method: str) -> str:
    ask("train", "--method", method, "--help")
    text: str = capsys.readouterr().out
    return text


@pytest.mark.parametrize(
    ("method", "flags", "argument"),
    [
        ("centred", ["--dim", "--seed"], "[VECTORS]"),
        ("retrofit", ["--pull", "--rounds", "--pairs", "--init", "--neg", "--resume"], "[MATRIX]"),
        ("profile-words", ["--scale", "--weight"], "[MATRIX]"),
    ],
)
def test_help_lists_options_and_inputs(capsys, method, flags, argument):
    text = shown(capsys, method)
    assert argument in text
    for flag in flags:
        assert flag in text
    assert method in shown(capsys, "gbu")  # the list of methods


def test_vectors_of_vectors(capsys):
    ask("train", "--method", "centred", "-o", "new.bin", "--dim", "3")
    made, given = read_vectors(Path("new.bin")), read_vectors(Path("vectors.bin"))
    assert made.words == given.words
    centred = given.matrix - given.matrix.mean(axis=0)
    expected = np.linalg.svd(centred, compute_uv=False)[:3]
    np.testing.assert_allclose(np.linalg.norm(made.matrix, axis=0), expected, rtol=1e-5)
    ask("train", "--method", "centred", "-o", "new.bin", "--dim", "3")
    assert "new.bin: up to date" in capsys.readouterr().out


def test_a_status_other_than_converged_is_reported(capsys):
    ask("train", "--method", "centred", "--dim", "6", "-o", "wide.bin")
    assert "fewer dimensions than --dim were found" in capsys.readouterr().err
    card = read_card(Path("wide.bin"))
    assert card is not None
    assert card["status"] == "rank_deficient"
    assert wg.train("vectors.bin", "centred", dim=6).status == "rank_deficient"


def test_optional_and_required_inputs(capsys):
    ask("train", "--method", "retrofit", "-o", "a.bin", status=1)
    assert "retrofit needs pairs; pass --pairs FILE" in capsys.readouterr().err
    ask("train", "--method", "retrofit", "--pairs", "pairs.txt", "-o", "a.bin", "--rounds", "0")
    ask("train", "--method", "retrofit", "--pairs", "pairs.txt", "-o", "b.bin", "--rounds", "0",
        "--init", "vectors.bin")  # fmt: skip
    start = read_vectors(Path("vectors.bin")).matrix[:, :2]
    np.testing.assert_allclose(read_vectors(Path("b.bin")).matrix, start, rtol=1e-6)
    cards = [read_card(Path(name)) for name in ("a.bin", "b.bin")]
    assert [len(card["request"]["inputs"]) for card in cards if card] == [2, 3]


def test_keys_of_a_configuration(capsys):
    Path("x.toml").write_text(
        '[train]\nmethod = "retrofit"\npairs = "pairs.txt"\n'
        'rounds = 1\npull = 0.25\nout = "c.bin"\n'
    )
    ask("run", "x.toml")
    card = read_card(Path("c.bin"))
    assert card is not None
    assert card["request"]["options"]["pull"] == 0.25
    Path("x.toml").write_text('[train]\nmethod = "retrofit"\npears = "pairs.txt"\n')
    ask("run", "x.toml", status=2)
    assert "did you mean pairs?" in capsys.readouterr().err


def test_a_model_of_its_own(capsys):
    ask("train", "--method", "profile-words", "-o", "m", "--scale", "2", "--weight", "raw")
    assert "m: profiles of words" in capsys.readouterr().out
    ask("info", "m", "--check", "--json")
    facts = json.loads(capsys.readouterr().out)
    assert facts["kind"] == "profile-words"
    assert facts["attributes"]["shapes"] == {"means": [V], "peaks": [V]}
    assert facts["run"]["request"]["options"]["scale"] == 2.0
    made = wg.train("dtm", "profile-words", out="m", scale=2.0, weight="raw")
    counts = wg.open_matrix("dtm").to_scipy().toarray()
    np.testing.assert_allclose(made.array("means").read(), 2.0 * counts.mean(axis=0))
    ask("convert", "m", "m.npz", status=2)
    assert "m: is a profile-words model, not vectors" in capsys.readouterr().err


def test_an_interrupted_run_resumes_to_the_same_bytes(capsys, monkeypatch):
    line = ["train", "--method", "retrofit", "--pairs", "pairs.txt", "--checkpoint", "0"]
    ask(*line, "-o", "whole.bin")
    module, steps = methods.load("retrofit"), iter(range(3))
    step = module._step

    def stopped(*args):
        if next(steps, None) is None:
            raise KeyboardInterrupt
        return step(*args)

    with monkeypatch.context() as patch:
        patch.setattr(module, "_step", stopped)
        ask(*line, "-o", "part.bin", status=75)
    assert state_folder("part.bin").exists()
    ask(*line, "-o", "part.bin", "--resume")
    assert Path("part.bin").read_bytes() == Path("whole.bin").read_bytes()
    assert not state_folder("part.bin").exists()


def test_python_calls_take_inputs_as_keywords():
    model = wg.train("cooc", "retrofit", pairs="pairs.txt", rounds=2)
    assert model.vectors.shape == (V, 2)
    with pytest.raises(wg_error(), match="unknown keyword 'pear'"):
        wg.train("cooc", "retrofit", pear="pairs.txt")


def test_compare_trains_them_beside_others(capsys):
    ask("compare", "cooc", "vectors.bin", "--methods", "gbu,centred,retrofit", "--dim", "3",
        "--pairs", "pairs.txt", "--set", "pairs.txt", "--json")  # fmt: skip
    found = json.loads(capsys.readouterr().out)
    names = [row["name"] for row in found["rows"]]
    assert names == ["vectors.bin", "gbu", "centred", "retrofit"]
    assert all(not row.get("error") for row in found["rows"])
    ask("compare", "dtm", "--methods", "profile-words", "--set", "pairs.txt", status=2)
    assert "profile-words makes no vectors" in capsys.readouterr().err


def test_a_context_resumes_nothing_by_default():
    assert Context(pool=None, open_ops=None, memory=1).checkpoint.restore() is None  # type: ignore[arg-type]


def wg_error() -> type[Exception]:
    from wordgeom.core.errors import OptionError

    return OptionError

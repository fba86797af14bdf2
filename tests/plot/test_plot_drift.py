"""`plot drift`: a model gives word trajectories, results a volcano plot."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from wordgeom.cli import main
from wordgeom.plot import neighbourhoods
from wordgeom.plot.drift_results import read_drift_results

pytest.importorskip("matplotlib", reason="matplotlib is not installed: wordgeom[plot]")


def test_results_are_drawn_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    entries = [{"word": f"w{k}", "displacement": 1 + k, "p": 0.01, "q": k / 20} for k in range(5)]
    Path("drift.json").write_text(json.dumps({"words": entries, "test": {"smallest_p": 0.01}}))
    assert main(["plot", "drift", "drift.json", "--words", "w3, w4"]) == 0
    assert capsys.readouterr().out.startswith(
        "drift.png: 5 words, 2 with q ≤ .05, 5 at the smallest p"
    )
    assert main(["plot", "drift", "drift.json"]) == 1
    assert "drift.png: exists" in capsys.readouterr().err
    for name in ("one.svg", "two.svg"):
        assert main(["plot", "drift", "drift.json", "-o", name]) == 0
    assert Path("one.svg").read_bytes() == Path("two.svg").read_bytes()
    capsys.readouterr()
    assert main(["plot", "drift", "drift.json", "--at", "1950", "-o", "a.png"]) == 2
    assert "--at applies to trajectories" in capsys.readouterr().err


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of documents about `sea`, with `ship` before and `salt` after, or about `land`."""
    folder = tmp_path_factory.mktemp("made")
    draw = np.random.default_rng(0)
    with (folder / "t.jsonl").open("w") as out:
        for k in range(60):
            context = "ship" if draw.uniform(0.2, 0.8) > k / 60 else "salt"
            words = ["sea", context] * 3 if draw.random() < 0.5 else ["land", "hill", "hill"]
            text = " ".join([*words, *draw.choice(["it", "is", "so"], 3)])
            print(json.dumps({"text": text, "t": 1950 + k}), file=out)
    count = ["build-dtm", f"{folder}/t.jsonl", "--time-field", "t", "--min-count", "1", "--quiet"]
    assert main([*count, "-o", f"{folder}/dtm"]) == 0
    train = ["train", f"{folder}/dtm", "--method", "dlsa", "--dim", "2", "--degree", "1", "--quiet"]
    assert main([*train, "-o", f"{folder}/model"]) == 0
    return folder / "model"


@pytest.fixture
def model(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return str(made)


def test_a_model_is_drawn_from_the_command_line(model, capsys):
    from wordgeom.methods.dlsa.model import DynamicModel

    assert main(["plot", "drift", model, "--words", "sea, land", "-o", "one.svg"]) == 0
    assert capsys.readouterr().out.startswith("one.svg: sea, land, 1950 to 2009")
    asked = ["--words", "sea,land", "-o", "two.svg", "--at", "1950,1962,1974,1985,1997,2009"]
    assert main(["plot", "drift", model, *asked]) == 0
    assert Path("one.svg").read_bytes() == Path("two.svg").read_bytes()
    opened = DynamicModel.open(model)
    (path,) = neighbourhoods.trajectories(opened, ["sea"])
    moved = opened.displacement(1950, 2009)[opened.words.index("sea")]
    assert path.displacement == pytest.approx(moved, rel=1e-5)


def test_what_drift_prints_is_drawn(model, capsys):
    assert (
        main(["drift", model, "--json", "--test", "permutation", "--permutations", "99", "--quiet"])
        == 0
    )
    printed = capsys.readouterr().out
    Path("drift.json").write_text(printed)
    held = json.loads(printed)
    assert main(["plot", "drift", "drift.json", "--words", "sea"]) == 0
    tested = [word for word in held["words"] if word["p"] is not None]
    assert capsys.readouterr().out.startswith(f"drift.png: {len(tested)} words, ")
    assert read_drift_results("drift.json").smallest_p == held["test"]["smallest_word_p"]


def test_plots_and_tests_have_the_same_neighbours(model, capsys):
    """`salt` is not in use in the first years, `ship` not in the last."""
    asked = ["--json", "--test", "f", "--neighbours", "5", "--quiet"]
    assert main(["drift", model, "sea", "salt", *asked]) == 0
    listed = json.loads(capsys.readouterr().out)["words"]
    from wordgeom.methods.dlsa.model import DynamicModel

    drawn = neighbourhoods.trajectories(DynamicModel.open(model), ["sea", "salt"])
    for word, path in zip(listed, drawn, strict=True):
        assert (word["neighbours_then"], word["neighbours_now"]) == (path.first, path.last)
    assert "salt" not in drawn[0].first
    assert drawn[1].first == []


@pytest.mark.parametrize(
    ("asked", "status", "part"),
    [
        ([], 2, "model: a plot of trajectories needs words; name some: --words soviet,climate"),
        (
            ["--words", "sea", "--at", "1950,soon"],
            2,
            "--at must be numbers, years or dates such as 1950-07-31, found 'soon'",
        ),
        (["--words", "see"], 1, "unknown word 'see'; did you mean sea?"),
        (["--words", "sea", "-o", "no/d.png"], 1, "no such directory"),
    ],
)
def test_what_a_model_cannot_draw_is_one_line(model, capsys, asked, status, part):
    assert main(["plot", "drift", model, *asked]) == status
    error = capsys.readouterr().err
    assert part in error
    assert len(error.splitlines()) == 1

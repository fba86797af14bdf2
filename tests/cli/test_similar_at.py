"""`similar MODEL WORD --at TIME`: neighbours among the words in use at that time."""

from __future__ import annotations

import io
import json
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import wordgeom as wg
from wordgeom.cli import main
from wordgeom.core.errors import InputError

FROM = 1900


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Speeches of 1900 to 1959: `wireless` is a neighbour of `wave` until 1930, `télé` after."""
    folder = tmp_path_factory.mktemp("made")
    draw = np.random.default_rng(0)
    with (folder / "t.jsonl").open("w", encoding="utf-8") as out:
        for k in range(120):
            near = "wireless" if k < 60 else "télé"
            words = ["wave", near, "signal"] if k % 2 else ["farm", "wheat", "cow"]
            text = " ".join([*(2 * words), *draw.choice(["it", "is", "so"], 4)])
            print(json.dumps({"text": text, "d": f"{FROM + k // 2}-03-0{1 + k % 9}"}), file=out)
    count = ["build-dtm", f"{folder}/t.jsonl", "--time-field", "d", "--min-count", "1", "--quiet"]
    assert main([*count, "-o", f"{folder}/dtm"]) == 0
    fit = ["--method", "dlsa", "--dim", "3", "--degree", "1", "--trend", "free", "--quiet"]
    assert main(["train", f"{folder}/dtm", *fit, "-o", f"{folder}/model"]) == 0
    return folder / "model"


def asked(capsys: pytest.CaptureFixture[str], *args: str, status: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert main(["similar", *args]) == status
    out, err = capsys.readouterr()
    return out, err


def test_neighbours_are_in_use_at_the_time(made, capsys):
    listed = {}
    for at in ("1901", "1958-07-01"):
        out, err = asked(capsys, str(made), "wave", "--at", at, "--top", "99", "--json")
        listed[at] = [row["word"] for row in json.loads(out)]
        assert f"1 word is not in use near {at} and left out" in err
    assert ("wireless" in listed["1901"], "télé" in listed["1901"]) == (True, False)
    assert ("wireless" in listed["1958-07-01"], "télé" in listed["1958-07-01"]) == (False, True)
    assert listed["1901"][0] in ("wireless", "signal")


def test_negative_words_and_lines_are_answered_as_for_files(made, capsys, monkeypatch):
    alone, _ = asked(capsys, str(made), "wave", "-farm", "--at", "1901", "--top", "2")
    lines = b"\xef\xbb\xbfwave -farm\r\ntele\nt\xc3\xa9l\xc3\xa9\nte\xcc\x81le\xcc\x81\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    out, err = asked(capsys, str(made), "-", "--at", "1901", "--top", "2")
    assert [line.split("\t")[1:] for line in out.splitlines()] == [
        line.split() for line in alone.splitlines()
    ]
    assert "line 2 skipped: unknown word 'tele'; " in err
    assert err.count("is not in use near 1901; choose another time, or other words") == 2


def test_python_gives_the_same_neighbours(made, capsys):
    out, _ = asked(capsys, str(made), "wave", "-farm", "--at", "1901", "--json")
    words = wg.open_model(made).at(1901)
    expected = [(row["word"], row["cosine"]) for row in json.loads(out)]
    found = words.similar("wave", ["farm"])
    assert [(word, round(cosine, 6)) for word, cosine in found] == expected
    assert repr(words) == "<WordsAt 1901: 9 of 10 words in use>"
    with pytest.raises(InputError, match="'télé' is not in use near 1901; choose another time"):
        words.similar("télé")


def test_a_time_outside_the_documents_is_noted(made, capsys):
    with warnings.catch_warnings(action="error"):
        _, err = asked(capsys, str(made), "wave", "--at", "-44")
    assert "--at -44 is outside the documents' times, 1900.16 to 1959.1" in err


@pytest.mark.parametrize(
    ("args", "status", "part"),
    [
        (["wave"], 2, "model: a model needs a time for neighbours; add --at TIME"),
        (["wave", "--at", "soon"], 2, "--at must be a time, found 'soon'"),
        (["wave", "--at", "1e300"], 1, "is too far from the model's times"),
        (["télé", "--at", "1901"], 1, "'télé' is not in use near 1901; choose another time"),
        (["wav", "--at", "1901"], 1, "unknown word 'wav'; did you mean wave?"),
    ],
)
def test_what_has_no_answer_is_one_line(made, capsys, args, status, part):
    out, err = asked(capsys, str(made), *args, status=status)
    assert (out, part in err) == ("", True)
    assert sum("error" in line for line in err.splitlines()) == 1


def test_a_time_needs_a_model(made, capsys, tmp_path):
    _, err = asked(capsys, str(made.parent / "dtm"), "wave", "--at", "1901", status=1)
    assert "is a document-term matrix, not a dynamic LSA model" in err
    (tmp_path / "v.txt").write_text("1 1\nwave 1\n")
    _, err = asked(capsys, str(tmp_path / "v.txt"), "wave", "--at", "1901", status=1)
    assert "a file, not a model directory" in err


def test_a_model_without_its_counts_is_one_line(made, capsys, tmp_path):
    shutil.copytree(made, tmp_path / "model")
    _, err = asked(capsys, str(tmp_path / "model"), "wave", "--at", "1901", status=1)
    assert "dtm, are missing; restore them, or train the model again" in err
    assert len(err.splitlines()) == 1

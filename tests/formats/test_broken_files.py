"""SciPy's files whose parts do not fit each other, and files that cannot be read: one line each."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from wordgeom.cli import main
from wordgeom.core.errors import MissingInputError
from wordgeom.formats.npz import opened_archive
from wordgeom.storage.opening import opened

ONE = np.array([0])
SHAPE = np.array([2, 2])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with two words."""
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text("a\t3\nb\t2\n")
    return tmp_path


def refusal(capsys) -> str:
    """Convert m.npz, which must fail, and return the line."""
    assert main(["convert", "m.npz", "out", "--words", "words.txt"]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.startswith("wordgeom: m.npz")
    assert not Path("out").exists()
    return str(told)


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (
            {"format": "bsr", "data": np.ones((1, 2)), "indices": ONE, "indptr": np.array([0, 1])},
            "data of shape (1, 2)",
        ),
        (
            {
                "format": "bsr",
                "data": np.ones((1, 0, 2)),
                "indices": ONE,
                "indptr": np.array([0, 1]),
            },
            "data of shape (1, 0, 2)",
        ),
        (
            {
                "format": "bsr",
                "data": np.ones((2, 2, 2)),
                "indices": ONE,
                "indptr": np.array([0, 1]),
            },
            "indices fit neither",
        ),
        (
            {
                "format": "bsr",
                "data": np.ones((1, 2, 2)),
                "indices": ONE,
                "indptr": np.array([0, 9]),
            },
            "indptr does not rise",
        ),
        (
            {"format": "coo", "data": np.ones(2), "row": ONE, "col": np.array([0, 1])},
            "not equally many",
        ),
        (
            {"format": "coo", "data": np.ones((1, 1)), "row": ONE[None], "col": ONE[None]},
            "not equally many",
        ),
        (
            {"format": "coo", "data": np.ones(1), "row": np.array([7]), "col": ONE},
            "an index is not below 2",
        ),
        (
            {"format": "coo", "data": np.ones(2), "coords": np.zeros((3, 2), np.int64)},
            "coords are not rows and columns",
        ),
        (
            {"format": "coo", "data": np.ones(3), "coords": np.zeros((2, 2), np.int64)},
            "coords are not rows and columns",
        ),
        (
            {"format": "coo", "data": np.ones(2), "coords": ONE},
            "coords of 1 dimensions",
        ),
        (
            {"format": "dia", "data": np.ones((2, 2)), "offsets": ONE},
            "offsets and data do not fit",
        ),
        (
            {"format": "dia", "data": np.ones(2), "offsets": ONE},
            "offsets and data do not fit",
        ),
        (
            {"format": "csr", "data": np.ones(1), "indices": ONE, "indptr": np.array([0, 1])},
            "indptr does not fit the shape",
        ),
        (
            {"format": "csr", "data": np.ones(1), "indices": ONE, "indptr": np.array([0, 2, 1])},
            "indptr does not rise",
        ),
        (
            {"format": "lil", "data": np.ones(1)},
            "unknown sparse format",
        ),
        (
            {"format": "csr", "indices": ONE, "indptr": np.array([0, 1, 1])},
            "lacks the member data",
        ),
    ],
)
def test_parts_that_do_not_fit_are_refused(capsys, parts, told):
    held = {**parts, "shape": SHAPE, "format": np.array(parts["format"].encode())}
    np.savez("m.npz", **held)
    assert told in refusal(capsys)


def test_members_that_are_packed_in_another_way_are_refused(capsys):
    np.savez("m.npz", format=np.array(b"coo"), shape=SHAPE, data=np.ones(1), row=ONE, col=ONE)
    with zipfile.ZipFile("m.npz") as plain:
        held = {name: plain.read(name) for name in plain.namelist()}
    with zipfile.ZipFile("m.npz", "w", zipfile.ZIP_BZIP2) as packed:
        for name, content in held.items():
            packed.writestr(name, content)
    assert "packed in another way" in refusal(capsys)


def test_a_member_that_is_too_large_for_memory_is_refused():
    np.savez("m.npz", data=np.zeros(1000))
    with opened_archive(Path("m.npz"), 100) as archive, pytest.raises(Exception, match="--memory"):
        archive.array("data")


def test_a_file_that_may_not_be_read_is_an_error_of_one_line(monkeypatch):
    Path("x").write_text("x")
    real = open

    def denied(name, *rest):
        if Path(name) == Path("x"):
            raise PermissionError(13, os.strerror(13), "x")
        return real(name, *rest)

    monkeypatch.setattr("builtins.open", denied)

    def read() -> None:
        with opened(Path("x"), "a file"):
            pass

    with pytest.raises(MissingInputError, match="cannot be read: permission denied"):
        read()

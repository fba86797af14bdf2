"""SciPy files with mismatched parts, and unreadable files: each error is one line."""

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
def directory(tmp_path, monkeypatch):
    """A working directory with a file of two words."""
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text("a\t3\nb\t2\n")
    return tmp_path


def error_line(capsys) -> str:
    """Convert m.npz, which must fail, and return the error message."""
    assert main(["convert", "m.npz", "out", "--words", "words.txt"]) == 1
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert line.startswith("wordgeom: error: m.npz")
    assert not Path("out").exists()
    return str(line)


@pytest.mark.parametrize(
    ("parts", "line"),
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
            "indices that do not match the shape",
        ),
        (
            {
                "format": "bsr",
                "data": np.ones((1, 2, 2)),
                "indices": ONE,
                "indptr": np.array([0, 9]),
            },
            "indptr that does not increase",
        ),
        (
            {"format": "coo", "data": np.ones(2), "row": ONE, "col": np.array([0, 1])},
            "row, col and data of different lengths",
        ),
        (
            {"format": "coo", "data": np.ones((1, 1)), "row": ONE[None], "col": ONE[None]},
            "row, col and data of different lengths",
        ),
        (
            {"format": "coo", "data": np.ones(1), "row": np.array([7]), "col": ONE},
            "an index not between 0 and 1",
        ),
        (
            {"format": "coo", "data": np.ones(2), "coords": np.zeros((3, 2), np.int64)},
            "coords that do not match",
        ),
        (
            {"format": "coo", "data": np.ones(3), "coords": np.zeros((2, 2), np.int64)},
            "coords that do not match",
        ),
        (
            {"format": "coo", "data": np.ones(2), "coords": ONE},
            "coords of shape (1,)",
        ),
        (
            {"format": "dia", "data": np.ones((2, 2)), "offsets": ONE},
            "offsets and data of different lengths",
        ),
        (
            {"format": "dia", "data": np.ones(2), "offsets": ONE},
            "offsets and data of different lengths",
        ),
        (
            {"format": "csr", "data": np.ones(1), "indices": ONE, "indptr": np.array([0, 1])},
            "indptr of length 2 for 2 rows",
        ),
        (
            {"format": "csr", "data": np.ones(1), "indices": ONE, "indptr": np.array([0, 2, 1])},
            "indptr that does not increase",
        ),
        (
            {"format": "lil", "data": np.ones(1)},
            "unknown sparse format",
        ),
        (
            {"format": "csr", "indices": ONE, "indptr": np.array([0, 1, 1])},
            "no member data",
        ),
    ],
)
def test_mismatched_parts_are_rejected(capsys, parts, line):
    members = {**parts, "shape": SHAPE, "format": np.array(parts["format"].encode())}
    np.savez("m.npz", **members)
    assert line in error_line(capsys)


def test_unsupported_compression_is_rejected(capsys):
    np.savez("m.npz", format=np.array(b"coo"), shape=SHAPE, data=np.ones(1), row=ONE, col=ONE)
    with zipfile.ZipFile("m.npz") as plain:
        members = {name: plain.read(name) for name in plain.namelist()}
    with zipfile.ZipFile("m.npz", "w", zipfile.ZIP_BZIP2) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    assert "unsupported compression" in error_line(capsys)


def test_a_member_larger_than_the_memory_limit_is_rejected():
    np.savez("m.npz", data=np.zeros(1000))
    with opened_archive(Path("m.npz"), 100) as archive, pytest.raises(Exception, match="--memory"):
        archive.array("data")


def test_an_unreadable_file_is_a_one_line_error(monkeypatch):
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

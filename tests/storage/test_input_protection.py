"""No command writes onto one of its inputs, whatever the output is called."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from wordgeom.cli import main
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors

LINES = ["the old king rules the land", "the queen and the king rule", "a land of old stone"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A text with counts, a document-term matrix, PMI, and vectors in three formats."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "text.txt").write_text("\n".join(LINES * 8) + "\n")
    words = sorted({word for line in LINES for word in line.split()})
    matrix = np.random.default_rng(1).standard_normal((len(words), 3)).astype(np.float32)
    for name in ("v.bin", "v.txt"):
        run_card.write(folder / name, Vectors(words, matrix), None)
    start = os.getcwd()
    os.chdir(folder)
    try:
        for line in (
            "build-cooc text.txt -o bk --min-count 1 --window 2 --save-vocab vocab.tsv",
            "build-dtm text.txt -o dtm --min-count 1",
            "build-pmi bk -o pmi",
            "convert v.bin v.npz",
            "convert v.bin proj --to projector",
            "convert bk bk.npz",
            "convert bk bk.mtx",
        ):
            assert main(line.split()) == 0, line
    finally:
        os.chdir(start)
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """A copy of these with other names of some: links, and a path with dots."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    os.symlink("bk", "bk-link")
    os.symlink("v.txt", "v-link.txt")
    os.link("v.txt", "v-hard.txt")
    os.link("text.txt", "text-hard.txt")
    os.symlink("text.txt", "plot.svg")
    os.link("text.txt", "text.documents.tsv")
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    """Return what all files hold."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("force", [(), ("--force",)], ids=["", "force"])
@pytest.mark.parametrize(
    "line",
    [
        "build-pmi bk -o bk",
        "build-pmi bk -o bk-link",
        "build-pmi bk -o ./dtm/../bk",
        "build-cooc text.txt -o other --save-vocab text-hard.txt",
        "build-cooc text.txt --read-vocab vocab.tsv -o other --save-vocab vocab.tsv",
        "build-cooc text.txt --read-vocab bk/vocab.1.tsv -o bk",
        "build-dtm text.txt --stop-words vocab.tsv -o other --save-vocab vocab.tsv",
        "build-cooc text.txt -o other --read-vocab bk/vocab.1.tsv --save-vocab bk/vocab.1.tsv",
        "merge bk pmi -o bk",
        "train dtm --method dlsa --dim 2 -o dtm",
        "convert v.txt v.txt --limit 3",
        "convert v.txt v-link.txt --limit 3",
        "convert v.txt v-hard.txt --limit 3",
        "convert v.bin v.bin --limit 3",
        "convert v.npz v.npz --limit 3",
        "convert v.npz v.words.txt",
        "convert proj proj --to projector --limit 3",
        "convert bk.mtx bk --words bk/vocab.1.tsv",
        "extend v.bin bk -o v.bin",
        "embed text.txt --vectors v.txt -o text.txt",
        "embed text.documents.tsv --vectors v.txt --text-field 1 --header no -o text.npy",
        "plot drift plot.svg -o ./plot.svg",
        "plot imputation v.bin --table plot.svg -o plot.svg",
        "compare v.bin plot.svg --picture plot.svg",
    ],
)
def test_an_output_that_is_an_input_is_an_error(folder, capfd, line, force):
    before = content(folder)
    status = main([*line.split(), *force])
    error = capfd.readouterr().err
    assert status == 2, (line, error)
    assert "input" in error, error
    assert "--force" not in error
    assert error.count("\n") == 1
    assert content(folder) == before


def test_vectors_that_compare_keeps_replace_no_input(folder, capfd):
    os.rename("v.bin", "pmi-eigs.bin")
    before = content(folder)
    line = "compare bk pmi-eigs.bin --methods pmi-eigs --dim 2 --keep . --force"
    assert main(line.split()) == 2
    assert "pmi-eigs.bin: is an input" in capfd.readouterr().err
    assert content(folder) == before


def test_a_table_of_a_configuration_file_replaces_neither_its_input_nor_the_file(folder, capfd):
    for table in (
        '[convert]\nsource = "v.txt"\ntarget = "v-link.txt"\nlimit = 3\n',
        '[build-cooc]\ncorpus = "text.txt"\nout = "other"\nsave_vocab = "x.toml"\n',
    ):
        Path("x.toml").write_text(table)
        before = content(folder)
        assert main(["run", "x.toml", "--force"]) == 2, table
        error = capfd.readouterr().err
        assert "is an input" in error, error
        assert content(folder) == before


def test_vectors_inside_the_directory_of_their_counts_are_no_input(folder):
    for _ in range(2):
        line = "train bk --method pmi-eigs --dim 2 --seed 1 -o bk/vectors.bin --force --quiet"
        assert main(line.split()) == 0

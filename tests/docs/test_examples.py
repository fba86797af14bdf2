"""Every command and program that README.md and the guides show runs, in the order of the page."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from in_process import train_here

import wordgeom
from docs.examples import RUN, Session, blocks, commands
from docs.inputs import write

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "index.md",
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
]
_NEEDS = {
    "notebooks": ("pandas", "matplotlib"),
    "spacy": ("spacy",),
    "my-own-corpus": ("pyarrow",),
}  # optional packages, by page
_FEWEST_RUN = 0.9  # share of the blocks that must not be left out


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with every file that the examples start from."""
    folder = tmp_path_factory.mktemp("inputs")
    write(folder)
    return folder


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the programs `wordgeom` and `python`."""
    folder = tmp_path_factory.mktemp("bin")
    for name, arguments in (("wordgeom", "-m wordgeom "), ("python", "")):
        program = folder / name
        line = f'exec {sys.executable} {arguments}"$@"'
        program.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        program.chmod(0o755)
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page, inputs, shim, tmp_path, monkeypatch):
    for package in _NEEDS.get(page.stem, ()):
        pytest.importorskip(package)
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    train_here(monkeypatch)
    monkeypatch.chdir(tmp_path)
    session = Session(
        shim, {**os.environ, "PYTHONPATH": str(Path(wordgeom.__file__).parent.parent)}
    )
    runnable = [block for block in blocks(page) if block.kind in RUN and not block.skipped]
    assert runnable
    for block in runnable:
        session.run(block)  # asserts that each command ends as shown


def test_few_examples_are_left_out():
    every = [block for page in PAGES for block in blocks(page) if block.kind in RUN]
    left_out = [block for block in every if block.skipped]
    assert len(left_out) <= (1 - _FEWEST_RUN) * len(every), [b.skipped for b in left_out]


def test_a_command_is_expected_to_end_as_the_page_shows():
    text = "$ wordgeom info \\\n> nothing\nwordgeom: error\n$ echo $?\n1\n$ wordgeom --version\n…\n"
    assert [(c.line, c.status) for c in commands(text)] == [
        ("wordgeom info  nothing", 1),
        ("wordgeom --version", 0),
    ]

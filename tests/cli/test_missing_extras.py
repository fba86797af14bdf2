"""A command that needs an extra which is not installed: one line that says how to install it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("line", "module", "extra"),
    [
        ("build-cooc c.txt --scheduler local", "distributed", "cluster"),
        ("plot map v.txt -o s.png", "matplotlib", "plot"),
        ("build-cooc c.parquet", "pyarrow", "parquet"),
    ],
)
def test_a_missing_extra_is_one_line(ask, tmp_path, monkeypatch, line, module, extra):
    monkeypatch.chdir(tmp_path)
    Path("c.txt").write_text("a b c a b\n" * 50)
    Path("c.parquet").write_bytes(b"PAR1" + bytes(40) + b"PAR1")
    Path("v.txt").write_text("3 2\na 1 0\nb 0 1\nc 1 1\n")
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    before = sorted(Path().iterdir())
    answer = ask(*line.split())
    assert (answer.status, answer.err.count("\n")) == (1, 1), answer.err
    assert f"; run pip install 'wordgeom[{extra}]'" in answer.err
    assert sorted(Path().iterdir()) == before

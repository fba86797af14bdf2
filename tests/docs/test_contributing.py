"""The example method in CONTRIBUTING.md works as it is printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matrices import store_matrix

import wordgeom as wg
from wordgeom import methods

PAGE = Path(wg.__file__).parent.parent / "CONTRIBUTING.md"


def blocks(language: str) -> list[str]:
    """The fenced blocks of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture
def nystrom(tmp_path, monkeypatch):
    folder = tmp_path / "methods"
    folder.mkdir()
    (folder / "nystrom.py").write_text(blocks("python")[0], encoding="utf-8")
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(folder)])
    return methods.load("nystrom")


def test_the_example_reproduces_a_matrix_of_low_rank(nystrom, tmp_path):
    test: dict[str, Any] = {"__name__": "example"}
    exec(compile(blocks("python")[1], "CONTRIBUTING.md", "exec"), test)
    checks = [check for name, check in test.items() if name.startswith("test_")]
    assert len(checks) == 1
    checks[0](tmp_path)


def test_missing_dimensions_are_reported(nystrom, tmp_path):
    points = np.random.default_rng(1).standard_normal((40, 3)).astype(np.float32)
    store_matrix(tmp_path / "pmi", points @ points.T, kind="pmi")
    model = wg.train(tmp_path / "pmi", "nystrom", dim=5)
    assert model.status == "rank_deficient"
    assert model.notes == ["3 of 5 dimensions have a positive eigenvalue"]

"""Inflected words, and their vectors with n-grams."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from asking import Ask
from inflections import ENDINGS, STEMS, write_inflections

from wordgeom.vectors.keyed import Vectors, read_vectors


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vectors:
    """The vectors of all inflected words; vectors.bin lacks `turning`."""
    monkeypatch.chdir(tmp_path)
    return write_inflections()


@pytest.fixture
def improved(words: Vectors, ask: Ask) -> Vectors:
    """The vectors of v.bin, which v.subwords lies beside."""
    assert ask("subwords", "vectors.bin", "-o", "v.bin", "--subwords", "2-5").status == 0
    return read_vectors("v.bin")


@pytest.fixture
def counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask) -> None:
    """Counts of a text in which words of one stem, or of one ending, share contexts."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(2)
    lines = []
    for _ in range(3000):
        stem, end = draw.integers(10), draw.integers(5)
        near = [f"s{stem}x{draw.integers(3)}", f"e{end}y{draw.integers(3)}"]
        lines.append(f"{near[0]} {STEMS[stem]}{ENDINGS[end]} {near[1]}\n")
    Path("text.txt").write_text("".join(lines))
    assert ask("build-cooc", "text.txt", "-o", "cooc").status == 0

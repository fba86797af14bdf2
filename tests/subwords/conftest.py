"""Inflected words, and their vectors with n-grams."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import Ask
from inflections import write_inflections

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

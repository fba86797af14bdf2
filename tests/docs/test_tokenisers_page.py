"""The tables of docs/guide/tokenisers.md show what the tokeniser does."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from corpora import put, read

from wordgeom.core.errors import InputError
from wordgeom.corpus.options import CorpusOptions

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "tokenisers.md"


def rows(heading: str) -> list[list[str]]:
    """The cells of the table with this heading."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"{heading}\n")
    lines = rest.split("\n\n", 1)[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def words(folder: Path, text: str, form: str) -> list[str | None]:
    (path,) = put(folder, text)
    with contextlib.suppress(InputError):  # it contains no words
        return read([path], CorpusOptions(min_count=1, normalise=form)).stream
    return []


LANGUAGES = rows("| language | text | words |")
FORMS = rows("| text | NFC | NFKC | what changes |")


def test_the_page_has_the_tables():
    assert len(LANGUAGES) == 11
    assert len(FORMS) == 9


@pytest.mark.parametrize(("language", "text", "expected"), LANGUAGES)
def test_words_of_a_language(tmp_path: Path, language: str, text: str, expected: str):
    assert words(tmp_path, text, "NFC") == expected.split(), language


@pytest.mark.parametrize(("text", "composed", "compatible", "what"), FORMS)
def test_unicode_forms(tmp_path: Path, text: str, composed: str, compatible: str, what: str):
    assert words(tmp_path, text, "NFC") == composed.split(), what
    assert words(tmp_path, text, "NFKC") == compatible.split(), what

"""Counts agree with their nouns and verbs."""

from __future__ import annotations

from wordgeom.core.formatting import listed, plural, several
from wordgeom.corpus.inputs.input_warnings import input_warnings
from wordgeom.corpus.inputs.readers import Source


def test_one_is_singular_and_other_numbers_are_plural():
    assert [plural(n, "page") for n in (0, 1, 2, 1000)] == [
        "0 pages", "1 page", "2 pages", "1,000 pages",
    ]  # fmt: skip
    assert several(1, "entity is", "entities are") == "1 entity is"
    assert several(21, "entity is", "entities are") == "21 entities are"


def test_the_last_name_is_joined_by_and():
    assert [listed(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == [
        "a", "a and b", "a, b and c",
    ]  # fmt: skip


def test_counts_agree_with_singular_and_plural():
    def warning(files: int) -> str:
        return input_warnings([Source(f"{k}.txt", looks="jsonl") for k in range(files)])[0]

    assert "(also" not in warning(1)
    assert warning(2).endswith(" (also 1 other file)")
    assert warning(3).endswith(" (also 2 other files)")

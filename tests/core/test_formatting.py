"""Counts agree with their nouns and verbs."""

from __future__ import annotations

from wordgeom.core.formatting import listed, plural, several
from wordgeom.corpus.inputs.input_warnings import remarks
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
    def told(files: int) -> str:
        return remarks([Source(f"{k}.txt", looks="jsonl") for k in range(files)])[0]

    assert "(so do" not in told(1)
    assert told(2).endswith(" (so does 1 more file)")
    assert told(3).endswith(" (so do 2 more files)")

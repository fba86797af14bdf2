"""Counts agree with their nouns and verbs."""

from __future__ import annotations

import pytest

from wordgeom.core.formatting import exceeding, listed, plural, readable_size, several
from wordgeom.corpus.inputs.input_warnings import input_warnings
from wordgeom.corpus.inputs.readers import Source


def test_one_is_singular_and_other_numbers_are_plural():
    assert [plural(n, "page") for n in (0, 1, 2, 1000)] == [
        "0 pages", "1 page", "2 pages", "1,000 pages",
    ]  # fmt: skip
    assert several(1, "entity is", "entities are") == "1 entity is"
    assert several(21, "entity is", "entities are") == "21 entities are"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1 KB"), (10_240, "10.2 KB"),
        (316_084, "316 KB"), (999_499, "999 KB"), (999_500, "1 MB"), (1_250_000, "1.25 MB"),
        (2_500_000_000, "2.5 GB"), (128 * 10**9, "128 GB"), (8 * 10**15, "8,000 TB"),
    ],
)  # fmt: skip
def test_sizes_have_three_digits_at_any_scale(number, text):
    assert readable_size(number) == text


def test_sizes_that_differ_read_differently():
    assert exceeding(2 * 10**9, 10**9) == ("2 GB", "1 GB")
    assert exceeding(1_000_400_000, 10**9) == ("1.0004 GB", "1 GB")
    assert exceeding(10**9 + 1, 10**9) == ("1.000000001 GB", "1 GB")


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

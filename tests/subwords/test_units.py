"""Units: code points, grapheme clusters, jamo, morphs and bytes, cut between < and >."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.core.errors import FormatError, InputError
from wordgeom.subwords.units.codepoints import CodePoints
from wordgeom.subwords.units.graphemes import Graphemes, clusters
from wordgeom.subwords.units.jamo import Jamo
from wordgeom.subwords.units.morphs import Morphs, parse_morphs, read_morphs
from wordgeom.subwords.units.unit import BEGIN, END
from wordgeom.subwords.units.utf8 import Utf8

WORDS = st.lists(st.text(st.characters(codec="utf-8"), max_size=8), max_size=5)


def units_of(cut, *, encoding="utf-32-le"):
    """Return the units of each word as text."""
    width = "<u4" if encoding == "utf-32-le" else np.uint8

    def read(begin, end):
        return cut.symbols[begin:end].astype(width).tobytes().decode(encoding)

    return [
        [read(a, b) for a, b in pairwise(own)]
        for own in (cut.bounds[s:e] for s, e in pairwise(cut.starts))
    ]


@given(WORDS)
def test_code_points_and_bytes_are_cut_at_the_same_places(words):
    expected = [[BEGIN, *word, END] for word in words]
    assert units_of(CodePoints().cut(words)) == expected
    assert units_of(Utf8().cut(words), encoding="utf-8") == expected


@given(WORDS)
def test_grapheme_clusters_spell_their_words(words):
    made = units_of(Graphemes().cut(words))
    assert ["".join(units) for units in made] == [f"{BEGIN}{word}{END}" for word in words]
    for units in made:
        # No cluster inside begins with a mark, unless a word does.
        assert all(unicodedata.category(unit[0])[0] != "M" for unit in units[2:-1])


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("e\u0301te\u0301", ["e\u0301", "t", "e\u0301"]),
        ("नमस्ते", ["न", "म", "स्", "ते"]),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8", ["\u1112\u1161\u11ab", "\u1100\u116e\u11a8"]),
        ("가\u11a8각", ["가\u11a8", "각"]),
        ("\U0001f1eb\U0001f1f7\U0001f1e9", ["\U0001f1eb\U0001f1f7", "\U0001f1e9"]),
        ("\U0001f469\u200d\U0001f680a", ["\U0001f469\u200d\U0001f680", "a"]),
        ("\U0001f44d\U0001f3fdx", ["\U0001f44d\U0001f3fd", "x"]),
        ("a\u200db", ["a\u200d", "b"]),
        ("\u0e19\u0e49\u0e33\u0e43\u0e08", ["\u0e19\u0e49\u0e33", "\u0e43", "\u0e08"]),
    ],
)  # fmt: skip
def test_grapheme_clusters_are_those_of_unicode(word, expected):
    assert clusters(word) == expected


def test_jamo_take_syllables_apart_and_leave_other_letters():
    cut = Jamo().cut(["한글", "café"])
    assert ["".join(units) for units in units_of(cut)] == [
        f"<{unicodedata.normalize('NFD', '한글')}>", "<café>",
    ]  # fmt: skip
    assert len(units_of(cut)[0]) == 2 + 6


def test_morphs_come_from_the_file_and_other_words_are_one(tmp_path):
    path = tmp_path / "m.tsv"
    path.write_text("walking\twalk ing\r\n\nwalks\twalk s\nwalks\twal ks\n")
    read = read_morphs(path)
    made = units_of(read.cut(["walks", "walking", "run"]))
    assert made == [["<", "walk", "s", ">"], ["<", "walk", "ing", ">"], ["<", "run", ">"]]
    assert parse_morphs(read.lines(), path) == read == Morphs(read.table)


@pytest.mark.parametrize(
    ("content", "error", "said"),
    [
        (b"walking\twalk in\n", InputError, "'walk in' do not spell 'walking'"),
        (b"a\ta\nwalking walk ing\n", InputError, "line 2: expected a word, a tab and morphs"),
        (b"walking\t \n", InputError, "line 1: expected a word"),
        (b"a b\ta b\n", InputError, "line 1: expected a word"),
        (b" \n", InputError, "contains no words"),
        (b"\xff\t\xff", FormatError, "is not UTF-8"),
    ],
)
def test_a_segmentation_that_is_wrong_is_named(tmp_path, content, error, said):
    path = tmp_path / "m.tsv"
    path.write_bytes(content)
    with pytest.raises(error, match=said):
        read_morphs(path)

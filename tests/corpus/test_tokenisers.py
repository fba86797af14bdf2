"""Tokens in any script, for any block size and any number of threads."""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest
from corpora import put, read, reference_lower, reference_tokens
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wordgeom.corpus.inputs import readers
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import in_memory

FORMS = ("NFC", "NFKC", "none")

# Letters of every UTF-8 length, marks, joiners, digits, signs, separators in and beyond ASCII.
MIXED = "aZ09_ \n\t'-.\0éÅßİ\u0131ΣσςΆжЖ한글हि\u0301\u200d\u200c\ufeff\u00a0\u2028…»·東。𐐀😀²Ⅷǅ"
texts = st.text(st.one_of(st.sampled_from(MIXED), st.characters(exclude_categories=["Cs"])))


def tokens(
    path: Path, tokeniser: str = "words", threads: int = 1, form: str = "NFC"
) -> list[str | None]:
    options = CorpusOptions(tokeniser=tokeniser, normalise=form, document="file", min_count=1)
    return read([path], options, threads=threads).stream


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tokens")


@given(
    texts,
    st.integers(1, 9),
    st.integers(1, 3),
    st.sampled_from(["words", "whitespace"]),
    st.sampled_from(FORMS),
)
@example("a" + "ΣΟΦΟΣ» ΣΟΦΟΣ ΣΟΦΟΣ\u2028Σ aΣ", 3, 2, "words", "NFC")
def test_tokens_follow_the_definition_wherever_blocks_end(
    folder: Path, text: str, block: int, threads: int, tokeniser: str, form: str
):
    text = "first " + text
    (path,) = put(folder, text)
    expected = reference_tokens(text, tokeniser, form)
    assert tokens(path, tokeniser, form=form) == expected
    with patch.object(readers, "BLOCK", block):
        assert tokens(path, tokeniser, threads, form) == expected


@settings(max_examples=20)
@given(st.text(st.characters(categories=["Lu", "Ll"]), min_size=1))
def test_lower_case_is_that_of_python(word: str):
    assert reference_lower(word, "none") == word.lower()


def test_every_code_point_is_a_letter_or_a_separator_as_in_unicode(folder: Path):
    points = [chr(p) for p in range(sys.maxunicode + 1) if not 0xD800 <= p < 0xE000]
    (path,) = put(folder, " ".join(points))
    expected = Counter(
        c.lower()
        for c in points
        if unicodedata.category(c)[0] in "LMN"
        or unicodedata.category(c) == "Pc"
        or c in "\u200c\u200d"
    )
    options = CorpusOptions(min_count=1, normalise="none")
    assert read([path], options, threads=2).vocabulary == dict(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Привет, МИР! Ёж", "привет мир ёж"),
        ("한국어 텍스트를 읽는다.", "한국어 텍스트를 읽는다"),
        ("हिन्दी में क्‍ष", "हिन्दी में क्‍ष"),  # vowel signs, virama and joiner stay in the word
        # No locale: I and İ are i.
        ("İSTANBUL ISPARTA \u0131l\u0131k I\u0307", "istanbul isparta \u0131l\u0131k i"),
        ("ΟΔΥΣΣΕΥΣ» Σ ΣΑΣ", "οδυσσευς σ σας"),
        ("Straße ǅ Ⅷ x²", "straße ǆ ⅷ x²"),
        ("don't e-mail foo_bar 3.14", "don t e mail foo_bar 3 14"),
        ("wow😀great 👍🏽 ok", "wow great ok"),
        ("love\u2764\ufe0f it \u2764\ufe0f\u270c\ufe0e 1\ufe0f no\u2060break", "love it 1 nobreak"),
        ("東京。大阪、Kyōto", "東京 大阪 kyōto"),
        ("cafe\u0301 caf\u00e9 CAFE\u0301", "caf\u00e9 caf\u00e9 caf\u00e9"),
        ("H\u0331 \u1e96 h\u0331", "\u1e96 \u1e96 \u1e96"),  # composed in lower case only
        ("Vie\u0323\u0302t \u1112\u1161\u11ab", "việt 한"),
        (
            "co\u00adoperate zero\u200bwidth a\u200d\u200cb \u00ad x",
            "cooperate zerowidth a\u200d\u200cb x",
        ),
        ("ភាសា\u200bខ្មែរ\u200b\u200bល្អ ไทย\u200bok", "ភាសា ខ្មែរ ល្អ ไทย ok"),  # a word boundary
        ("a\r\nb\r\n\r\nc", "a b c"),
        ("a\u00a0b\u2028c\ufeffd\u200be", "a b cde"),
        ("\ufeffbom \ufeffmark", "bom mark"),
    ],
)
def test_words_of_many_scripts(folder: Path, text: str, expected: str):
    (path,) = put(folder, text)
    assert tokens(path) == expected.split(" ") == in_memory.words(text)


@pytest.mark.parametrize("text", ["AΣ1 x", "ΑΣ\u0301", "1Σ", "_Σ"])
def test_a_sigma_beside_digits_and_marks_differs_from_python(folder: Path, text: str):
    (path,) = put(folder, text)
    expected = [reference_lower(t) for t in text.split()]
    assert tokens(path) == expected != text.lower().split()


def test_whitespace_leaves_bytes_unchanged(folder: Path):
    text = "The\u00a0cat’s DON'T\x1c\x85 İ\0Σ\r\n\v\f e\u0301 \ufeff😀"
    (path,) = put(folder, text)
    expected = [t.decode() for t in text.encode().replace(b"\0", b" ").split()]
    assert tokens(path, "whitespace", form="none") == expected


@pytest.mark.parametrize("tokeniser", ["words", "whitespace"])
@pytest.mark.parametrize("block", [1, 2, 3, 4, 1 << 20])
def test_a_byte_order_mark_is_not_part_of_a_word(folder: Path, tokeniser: str, block: int):
    (path,) = put(folder, "\ufeffking\ufeff queen")
    with patch.object(readers, "BLOCK", block):
        first = tokens(path, tokeniser)[0]
    assert first == "king"


def test_many_types_of_many_lengths_stay_distinct(folder: Path):
    # In each thread more types and more bytes than a new lexicon has room for; words that share
    # their first eight bytes, and prefixes of each other.
    words = [f"prefixed{k % 7 * 'long'}{k}" for k in range(50_000)] + [
        "p" * k for k in range(1, 4096)
    ]
    (path,) = put(folder, " ".join(words + words[::-1]))
    with patch.object(readers, "BLOCK", 1 << 18):
        made = read([path], threads=3)
    assert list(made.vocabulary) == words
    assert set(made.vocabulary.values()) == {2}

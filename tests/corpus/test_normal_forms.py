"""Words do not depend on the Unicode form in which a text was written."""

from __future__ import annotations

import sys
import unicodedata
from dataclasses import replace
from itertools import product
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from corpora import assert_one_line, encode_files, put, read, reference_form, reference_tokens
from hypothesis import example, given
from hypothesis import strategies as st

from wordgeom.core.errors import InputError
from wordgeom.corpus.inputs import readers
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import in_memory, normal_forms
from wordgeom.corpus.tokens.lexicon_kernels import MAX_TOKEN
from wordgeom.corpus.tokens.normal_forms import COMPOSING, GROWTH, NONE, Normaliser
from wordgeom.corpus.tokens.normal_tables import Form
from wordgeom.matrices.count_request import made_options

_EVERY = [chr(p) for p in range(sys.maxunicode + 1) if not 0xD800 <= p < 0xE000]
_MARKS = [c for c in _EVERY if unicodedata.combining(c)]
_DECOMPOSED = [unicodedata.normalize("NFD", c) for c in _EVERY]
_SECONDS = sorted({parts[-1] for parts in _DECOMPOSED if len(parts) > 1})

_SCRIPTS = [
    "eéEaAọHTWYJK\u0301\u0300\u0302\u0303\u0308\u030a\u030c\u0323\u0327\u0331\u0316\u031b",
    "\u1100\u1112\u1161\u1175\u11a8\u11c2가각힣",
    "ViệtNguyễnươ\u0306\u0309",
    "\ufefb\ufe8d\ufed9\u0627\u0653\u0654\u0655\u064b\u0651\u0670",  # presentation forms
    "क\u093c\u094d\u200d\u200cषनर\u095f\u0931",
    "\u0995\u09be\u09c7\u09d7\u0bc6\u0bbe\u0cc6\u0cc2\u0cd5\u0dd9\u0dca\u0dcf",
    "İI\u0131i\u0307Σ\u0391σςΪΫ\u03a5\u0345\u0342\u0313",
    "\u00ad\ufeff\u200b\u200d\u200c\u2060",
    "ﬁ²½Å\u212b\u2126\u2260∃\u0338¨\u00b4…㎏\uff21\u00a0\u3000\U0001d15e\u2adc",
    "ខ្មែរไทยກ\u200bမြ",
    "=<>;'-_ \n\t\r\0",
]
_texts = st.lists(st.sampled_from("".join(_SCRIPTS) + " \n \u200b\u0301\u0338")).map("".join)
_scripts = st.sampled_from(_SCRIPTS).flatmap(lambda s: st.text(st.sampled_from(s + " \u0301")))


def vocabulary(path: Path, **options: str | int) -> dict[str, int]:
    return read([path], CorpusOptions.take({"min_count": 1, **options})).vocabulary


@given(
    st.one_of(_texts, _scripts),
    st.integers(1, 9),
    st.integers(1, 40),
    st.integers(1, 3),
    st.sampled_from(["words", "whitespace"]),
    st.sampled_from(["NFC", "NFKC"]),
)
@example("x =\u0338y", 3, 1, 2, "words", "NFC")
@example("x = \u0338y\u00ad\u0301", 3, 1, 2, "words", "NFC")
def test_words_are_those_of_the_normalised_text(
    tmp_path_factory: pytest.TempPathFactory,
    text: str,
    block: int,
    stretch: int,
    threads: int,
    tokeniser: str,
    form: Form,
):
    text = "first " + text.replace("\0", "")  # a text with zeros is refused, as another encoding
    (path,) = put(tmp_path_factory.mktemp("form"), text)
    options = CorpusOptions(tokeniser=tokeniser, normalise=form, document="file", min_count=1)
    expected = reference_tokens(text, tokeniser, form)
    with patch.object(readers, "BLOCK", block), patch.object(normal_forms, "_STRETCH", stretch):
        assert read([path], options, threads=threads).stream == expected
    assert expected == [unicodedata.normalize(form, token) for token in expected]
    if tokeniser == "words" and form == "NFC":
        assert in_memory.words(text) == expected


@given(
    st.lists(st.one_of(_texts, _scripts, st.integers(0, 200).map("가é".__mul__))).map("".join),
    st.sampled_from(["NFC", "NFKC"]),
)
def test_a_text_that_is_not_normal_is_found(text: str, form: Form):
    # Long stretches without a mark are skipped, wherever they end.
    normal = Normaliser(form, lower=False).encoded(("x " + text).encode()).decode()
    assert normal == reference_form("x " + text, form)


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_every_character_and_every_pair_that_can_compose_is_checked(form: Form):
    normaliser = Normaliser(form, lower=False)
    starts = [c for c in _EVERY if unicodedata.decomposition(c) or c.isalpha()]
    some = np.random.default_rng(1).choice(starts, 1000)
    latin = [chr(p) for p in range(0x20, 0x250)]
    pairs = [a + b for a, b in product([*some, *latin], _SECONDS[:400])]
    marks = [a + b + c for a, b, c in product("eâḤ", _MARKS[:120], _MARKS[:120])]
    for pieces in (_EVERY, pairs, marks):
        text = "\n".join(f"a {piece} b" for piece in pieces if "\n" not in piece)
        for line, normal in zip(
            text.split("\n"), normaliser.encoded(text.encode()).decode().split("\n"), strict=True
        ):
            assert normal == reference_form(line, form)


def test_lower_case_is_normalised_for_every_capital_and_mark():
    capitals = [c for c in _EVERY if c.lower() != c]
    text = "\n".join(a + b for a, b in product(capitals, [c for c in _SECONDS if c in _MARKS]))
    words = in_memory.words(Normaliser("NFC", lower=True).encoded(text.encode()).decode())
    assert [ascii(word) for word in words if not unicodedata.is_normalized("NFC", word)] == []


def test_text_that_is_normal_is_returned_as_it_is():
    # Scripts in which letters are followed by marks that could compose with others.
    lines = [
        "Tiếng Việt được viết bằng chữ Quốc ngữ",
        "தமிழ் மொழி கொடை",
        "বাংলা ভাষা ড়া",
        "हिन्दी क़ानून क्‍ष",
        "한국어 각하",
        "עִבְרִית שָׁלוֹם",
        "العَرَبِيَّة آب مؤمن",
        "Yorùbá ọ̀rọ̀ ẹ́",
        "Ἑλληνική ᾧ",
    ]
    for line in lines:
        text = unicodedata.normalize("NFC", line).encode()
        for lower in (False, True):
            assert Normaliser("NFC", lower).encoded(text) is text


def test_the_separators_that_compose_and_the_growth_are_those_of_unicode():
    composing = {c for c in map(chr, range(128)) if not c.isalnum()}
    composing = {
        c for c in composing if any(len(unicodedata.normalize("NFC", c + m)) == 1 for m in _MARKS)
    }
    assert composing == set(COMPOSING.decode())
    for form in ("NFC", "NFKC"):
        for c in _EVERY:
            assert len(unicodedata.normalize(form, c).encode()) < GROWTH * len(c.encode())
            assert c == "\n" or "\n" not in unicodedata.normalize(form, c)


def test_one_word_in_two_forms_is_one_row(tmp_path: Path):
    text = "Un café noir, un cafe\u0301 crème; CAFE\u0301!\r\nLe cafe\u0301.\r\n"
    (path,) = put(tmp_path, text)
    assert vocabulary(path)["café"] == 4
    kept = vocabulary(path, normalise=NONE)
    assert (kept["café"], kept["cafe\u0301"]) == (1, 3)


def test_nfkc_replaces_ligatures_and_widths(tmp_path: Path):
    (path,) = put(tmp_path, "ﬁnd ﬁne \uff21\uff22\uff23 x² ㎏ a\u00a0b")
    expected = ["find", "fine", "abc", "x2", "kg", "a", "b"]
    assert list(vocabulary(path, normalise="NFKC")) == expected
    split = vocabulary(path, normalise="NFKC", tokeniser="whitespace")
    assert list(split)[-2:] == ["a", "b"]
    assert "ﬁne" in vocabulary(path)


def test_none_leaves_the_text_unchanged(tmp_path: Path):
    (path,) = put(tmp_path, "cafe\u0301 co\u00adop İ a\u200bb")
    assert list(vocabulary(path, normalise=NONE)) == ["cafe\u0301", "co", "op", "i\u0307", "a", "b"]


def test_word_lists_are_normalised_as_the_text_is(tmp_path: Path):
    text, words, stop, keep = put(
        tmp_path,
        "the café naïve café e\u0301te\u0301 x",
        "cafe\u0301\ncafé\t3\nx\nnai\u0308ve\n",
        "cafe\u0301\ncafé\nthe\n",
        "e\u0301te\u0301\n",
    )
    options = CorpusOptions(read_vocab=str(words))
    assert read([text], options).vocabulary == {"café": 2, "x": 1, "naïve": 1}
    assert encode_files([text], options, gap=1).notes == [
        "--read-vocab: 2 of the 4 words ('cafe\u0301', 'nai\u0308ve') read in the Unicode form NFC",
        "--read-vocab: 1 word equals an earlier one in NFC and has no row of its own",
    ]
    options = CorpusOptions(min_count=2, stop_words=str(stop), keep_words=str(keep))
    assert read([text], options).vocabulary == {"été": 1}
    assert encode_files([text], options, gap=1).notes == [
        "--stop-words: 1 of the 3 words ('cafe\u0301') read in the Unicode form NFC",
        "--stop-words: 1 repeated word ignored",
        "--keep-words: 1 of the 1 words ('e\u0301te\u0301') read in the Unicode form NFC",
    ]
    raw = CorpusOptions(min_count=1, stop_words=str(stop), normalise=NONE)
    assert list(read([text], raw).vocabulary) == ["naïve", "e\u0301te\u0301", "x"]


@pytest.mark.parametrize("long", ["e\u0301" * MAX_TOKEN, "x" + "\u0958" * 1000])
def test_a_token_that_is_too_long_is_located_in_the_file(tmp_path: Path, long: str):
    start = "\ufeffcafe\u0301 " * 3000 + "un café\n"
    (path,) = put(tmp_path, start + long + " e\u0301")
    with pytest.raises(InputError) as caught:
        read([path])
    assert_one_line(caught, path, f"the token at byte {len(start.encode()):,} has ")


def test_longer_normalised_text_keeps_the_order_of_first_occurrence(tmp_path: Path):
    # U+0958 takes twice the bytes in NFC, U+FDFA eleven times in NFKC.
    for form, char in (("NFC", "\u0958"), ("NFKC", "\ufdfa")):
        texts = [f"{char * 30} a{k} {char * 20} " for k in range(30)]
        (path,) = put(tmp_path, "".join(texts))
        expected = list(dict.fromkeys(reference_tokens("".join(texts), "words", form)))
        with patch.object(readers, "BLOCK", 64):
            made = read([path], CorpusOptions(min_count=1, normalise=form), threads=3)
        firsts = [word for word in made.vocabulary if made.vocabulary[word] == 1]
        assert firsts == [word for word in expected if word in firsts]


def test_counts_made_before_the_option_were_not_normalised():
    assert made_options({"options": {}})["normalise"] == NONE


@pytest.mark.parametrize("tokeniser", ["words", "whitespace"])
def test_a_change_anywhere_in_a_block_leaves_counts_and_documents_right(
    tmp_path: Path, tokeniser: str
):
    # The rest of a block is normalised from the first token that may change.
    lines = [
        "un café noir",
        "",
        "=\u0338 x",
        "",
        "cafe\u0301",
        "",
        "ដី។\u200bខ្មែរ ∃\u0338",
        "a-\u00ad b",
    ]
    for first in range(len(lines)):
        text = "\n".join(lines[first:] + lines[:first]) + "\nun"
        path, normal = put(tmp_path, text, reference_form(text, "NFC"))
        for document in ("line", "block", "file"):
            options = CorpusOptions(min_count=1, tokeniser=tokeniser, document=document)
            expected = read([normal], replace(options, normalise=NONE))
            for block in (1, 7, 1 << 20):
                with patch.object(readers, "BLOCK", block):
                    made = read([path], options)
                assert (made.vocabulary, made.stream) == (expected.vocabulary, expected.stream)

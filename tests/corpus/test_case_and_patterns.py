"""Case, patterns for tokens, and text with tags, entities and emphasis."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from unittest.mock import patch

import pytest
from corpora import assert_one_line, encode_files, put, read, reference_lower
from hypothesis import example, given
from hypothesis import strategies as st

from wordgeom.core.errors import InputError, OptionError
from wordgeom.corpus.inputs import readers
from wordgeom.corpus.inputs.input_warnings import input_warnings, markup_in
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import formats
from wordgeom.corpus.tokens.markup import stripper
from wordgeom.matrices.count_request import made_options

REVIEWS = (
    "A <b>Great</b> movie.<br /><br />I didn&#39;t sleep &amp; I don't care!\n"
    'If a < b and c > d, then <a href="http://x.org/a_b">follow\xa0it</a>.\n'
    "&lt;i&gt;No&lt;/i&gt; H<sub>2</sub>O, AT&T &amp;quot;x&amp;quot; <3 a<b and c>d\n"
)
WIKI = (
    '<doc id="12" url="https://en.wikipedia.org/wiki?curid=12" title="The "Great" > War">\n'
    "The Great War\n\nIt began in 1914.\n</doc>\n"
    '<doc id="25" url="https://en.wikipedia.org/wiki?curid=25" title="Autism">\nAutism\n</doc>\n'
)


def stream(path: Path, **options: object) -> list[str | None]:
    given = {"document": "file", "min_count": 1, **options}
    return read([path], CorpusOptions.take(given)).stream


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "the οδος istanbul οδος straße don t"),
        ({"case": "keep"}, "The ΟΔΟΣ İSTANBUL ΟΔΟΣ Straße DON T"),
        ({"tokeniser": "whitespace"}, "The ΟΔΟΣ, İSTANBUL «ΟΔΟΣ» Straße DON'T"),
        ({"tokeniser": "whitespace", "case": "lower"}, "the οδος, istanbul «οδος» straße don't"),
        ({"token_pattern": r"\w+(?:'\w+)?"}, "the οδος istanbul οδος straße don't"),
        ({"token_pattern": r"\b[A-Z]\w+", "case": "keep"}, "The Straße DON"),
        ({"token_pattern": r"\b(\w)\w*'"}, "d"),
        ({"token_pattern": r"The \w+"}, "the_οδος"),
    ],
)
def test_case_with_every_tokeniser(tmp_path: Path, options: dict[str, str], expected: str):
    (path,) = put(tmp_path, "The ΟΔΟΣ, İSTANBUL «ΟΔΟΣ» Straße DON'T")
    assert stream(path, **options) == expected.split()


def test_lower_case_of_sequences(tmp_path: Path):
    (path,) = put(tmp_path, "ACGTacgt\n")
    options = {"tokeniser": "kmer", "k": 4, "document": "line"}
    assert set(stream(path, **options)) >= {"ACGT", "acgt"}
    assert "ACGT" not in stream(path, **options, case="lower")


def test_the_case_is_resolved_and_old_counts_have_that_of_their_tokeniser(tmp_path: Path):
    (path,) = put(tmp_path, "a")
    for tokeniser, case in (("words", "lower"), ("whitespace", "keep"), ("kmer", "keep")):
        given = CorpusOptions(tokeniser=tokeniser)
        assert formats.resolve([str(path)], given).case == case
        assert made_options({"options": {"tokeniser": tokeniser}})["case"] == case


@given(
    st.text(st.sampled_from("aΣσ\u0391Bé_ .,'\n\u0301İ")),
    st.integers(1, 9),
    st.sampled_from(["NFC", "none"]),
)
def test_white_space_tokens_in_lower_case(
    tmp_path_factory: pytest.TempPathFactory, text: str, block: int, form: str
):
    (path,) = put(tmp_path_factory.mktemp("case"), "first " + text)
    options = {"tokeniser": "whitespace", "normalise": form}
    kept = stream(path, **options)
    words = [
        "".join(map(lambda t: reference_lower(t, form), re.split(r"([ .,']+)", token)))
        for token in kept
        if token is not None
    ]
    if form == "NFC":
        words = [unicodedata.normalize("NFC", word) for word in words]
    with patch.object(readers, "BLOCK", block):
        assert stream(path, **options, case="lower") == words


def test_tags_entities_and_emphasis_are_removed(tmp_path: Path):
    reviews, wiki = put(tmp_path, REVIEWS, WIKI)
    expected = (
        "a great movie i didn t sleep i don t care if a b and c d then follow it"
        " no h2o at t x 3 a b and c d"
    )
    found = read([reviews], CorpusOptions(strip="tags", min_count=1))
    assert [t for t in found.stream if t is not None] == expected.split()
    assert found.documents == 3
    expected = "the great war it began in 1914 autism"
    assert stream(wiki, strip="all") == expected.split()
    (path,) = put(
        tmp_path, "It is _not so_, said __init__ of snake_case _cafe\u0301_ की_बात a__b ___"
    )
    expected = "it is not so said init of snake_case café की_बात a__b"
    assert stream(path, strip="emphasis") == expected.split()
    split = stream(path, strip="emphasis", tokeniser="whitespace")
    assert split[3:5] == ["so,", "said"]


_PIECES = [
    "<b>", "</b>", '<a href="x y">', "<a\nhref=x\nid=y>", "<br />", " < ", "<", ">", "a<b", " ",
    "\n", "\n\n", "word", "_", "&amp;", "&lt;p class=x&gt;", "&amp;lt;br/&amp;gt;", "&", ";", '"',
    "<!-- no -->", "&nbsp;", "é\u0301",
    '<doc id="1" url="u v" title="a > "b" c">', '<doc id="1" url="u" title="a', '">', "&#10;",
]  # fmt: skip


@given(
    st.lists(st.sampled_from(_PIECES)).map("".join),
    st.sampled_from(["tags", "all"]),
    st.sampled_from(["line", "block", "file"]),
    st.sampled_from([{}, {"tokeniser": "whitespace"}, {"token_pattern": r"\S+"}]),
    st.integers(1, 30),
)
@example('<a href="x y">word<b', "tags", "file", {}, 1)
def test_stripped_text_does_not_depend_on_blocks(
    tmp_path_factory: pytest.TempPathFactory,
    text: str,
    strip: str,
    document: str,
    how: dict[str, str],
    block: int,
):
    text = "first " + text
    strip_all = stripper(strip, lines=document == "line")
    assert strip_all is not None
    assert strip_all(text).count("\n") == text.count("\n")
    path, plain = put(tmp_path_factory.mktemp("strip"), text, strip_all(text))
    options = {"document": document, **how}
    expected = stream(plain, **options)
    for size in (block, 1 << 20):
        with patch.object(readers, "BLOCK", size):
            assert stream(path, strip=strip, **options) == expected


@given(
    st.text(st.sampled_from("ab 1-'\n\t\xa0é\u0301")),
    st.sampled_from([r"\w+", r"\b\w\w+\b", r"[a-z]+ [a-z]+", r"\S+", r"(?<=a)b|(1)", r".{2}"]),
    st.integers(1, 9),
)
def test_tokens_are_the_matches_in_each_line(
    tmp_path_factory: pytest.TempPathFactory, text: str, pattern: str, block: int
):
    (path,) = put(tmp_path_factory.mktemp("pattern"), "ab abb\n" + text)
    lines = ("ab abb\n" + text).split("\n")
    found = [m for line in lines for m in re.findall(pattern, line) if m]
    expected = [re.sub(r"\s", "_", m) for m in found]
    with patch.object(readers, "BLOCK", block):
        made = stream(path, token_pattern=pattern, normalise="none") if expected else []
    assert made == expected


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("[a-z", "--token-pattern is not a regular expression: [a-z; correct it: "),
        (r"\w*", "matches the empty text"),
        (r"(?=a)", "matches the empty text"),
        (r"\b", "matches the empty text"),
        (r"(a)(b)", "has 2 groups"),
    ],
)
def test_patterns_that_cannot_be_used_are_rejected(pattern: str, message: str):
    with pytest.raises(OptionError) as caught:
        CorpusOptions(token_pattern=pattern)
    assert_one_line(caught, message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokeniser": "kmer", "token_pattern": "a"}, "--token-pattern has no effect on k-mers"),
        ({"tokeniser": "kmer", "strip": "tags"}, "--strip has no effect on k-mers"),
        ({"tokeniser": "kmer", "normalise": "NFKC"}, "--normalise has no effect on k-mers"),
        ({"tokeniser": "whitespace", "token_pattern": "a"}, "are mutually exclusive"),
    ],
)
def test_contradictory_options_are_rejected(tmp_path: Path, options: dict[str, str], message: str):
    (path,) = put(tmp_path, "a")
    with pytest.raises(OptionError) as caught:
        formats.resolve([str(path)], CorpusOptions.take(options))
    assert_one_line(caught, message)


def test_markup_in_the_input_is_noticed_once(tmp_path: Path):
    book = "It was _very_ late, and _so_ it was; she said _no_ to that.\n" * 3
    reviews, wiki, novel = put(tmp_path, REVIEWS, WIKI * 2, book)
    encoded = encode_files([reviews, wiki, novel], CorpusOptions(min_count=1), gap=1)
    (note,) = input_warnings(encoded.sources)
    assert note == (
        f"{reviews} contains tags or entities such as <b>, read as text;"
        " pass --strip all to remove them (also 2 other files)"
    )
    assert input_warnings(encoded.sources, "all") == []
    (note,) = input_warnings(encoded.sources[:1])
    assert note.endswith("read as text; pass --strip tags to remove them")
    (note,) = input_warnings(encoded.sources, "tags")
    assert note.startswith(f"{novel} contains emphasis such as _so_, read")
    assert markup_in(b"<s id='1'><w n='1'>Haus</w><w>und</w></s>\n</TEI>") == {"tags": "</w>"}
    for plain in (
        "<s> a b </s>\n" * 9,
        "a < b and c > d\n" * 9,
        "snake_case and x <unk> y\n" * 9,
        "R&D AT&T _\n" * 9,
    ):
        assert markup_in(plain.encode()) == {}


def test_markup_in_records_is_noticed(tmp_path: Path):
    path = tmp_path / "reviews.jsonl"
    path.write_text('{"text": "Good.<br /><br />Bad."}\n' * 3, encoding="utf-8")
    encoded = encode_files([path], CorpusOptions(min_count=1), gap=1)
    assert encoded.sources[0].markup == {"tags": "<br />"}


HINDI = "हिन्दी में क़ानून है। भाषा की पढ़ाई\n"


def test_a_pattern_that_cuts_words_at_marks_is_noticed(tmp_path: Path):
    hindi, persian, cafe = put(tmp_path, HINDI, "می‌خواهم می‌روم نمی‌دانم\n", "cafe\u0301 été\n" * 9)
    encoded = encode_files([hindi, persian, cafe], CorpusOptions(token_pattern=r"\w+"), gap=1)
    (note,) = input_warnings(encoded.sources)
    assert note == (
        f"{hindi}: --token-pattern cuts words at their marks, such as हिन्दी; "
        r"\w does not match marks, [\w\u0902-\u094d] matches those found (also 1 other file)"
    )
    assert [source.cut.get("marks") for source in encoded.sources[1:]] == [r"\u200c", None]


@pytest.mark.parametrize("pattern", [r"[\w\u0902-\u094d]+", r"\S+", r"[^\s।]+"])
def test_patterns_that_match_marks_are_not_warned_of(tmp_path: Path, pattern: str):
    (path,) = put(tmp_path, HINDI)
    encoded = encode_files([path], CorpusOptions(token_pattern=pattern, min_count=1), gap=1)
    assert input_warnings(encoded.sources) == []
    words = read([path], CorpusOptions(min_count=1)).stream
    if pattern != r"\S+":
        assert stream(path, token_pattern=pattern) == words


def test_a_pattern_without_matches_is_named(tmp_path: Path):
    (path,) = put(tmp_path, "some words\n")
    with pytest.raises(InputError) as caught:
        stream(path, token_pattern="zzz")
    assert_one_line(caught, path, "contains no words in 11 bytes; check --token-pattern")


def test_a_line_that_is_too_long_for_a_pattern_is_rejected(tmp_path: Path):
    (path,) = put(tmp_path, "word " * 2000)
    with (
        patch.object(readers, "_UNBROKEN", 1000),
        patch.object(readers, "BLOCK", 600),
        pytest.raises(InputError) as caught,
    ):
        stream(path, token_pattern=r"\w+")
    assert_one_line(caught, path, "the line at byte 0 has more than", "--token-pattern applies")

"""Stop words have no row, words to keep have one; words without effect are reported."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest
from corpora import (
    assert_one_line,
    encode_files,
    put,
    read,
    reference_documents,
    reference_stream,
    with_gaps,
)
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.core.errors import FormatError, InputError, MissingInputError, OptionError
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import lexicon

_words = st.sampled_from(["a", "b", "c", "d", "e", "never"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("chosen")


@given(
    st.lists(st.sampled_from(["a ", "a ", "b ", "c ", "d ", "e ", "\n"]), min_size=9, max_size=40),
    st.sets(_words, max_size=3),
    st.sets(_words, max_size=3),
    st.integers(1, 3),
    st.integers(0, 4),
    st.sampled_from(["keep", "drop"]),
    st.sampled_from([2, 1 << 15]),
)
def test_stop_words_have_no_row_and_kept_words_one(
    folder: Path,
    pieces: list[str],
    stop: set[str],
    keep: set[str],
    least: int,
    most: int,
    oov: str,
    types: int,
):
    keep -= stop
    text, stops, keeps = put(folder, "".join(pieces), "\n".join(stop), "\n".join(keep))
    options = CorpusOptions(
        min_count=least, max_vocab=most, oov=oov, stop_words=str(stops), keep_words=str(keeps)
    )
    documents = reference_documents(["".join(pieces)], "words", "line")
    tokens = [token for document in documents for token in document]
    ranked = sorted(dict.fromkeys(tokens), key=lambda word: -tokens.count(word))
    room = max(most - len(keep & set(tokens)), 0) if most else len(ranked)
    able = [w for w in ranked if w not in stop | keep and tokens.count(w) >= least][:room]
    expected = {w: tokens.count(w) for w in ranked if w in keep or w in able}
    with patch.object(lexicon, "_INITIAL_TYPES", types):  # with 2, most text is spilled
        if not expected:
            with pytest.raises(InputError):
                read([text], options, memory=1 << 20)
            return
        made = read([text], options, memory=1 << 20)
    assert list(made.vocabulary.items()) == list(expected.items())
    assert made.stream == with_gaps(reference_stream(documents, expected, options, 1))
    assert made.tokens == len(tokens)


@pytest.mark.parametrize("other", ["stop_words", "keep_words"])
def test_a_fixed_vocabulary_excludes_word_lists(folder: Path, other: str):
    text, words = put(folder, "a b", "a\n")
    with pytest.raises(OptionError) as caught:
        read([text], CorpusOptions.take({"read_vocab": str(words), other: str(words)}))
    assert_one_line(caught, f"--{other.replace('_', '-')} and --read-vocab", "; omit one of them")


def test_a_word_cannot_be_in_both_lists(folder: Path):
    text, stops, keeps = put(folder, "a b", "x\nb\n", "a\nb\n")
    with pytest.raises(OptionError) as caught:
        read([text], CorpusOptions(stop_words=str(stops), keep_words=str(keeps)))
    assert_one_line(caught, "the word 'b' is in both --stop-words and --keep-words; remove it")


def test_a_missing_or_invalid_word_list_is_rejected(folder: Path):
    text, words = put(folder, "a b", "a\n\n\t1\nb")
    with pytest.raises(MissingInputError) as missing:
        read([text], CorpusOptions(stop_words=str(folder / "none")))
    assert_one_line(missing, folder / "none", "no such file")
    with pytest.raises(FormatError) as invalid:
        read([text], CorpusOptions(keep_words=str(words)))
    assert_one_line(invalid, words, "line 3: empty word")


def test_stopping_every_word_is_an_error_of_one_line(folder: Path):
    text, stops = put(folder, "a b a", "a\nb\n")
    with pytest.raises(InputError) as caught:
        read([text], CorpusOptions(min_count=1, stop_words=str(stops)))
    assert_one_line(
        caught, text, "no word except stop words occurs 1 times", "or shorten --stop-words"
    )


def notes(text: Path, options: CorpusOptions) -> list[str]:
    return encode_files([text], options, gap=1).notes


def test_words_without_effect_are_reported(folder: Path):
    text, stops, keeps = put(folder, "the end of it", "The\nof\ndon't\nthe\n", "it\nking\nend\n")
    options = CorpusOptions(min_count=1, stop_words=str(stops), keep_words=str(keeps))
    assert notes(text, options) == [
        "2 of the 4 words ('The', \"don't\") in --stop-words can never match a token;"
        " list words as the tokeniser writes them, in lower case",
        "not in the text: 1 of the 3 words ('king') in --keep-words",
    ]
    cased = CorpusOptions(case="keep", min_count=1, stop_words=str(stops))
    (note,) = notes(text, cased)
    assert note.endswith("can never match a token; list words as the tokeniser writes them")
    unchanged = CorpusOptions(tokeniser="whitespace", min_count=1, stop_words=str(stops))
    assert notes(text, unchanged) == []


def test_many_words_without_effect_are_reported_by_the_first(folder: Path):
    text, keeps = put(folder, "a b", "".join(f"w{k}\n" for k in range(2000)))
    (note,) = notes(text, CorpusOptions(min_count=1, keep_words=str(keeps)))
    assert note.startswith(
        "not in the text: 2,000 of the 2,000 words ('w0', 'w1', 'w2', …) in --keep-words"
    )


def test_word_lists_ignore_spaces_blank_lines_and_repeats(folder: Path):
    asked = {"stop_words": "\ufeffthe\r\n\n  of \nthe\t7\nof", "keep_words": " \n it\n"}
    text, *paths = put(folder, "the end of it", *asked.values())
    made = dict(zip(asked, map(str, paths), strict=True))
    assert read([text], CorpusOptions.take({"min_count": 1, **made})).vocabulary == {
        "end": 1,
        "it": 1,
    }
    repeats = "--stop-words: 2 repeated words ignored"
    assert notes(text, CorpusOptions.take({"min_count": 1, **made})) == [repeats]


def test_a_vocabulary_may_have_blank_lines_but_no_repeats(folder: Path):
    text, words, twice = put(folder, "b a", "\n a\t3\n\nb \r\n", "a\n\n a\n")
    assert list(read([text], CorpusOptions(read_vocab=str(words))).vocabulary) == ["a", "b"]
    with pytest.raises(FormatError) as caught:
        read([text], CorpusOptions(read_vocab=str(twice)))
    assert_one_line(caught, twice, "line 3: the word 'a' is repeated")

"""N-grams: those of words by brute force, the dictionary, fastText's buckets, and their shares."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.core.errors import InputError, OptionError
from wordgeom.subwords.buckets import Buckets
from wordgeom.subwords.counting import count_ngrams
from wordgeom.subwords.dictionary import Dictionary
from wordgeom.subwords.lengths import Lengths
from wordgeom.subwords.ngrams import ngrams_of
from wordgeom.subwords.options import SubwordOptions
from wordgeom.subwords.units.codepoints import CodePoints
from wordgeom.subwords.units.utf8 import Utf8

LETTERS = st.sampled_from("abcé한\U0001f600")
WORDS = st.lists(st.text(LETTERS, min_size=1, max_size=9), min_size=1, max_size=30, unique=True)
LENGTHS = st.tuples(st.integers(1, 7), st.integers(1, 7)).map(sorted).map(lambda e: Lengths(*e))


def brute(word, lengths):
    """Return the n-grams of a word, as fastText's computeSubwords lists them."""
    text = f"<{word}>"
    spans = [(i, i + n) for i in range(len(text)) for n in range(lengths.low, lengths.high + 1)]
    return [text[a:b] for a, b in spans
            if b <= len(text) and not (b == a + 1 and (a == 0 or b == len(text)))]  # fmt: skip


def dense(shares):
    made = np.zeros((shares.rows, shares.columns))
    made[shares.entry_rows, shares.indices] = shares.data
    return made


def fnv(ngram, buckets):
    mixed = 2166136261
    for byte in ngram.encode():
        signed = byte if byte < 128 else byte - 256
        mixed = ((mixed ^ (signed & 0xFFFFFFFF)) * 16777619) & 0xFFFFFFFF
    return mixed % buckets


@given(WORDS, LENGTHS, st.integers(1, 3))
def test_the_shares_are_those_of_brute_force(words, lengths, least):
    lists = [brute(word, lengths) for word in words]
    holders = Counter(ngram for own in lists for ngram in set(own))
    options = SubwordOptions(subwords=str(lengths), min_words=least)
    kept = [ngram for ngram, number in holders.items() if number >= least]
    if not kept:
        with pytest.raises(InputError, match="no n-gram"):
            count_ngrams(words, CodePoints(), options)
        return
    index, shares = count_ngrams(words, CodePoints(), options)
    assert isinstance(index, Dictionary)
    names = index.lines().split("\n")[:-1]
    assert sorted(names) == sorted(kept)
    expected = [[own.count(ngram) / max(1, len(own)) for ngram in names] for own in lists]
    np.testing.assert_allclose(dense(shares), expected, rtol=1e-6)


@given(WORDS, LENGTHS, st.sampled_from([7, 1000, 2**31 - 1]))
def test_buckets_are_those_of_fasttext(words, lengths, number):
    ngrams = ngrams_of(words, Utf8(), lengths)
    expected = [fnv(ngram, number) for word in words for ngram in brute(word, lengths)]
    assert Buckets(number).find(ngrams).tolist() == expected
    if not expected:
        return
    options = SubwordOptions(subwords=str(lengths), min_words=1, buckets=number)
    index, shares = count_ngrams(words, options.opened_unit(), options)
    assert isinstance(index, Buckets)
    assert index.used is not None
    assert index.used.tolist() == sorted(set(expected))
    np.testing.assert_array_equal(index.find(ngrams), np.searchsorted(index.used, expected))
    totals = [float(len(brute(word, lengths)) > 0) for word in words]
    np.testing.assert_allclose(dense(shares).sum(axis=1), totals, rtol=1e-6)


def test_a_known_hash():
    """The value of fastText's Dictionary::hash in C++ for a word beyond ASCII."""
    assert fnv("<é", 2**32) == int(np.uint32(fnv("<é", 2**32)))
    assert fnv("a", 2**32) == 0xE40C292C  # FNV-1a's own test vector
    assert fnv("foobar", 2**32) == 0xBF9CF968


@given(WORDS)
def test_a_dictionary_survives_its_lines_and_growth(words):
    lengths, grown = Lengths(1, 4), Dictionary.empty()
    numbers = [grown.add(ngrams_of([word], CodePoints(), lengths)) for word in words]
    every = np.concatenate(numbers)
    assert len(grown) == len(set(every.tolist()))
    assert Dictionary.of_lines(grown.lines()).lines() == grown.lines()
    half = np.arange(0, len(grown), 2)
    for word, own in zip(words, numbers, strict=True):
        ngrams = ngrams_of([word], CodePoints(), lengths)
        np.testing.assert_array_equal(Dictionary.of_lines(grown.lines()).find(ngrams), own)
        expected = np.where(own % 2 == 0, own // 2, -1)
        np.testing.assert_array_equal(grown.keep(half).find(ngrams), expected)
    assert (Dictionary.empty().find(ngrams_of(["abc"], CodePoints(), lengths)) == -1).all()


@pytest.mark.parametrize("text", ["6-3", "0-3", "3-", "-3", "a", "3-99", "", "3-4-5", "٣"])
def test_lengths_that_are_none_are_refused(text):
    with pytest.raises(OptionError, match="--subwords must be"):
        Lengths.parsed(text)


def test_words_shorter_than_every_ngram_have_none():
    _, shares = count_ngrams(["a", "abcd"], CodePoints(), SubwordOptions(subwords="4", min_words=1))
    assert np.diff(shares.indptr).tolist() == [0, 3]

"""Nearest neighbours against Gensim, against the formula, and in degenerate cases."""

from __future__ import annotations

import numpy as np
import pytest

from wordgeom.core.errors import InputError, OptionError
from wordgeom.vectors.keyed import Vectors, to_keyed_vectors
from wordgeom.vectors.nearest import analogy, similar


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    matrix = np.random.default_rng(3).standard_normal((9000, 20)).astype(np.float32)
    return Vectors([f"word{row}" for row in range(len(matrix))], matrix)


@pytest.mark.parametrize(
    ("positive", "negative"),
    [
        (["word0"], []),
        (["word1", "word8999"], []),
        (["word1", "word2"], ["word3"]),
        ([], ["word4"]),
        (["word5", "word5"], ["word6", "word7"]),
    ],
)
def test_agrees_with_gensim(vectors, positive, negative):
    theirs = to_keyed_vectors(vectors).most_similar(positive, negative, topn=25)
    ours = similar(vectors, positive, negative, top=25)
    assert [word for word, _ in ours] == [word for word, _ in theirs]
    assert np.allclose([c for _, c in ours], [c for _, c in theirs], atol=1e-6, rtol=0)


def test_analogy_is_b_less_a_plus_c():
    words = ["man", "king", "woman", "queen", "apple"]
    matrix = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1], [1, 0, -1]], np.float32)
    vectors = Vectors(words, matrix)
    assert analogy(vectors, "man", "king", "woman", top=1)[0][0] == "queen"
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    query = unit[1] - unit[0] + unit[2]
    cosine = unit[3] @ query / np.linalg.norm(query)
    assert analogy(vectors, "man", "king", "woman")[0][1] == pytest.approx(cosine, abs=1e-6)


def test_one_word_needs_no_list(vectors):
    assert similar(vectors, "word0") == similar(vectors, ["word0"])
    assert similar(vectors, ["word1"], "word0") == similar(vectors, ["word1"], ["word0"])


def test_ties_are_in_order_of_rows():
    vectors = Vectors(list("abcd"), np.array([[1, 0], [2, 0], [0, 1], [3, 0]], np.float32))
    assert similar(vectors, ["a"]) == [("b", 1.0), ("d", 1.0), ("c", 0.0)]


def test_vectors_without_direction_are_no_neighbours():
    rows = [[1, 0], [0, 0], [-1, 0], [np.nan, 1], [np.inf, 0], [0, 1]]
    vectors = Vectors(list("abcdef"), np.array(rows, np.float32))
    assert similar(vectors, ["a"]) == [("f", 0.0), ("c", -1.0)]
    assert similar(vectors, ["a"], top=1) == [("f", 0.0)]


@pytest.mark.parametrize("scale", [1e-42, 1e-30, 1e37])
def test_the_scale_does_not_matter(scale):
    matrix = np.array([[1, 0], [1, 1], [-1, 0]], np.float32) * np.float32(scale)
    vectors = Vectors(list("abc"), matrix)
    answer = similar(vectors, ["a"])
    assert [word for word, _ in answer] == ["b", "c"]
    assert [c for _, c in answer] == pytest.approx([0.5**0.5, -1], abs=1e-6)


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("Word12", "did you mean word12?"),
        ("word1 word2", "pass its 2 words separately"),
        ("wrd8", "did you mean word8?"),
        ("ξ", "no word has a similar spelling; try another"),
    ],
)
def test_an_unknown_word_is_named(vectors, word, advice):
    with pytest.raises(InputError) as error:
        similar(vectors, ["word0", word])
    line = str(error.value)
    assert repr(word) in line
    assert advice in line
    assert len(line) < 200


@pytest.mark.parametrize(
    ("positive", "negative", "line"),
    [
        ([], [], "the query has no word; name one or more"),
        (["a"], ["b"], "the vectors of 'a' and 'b' cancel each other; choose other words"),
        (["c"], [], "the vector of 'c' is zero; choose other words"),
        (["a", "c"], [], "the vector of 'c' is zero; choose other words"),
        (["a", "d"], [], "the vector of 'd' contains NaN or infinity; choose other words, or drop"),
        (["d"], ["e", "d"], "3 vectors contain NaN or infinity (first: 'd'); choose other"),
    ],
)
def test_a_query_without_direction_is_rejected(positive, negative, line):
    rows = [[1, 2], [2, 4], [0, 0], [np.nan, 1], [1, -np.inf]]
    with pytest.raises(InputError) as error:
        similar(Vectors(list("abcde"), np.array(rows, np.float32)), positive, negative)
    assert str(error.value).startswith(line)


def test_top_limits_the_number_of_neighbours(vectors):
    assert len(similar(vectors, ["word0"], top=10**6)) == len(vectors.words) - 1
    with pytest.raises(OptionError) as error:
        similar(vectors, ["word0"], top=0)
    assert "--top must be at least 1, found 0" in str(error.value)


def test_a_query_finds_a_word_in_nfc_or_nfd_unless_it_is_there_as_spelt():
    matrix = np.array([[1, 0], [1, 1], [0, 1]], np.float32)
    vectors = Vectors(["caf\u00e9", "tea", "co\u0302te"], matrix)
    assert similar(vectors, "cafe\u0301", top=1)[0][0] == "tea"
    assert vectors.row("co\u0302te") == 2
    assert vectors.row("c\u00f4te") == 2  # in NFD
    assert vectors.row("cote") is None

"""Similarity scores against gensim and SciPy, and file formats of word pairs."""

from __future__ import annotations

import gzip
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.core.errors import FormatError, InputError, MissingInputError
from wordgeom.evaluation import lines
from wordgeom.evaluation.answers import scores
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.pairs import Pair, read_pairs
from wordgeom.evaluation.sets import gensim_sets
from wordgeom.evaluation.similarity import pearson, read_similarity, spearman
from wordgeom.vectors.keyed import Vectors, to_keyed_vectors

WORDSIM, SIMLEX, _ = gensim_sets()
_DO = "write two words and a number on each line"
PAIRS = [Pair("cat", "dog", 9.0), Pair("cup", "tea", 5.5), Pair("cup", "moon", 1.0)]


def vectors_of(words, seed=1, dim=12):
    words = list(words)
    matrix = np.random.default_rng(seed).standard_normal((len(words), dim))
    return Vectors(words, matrix.astype(np.float32))


def vectors_in_both_cases():
    """Vectors of most words of both sets: many in upper case, some in two cases."""
    pairs = [pair for path in (WORDSIM, SIMLEX) for pair in read_pairs(path)]
    words = {word for pair in pairs for word in (pair.left, pair.right)}
    known = [word for k, word in enumerate(sorted(words)) if k % 9]
    spelt = [word.upper() if k % 3 else word.lower() for k, word in enumerate(known)]
    return vectors_of(dict.fromkeys([*spelt, *(word.title() for word in known[::4])]))


@pytest.fixture
def write(tmp_path):
    def written(content, name="set.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


# ── Scores ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("path", [WORDSIM, SIMLEX], ids=lambda path: path.stem)
@pytest.mark.parametrize("oov", ["skip", "zero"])
@pytest.mark.parametrize(("case", "limit"), [("fold", 0), ("fold", 700), ("exact", 0)])
def test_scores_equal_those_of_gensim(path, oov, case, limit, using):
    vectors = vectors_in_both_cases()
    options = EvalOptions(oov=oov, case=case, restrict_vocab=limit)
    answers = read_similarity(path, options).answer(vectors, using)
    theirs = to_keyed_vectors(vectors).evaluate_word_pairs(
        str(path), restrict_vocab=limit or 10**6, case_insensitive=case == "fold",
        dummy4unknown=oov == "zero",
    )  # fmt: skip
    ours = [score.value for score in scores(answers, 0, 1)]
    assert ours == pytest.approx([theirs[1][0], theirs[0][0]], abs=1e-6)
    missing = sum(answers.excluded.values())
    share = missing / answers.total if oov == "skip" else 0
    assert answers.total == len(read_pairs(path))
    assert share == pytest.approx(theirs[2] / 100 if oov == "skip" else 0)


@pytest.mark.parametrize("seed", range(5))
def test_correlations_equal_those_of_scipy_with_ties(seed):
    draw = np.random.default_rng(seed)
    a, b = draw.integers(0, 9, (2, 40)).astype(float)
    assert spearman(a, b) == pytest.approx(scipy.stats.spearmanr(a, b)[0], abs=1e-12)
    assert pearson(a, b) == pytest.approx(scipy.stats.pearsonr(a, b)[0], abs=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1, 1e200])
def test_correlations_ignore_scale_and_ranks_ignore_monotone_maps(scale):
    a, b = np.random.default_rng(0).standard_normal((2, 30))
    assert pearson(a * scale, b) == pytest.approx(pearson(a, b))
    assert spearman(a, b) == spearman(np.exp(a) * scale, b)
    assert spearman(a, a**3) == pytest.approx(1)
    assert pearson(a, -2 * a) == pytest.approx(-1)


def test_cosines_are_computed_in_float64(write, using):
    matrix = np.array([[1, 0], [3, 4], [0, 2], [1e-30, 0]], np.float32)
    vectors = Vectors(list("abcd"), matrix)
    path = write("a b 1\na c 2\nb c 3\na d 4\n")
    answers = read_similarity(path, EvalOptions()).answer(vectors, using)
    assert answers.given.tolist() == pytest.approx([0.6, 0, 0.8, 1], abs=1e-15)
    assert answers.gold.tolist() == [1, 2, 3, 4]


# ── What is left out ─────────────────────────────────────────────────────────────────────────


def test_the_earliest_of_case_variants_is_used(write, using):
    vectors = Vectors(["King", "king", "queen"], np.array([[1, 0], [0, 1], [1, 0]], np.float32))
    path = write("KING queen 1\n")
    folded = read_similarity(path, EvalOptions()).answer(vectors, using)
    assert folded.given.tolist() == [1]
    with pytest.raises(InputError):
        read_similarity(path, EvalOptions(case="exact")).answer(vectors, using)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_a_vector_without_direction_has_no_cosine(write, using, bad):
    matrix = np.ones((5, 3), np.float32)
    matrix[1] = bad
    vectors = Vectors(list("abcde"), matrix)
    path = write("a b 3\na c 2\na unknown 1\n")
    skipped = read_similarity(path, EvalOptions()).answer(vectors, using)
    assert skipped.items.tolist() == [1]
    assert skipped.excluded == {
        "pairs with a word that has no vector": 1,
        "pairs with a word whose vector is zero or not finite": 1,
    }
    zero = read_similarity(path, EvalOptions(oov="zero")).answer(vectors, using)
    assert zero.given.tolist() == [0, 1, 0]
    assert not zero.excluded
    assert (
        "pairs with a word whose vector is zero or not finite, scored as cosine 0: 1" in zero.notes
    )


def test_repeated_pairs_all_count_as_in_gensim_and_are_reported(write, using):
    path = write("a b 3\nB A 3\nc d 1\na c 2\nd c 4\nc a 9\nb d 5\na b 3\nb a 4\n")
    vectors = vectors_of("abcd")
    answers = read_similarity(path, EvalOptions()).answer(vectors, using)
    assert answers.items.tolist() == list(range(9))
    assert not answers.excluded
    assert answers.notes == (
        "pairs repeated with the same score, all used: 2 (the first: a b)",
        "pairs with several scores, all used: 3 (the first: a b with 3 and 4)",
    )
    theirs = to_keyed_vectors(vectors).evaluate_word_pairs(str(path), delimiter=" ")
    ours = [score.value for score in scores(answers, 0, 1)]
    assert ours == pytest.approx([theirs[1][0], theirs[0][0]], abs=1e-6)
    exact = read_similarity(path, EvalOptions(case="exact")).answer(vectors, using)
    assert exact.excluded == {"pairs with a word that has no vector": 1}


def test_no_pair_in_the_vocabulary_is_an_error(write, using):
    path = write("x y 1\ny z 2\n")
    for oov in ("skip", "zero"):
        with pytest.raises(InputError) as error:
            read_similarity(path, EvalOptions(oov=oov)).answer(vectors_of("abc"), using)
        assert str(error.value).startswith(
            f"{path}: no item has vectors for all its words (2 pairs read);"
        )


def test_restrict_vocab_is_blamed_only_where_it_hides_words(write, using):
    path = write("b c 1\nc d 2\n")
    for limit, blamed in ((1, True), (0, False), (9, False)):
        with pytest.raises(InputError) as error:
            read_similarity(path, EvalOptions(restrict_vocab=limit)).answer(vectors_of("ax"), using)
        assert ("--restrict-vocab" in str(error.value)) == blamed


def test_scores_near_the_largest_number_have_finite_correlations(write, using):
    cosines, factors = np.array([0.3, 0.9, -0.2, 0.5]), np.array([1.0, -1.0, 0.25, 0.5])
    for size in (1.7e308, 1e-307):
        expected = scipy.stats.pearsonr(cosines, factors)[0]
        assert pearson(cosines, size * factors) == pytest.approx(expected, rel=1e-12)
    path = write("a b 1.7e308\nb c -1.7e308\na c 1\n")
    answers = read_similarity(path, EvalOptions()).answer(vectors_of("abc"), using)
    assert all(np.isfinite(score.value) for score in scores(answers, 10, 1))
    assert not answers.notes


def test_pairs_without_a_finite_vector_are_not_blamed_on_the_spelling(write, using):
    path = write("a b 1\nb c 2\nc x 2\n")
    vectors = vectors_of("abc")
    vectors.matrix[1:, 0] = np.nan, np.inf
    with pytest.raises(InputError) as error:
        read_similarity(path, EvalOptions()).answer(vectors, using)
    assert str(error.value) == (
        f"{path}: no item has vectors for all its words "
        "(3 pairs read, 2 with a vector that is zero or not finite); train again"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b 1\na c 2\n", "only 2 pairs can be scored"),
        ("a b 1\na c 1\nb c 1\n", "all scores are equal"),
        ("a a 1\nb b 2\nc c 3\n", "all cosines are equal"),
    ],
)
def test_an_undefined_correlation_is_nan_and_reported(write, using, text, message):
    vectors = Vectors(list("abc"), np.array([[1, 0], [3, 4], [0, 1]], np.float32))
    answers = read_similarity(write(text), EvalOptions()).answer(vectors, using)
    assert answers.notes == (f"no correlation: {message}",)
    for score in scores(answers, 50, 1):
        assert math.isnan(score.value)
        assert math.isnan(score.low)


# ── Files ────────────────────────────────────────────────────────────────────────────────────

_words = st.text("abzéЖ'-.", min_size=1, max_size=6)
_numbers = st.floats(-1e6, 1e6).map(lambda x: round(x, 4))
_pairs = st.lists(st.builds(Pair, _words, _words, _numbers), min_size=1, max_size=8)


@given(_pairs, st.sampled_from("\t;, "), st.booleans(), st.sampled_from(["\n", "\r\n", "\n\n"]))
def test_pairs_round_trip_with_every_delimiter(tmp_path_factory, pairs, sign, head, end):
    rows = [f"word1{sign}word2{sign}score"] if head else []
    rows += [f"{pair.left}{sign}{pair.right}{sign}{pair.score}" for pair in pairs]
    path = tmp_path_factory.mktemp("pairs") / "set.txt"
    for content in (end.join(rows).encode(), b"\xef\xbb\xbf# comment\n" + end.join(rows).encode()):
        path.write_bytes(content)
        assert read_pairs(path) == pairs
    path.write_bytes(gzip.compress(end.join(rows).encode()))
    assert read_pairs(path) == pairs


@pytest.mark.parametrize(
    "text",
    [
        "Word 1,Word 2,Human (mean)\nice cream,tea,5\n",
        "word1\tword2\tPOS\tSimLex999\tconc(w1)\nice cream\ttea\tN\t5\t2.5\n",
        "score;w2;w1\n5;tea;ice cream\n",
        "ice cream\ttea\t5\n",
        "# Word 1\tWord 2\nice cream\ttea\t5.0\r\n",
        "left;right;how alike\nice cream ; tea;\t5e0\n",
    ],
)
def test_columns_are_found_by_name_or_default_to_the_first_three(write, text):
    assert read_pairs(write(text)) == [Pair("ice cream", "tea", 5.0)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("cup\ttea\t-,5", "the score is not a number, found '-,5'"),
        ("cup\ttea\tmuch", "the score is not a number, found 'much'"),
        ("cup\ttea\tnan", "the score is not a number, found 'nan'"),
        ("cup\ttea\tinf", "the score is not a number, found 'inf'"),
        ("cup\ttea\t3,5", "the score is not a number, found '3,5'"),
        ("cup\ttea", "expected two words and a score, found 'cup tea'"),
        ("cup\t\t3", "expected two words and a score, found 'cup  3'"),
        ("cup tea 3", "expected two words and a score, found 'cup tea 3'"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_malformed_line_is_named(write, line, message, end):
    head, last = ["word1\tword2\tscore", "cat\tdog\t9", "sea\tsand\t4"], "king\tqueen\t8"
    path = write(end.join([*head, line, last, ""]))
    with pytest.raises(InputError) as error:
        read_pairs(path)
    do = "use a decimal point, not a comma" if ",5" in line else _DO
    assert str(error.value) == f"{path} line 4: {message}; {do}"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("king queen 8,5", "the score is not a number, found '8,5'; use a decimal point"),
        ("mean average 8,5", "the score is not a number, found '8,5'"),
        ("king\tqueen\t8.5.", "the score is not a number, found '8.5.'"),
        ("king queen nan", "the score is not a number, found 'nan'"),
        ("king queen", "expected two words and a score"),
    ],
)
def test_a_malformed_first_line_is_not_taken_for_a_header(write, line, message):
    sign = "\t" if "\t" in line else " "
    path = write(f"{line}\ncat{sign}dog{sign}9\nsea{sign}sand{sign}4\n")
    with pytest.raises(InputError) as error:
        read_pairs(path)
    assert str(error.value).startswith(f"{path} line 1: {message}")


@pytest.mark.parametrize("head", ["w1 w2 mean10", "word1 word2 SimLex999", "a b c"])
def test_a_header_with_known_names_may_contain_digits(write, head):
    assert read_pairs(write(f"{head}\ncat dog 9\n")) == [Pair("cat", "dog", 9.0)]


@pytest.mark.parametrize("sign", "\t;,")
def test_quoted_fields_are_read_as_csv(write, sign):
    lines = ['"word1"{0}"word2"{0}"score"', '"ice{0} cream"{0} "a ""b"""{0}8.5', "cat{0}dog{0}9"]
    path = write("\n".join(line.format(sign) for line in lines))
    assert read_pairs(path) == [Pair(f"ice{sign} cream", 'a "b"', 8.5), Pair("cat", "dog", 9.0)]


def test_an_unbalanced_quote_is_an_ordinary_character_between_tabs_and_spaces(write):
    assert read_pairs(write('5" "disk" 8.5\n')) == [Pair('5"', '"disk"', 8.5)]
    assert read_pairs(write('"\tdisk\t8.5\n')) == [Pair('"', "disk", 8.5)]
    with pytest.raises(InputError, match=r"line 2: not valid CSV.*close the quotes"):
        read_pairs(write('cat,dog,9\n"king,queen,8.5\ncup,tea,5\n'))


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        (b"", InputError, "is empty"),
        (b"\n\r\n  \n", InputError, "contains only white space"),
        (b"# only\n", InputError, "no word pairs in the file"),
        (b"word1 word2 score\n", InputError, "no word pairs in the file"),
        (b"a b 1\nc d\xe9 2\n", InputError, " line 2: is not UTF-8, found byte 0xe9"),
        ("a b 1\n".encode("utf-16"), InputError, "found a UTF-16 byte order mark"),
        ("a b 1\n".encode("utf-32"), InputError, "iconv -f UTF-32 -t UTF-8"),
        (b"PK\x03\x04 word/document.xml", InputError, "is a word-processor document; save it as"),
        (gzip.compress(b"a b 1\n" * 99, mtime=0)[:-9], FormatError, "broken gzip file"),
    ],
)  # fmt: skip
def test_a_file_without_pairs_is_rejected(write, content, kind, message):
    path = write(content)
    with pytest.raises(kind) as error:
        read_pairs(path)
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)


def test_a_file_above_the_size_limit_is_rejected(write, monkeypatch):
    monkeypatch.setattr(lines, "_MAX_BYTES", 1 << 21)
    path = write(gzip.compress(b"a b 1\n" * (1 << 20)))
    with pytest.raises(InputError) as error:
        read_pairs(path)
    assert "the file has more than 2,097,152 bytes" in str(error.value)


def test_a_missing_file_and_a_directory_are_rejected(tmp_path):
    for path, message in ((tmp_path / "none.txt", "no such file"), (tmp_path, "is a directory")):
        with pytest.raises(MissingInputError) as error:
            read_pairs(path)
        assert f"{path}: {message}" in str(error.value)

"""Similarity against gensim's and SciPy's figures, and the forms of files of pairs."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator

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
from wordgeom.linalg.device import open_context
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors.keyed import Vectors, to_keyed_vectors

WORDSIM, SIMLEX, _ = gensim_sets()
_DO = "write two words and a number a line"
PAIRS = [Pair("cat", "dog", 9.0), Pair("cup", "tea", 5.5), Pair("cup", "moon", 1.0)]


@pytest.fixture(scope="module")
def using() -> Iterator[Context]:
    with open_context(RunOptions(threads=2)) as opened:
        yield opened


def vectors_of(words, seed=1, dim=12):
    words = list(words)
    matrix = np.random.default_rng(seed).standard_normal((len(words), dim))
    return Vectors(words, matrix.astype(np.float32))


def judged_vectors():
    """Most of the words of both sets, many in capitals, some in both spellings."""
    pairs = [pair for path in (WORDSIM, SIMLEX) for pair in read_pairs(path)]
    words = {word for pair in pairs for word in (pair.left, pair.right)}
    kept = [word for k, word in enumerate(sorted(words)) if k % 9]
    spelt = [word.upper() if k % 3 else word.lower() for k, word in enumerate(kept)]
    return vectors_of(dict.fromkeys([*spelt, *(word.title() for word in kept[::4])]))


@pytest.fixture
def write(tmp_path):
    def written(content, name="set.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


# ── Figures ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("path", [WORDSIM, SIMLEX], ids=lambda path: path.stem)
@pytest.mark.parametrize("oov", ["skip", "zero"])
@pytest.mark.parametrize(("case", "limit"), [("fold", 0), ("fold", 700), ("exact", 0)])
def test_scores_equal_gensims(path, oov, case, limit, using):
    vectors = judged_vectors()
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
    assert len(answers.items) + missing == answers.total
    assert share == pytest.approx(theirs[2] / 100 if oov == "skip" else 0)


@pytest.mark.parametrize("seed", range(5))
def test_correlations_equal_scipys_with_ties_too(seed):
    draw = np.random.default_rng(seed)
    a, b = draw.integers(0, 9, (2, 40)).astype(float)
    assert spearman(a, b) == pytest.approx(scipy.stats.spearmanr(a, b)[0], abs=1e-12)
    assert pearson(a, b) == pytest.approx(scipy.stats.pearsonr(a, b)[0], abs=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1, 1e200])
def test_scale_does_not_matter_and_a_growing_function_keeps_ranks(scale):
    a, b = np.random.default_rng(0).standard_normal((2, 30))
    assert pearson(a * scale, b) == pytest.approx(pearson(a, b))
    assert spearman(a, b) == spearman(np.exp(a) * scale, b)
    assert spearman(a, a**3) == pytest.approx(1)
    assert pearson(a, -2 * a) == pytest.approx(-1)


def test_a_cosine_is_that_of_float64(write, using):
    matrix = np.array([[1, 0], [3, 4], [0, 2], [1e-30, 0]], np.float32)
    vectors = Vectors(list("abcd"), matrix)
    path = write("a b 1\na c 2\nb c 3\na d 4\n")
    answers = read_similarity(path, EvalOptions()).answer(vectors, using)
    assert answers.given.tolist() == pytest.approx([0.6, 0, 0.8, 1], abs=1e-15)
    assert answers.gold.tolist() == [1, 2, 3, 4]


# ── What is left out ─────────────────────────────────────────────────────────────────────────


def test_of_case_variants_the_earliest_word_is_meant(write, using):
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
        "pairs with a word whose vector is zero": 1,
    }
    zero = read_similarity(path, EvalOptions(oov="zero")).answer(vectors, using)
    assert zero.given.tolist() == [0, 1, 0]
    assert not zero.excluded
    assert "pairs with a word whose vector is zero, taken as cosine 0: 1" in zero.notes


def test_repeats_are_left_out_and_contradictions_kept_and_told(write, using):
    path = write("a b 3\nB A 3\nc d 1\na c 2\nd c 4\nc a 9\n")
    vectors = vectors_of("abcd")
    answers = read_similarity(path, EvalOptions()).answer(vectors, using)
    assert answers.items.tolist() == [0, 2, 3, 4, 5]
    assert answers.total == 6
    assert answers.excluded == {"pairs that the file holds again with the same score": 1}
    assert answers.notes == ("pairs with several scores, all kept: 2, the first c d with 1 and 4",)
    exact = read_similarity(path, EvalOptions(case="exact")).answer(vectors, using)
    assert exact.excluded == {"pairs with a word that has no vector": 1}


def test_no_pair_in_the_vocabulary_is_an_error(write, using):
    path = write("x y 1\ny z 2\n")
    for oov in ("skip", "zero"):
        with pytest.raises(InputError) as error:
            read_similarity(path, EvalOptions(oov=oov)).answer(vectors_of("abc"), using)
        assert str(error.value).startswith(f"{path}: not one of 2 pairs has vectors for its words;")


@pytest.mark.parametrize(
    ("text", "say"),
    [
        ("a b 1\na c 2\n", "only 2 of the pairs can be judged"),
        ("a b 1\na c 1\nb c 1\n", "all scores are the same"),
        ("a a 1\nb b 2\nc c 3\n", "all cosines are the same"),
    ],
)
def test_what_has_no_correlation_is_told_and_is_nan(write, using, text, say):
    vectors = Vectors(list("abc"), np.array([[1, 0], [3, 4], [0, 1]], np.float32))
    answers = read_similarity(write(text), EvalOptions()).answer(vectors, using)
    assert answers.notes == (f"no correlation: {say}",)
    for score in scores(answers, 50, 1):
        assert math.isnan(score.value)
        assert math.isnan(score.low)


# ── Files ────────────────────────────────────────────────────────────────────────────────────

_words = st.text("abzéЖ'-.", min_size=1, max_size=6)
_numbers = st.floats(-1e6, 1e6).map(lambda x: round(x, 4))
_pairs = st.lists(st.builds(Pair, _words, _words, _numbers), min_size=1, max_size=8)


@given(_pairs, st.sampled_from("\t;, "), st.booleans(), st.sampled_from(["\n", "\r\n", "\n\n"]))
def test_pairs_read_back_whatever_separates_them(tmp_path_factory, pairs, sign, head, end):
    rows = [f"word1{sign}word2{sign}score"] if head else []
    rows += [f"{pair.left}{sign}{pair.right}{sign}{pair.score}" for pair in pairs]
    path = tmp_path_factory.mktemp("pairs") / "set.txt"
    for content in (end.join(rows).encode(), b"\xef\xbb\xbf# told\n" + end.join(rows).encode()):
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
        "ice cream\ttea\t5\t99\n",
        "# Word 1\tWord 2\nice cream\ttea\t5.0\r\n",
        "left;right;how alike\nice cream ; tea;\t5e0\n",
    ],
)
def test_columns_are_found_by_their_names_or_are_the_first_three(write, text):
    assert read_pairs(write(text)) == [Pair("ice cream", "tea", 5.0)]


@pytest.mark.parametrize(
    ("line", "say"),
    [
        ("cup\ttea\t-,5", "the score is not a number, found '-,5'"),
        ("cup\ttea\tmuch", "the score is not a number, found 'much'"),
        ("cup\ttea\tnan", "the score is not a number, found 'nan'"),
        ("cup\ttea\tinf", "the score is not a number, found 'inf'"),
        ("cup\ttea\t3,5", "the score is not a number, found '3,5'"),
        ("cup\ttea", "is not two words and a score, found 'cup tea'"),
        ("cup\t\t3", "is not two words and a score, found 'cup  3'"),
        ("cup tea 3", "is not two words and a score, found 'cup tea 3'"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_that_is_no_pair_is_named(write, line, say, end):
    path = write(end.join(["word1\tword2\tscore", "cat\tdog\t9", "sea\tsand\t4", line, ""]))
    with pytest.raises(InputError) as error:
        read_pairs(path)
    do = "write it with a decimal point, not a comma" if ",5" in line else _DO
    assert str(error.value) == f"{path} line 4: {say}; {do}"


@pytest.mark.parametrize(
    ("line", "say"),
    [
        ("king queen 8,5", "the score is not a number, found '8,5'; write it with a decimal point"),
        ("mean average 8,5", "the score is not a number, found '8,5'"),
        ("king\tqueen\t8.5.", "the score is not a number, found '8.5.'"),
        ("king queen nan", "the score is not a number, found 'nan'"),
        ("king queen", "is not two words and a score"),
    ],
)
def test_a_first_line_that_is_no_pair_is_no_header_either(write, line, say):
    sign = "\t" if "\t" in line else " "
    path = write(f"{line}\ncat{sign}dog{sign}9\nsea{sign}sand{sign}4\n")
    with pytest.raises(InputError) as error:
        read_pairs(path)
    assert str(error.value).startswith(f"{path} line 1: {say}")


@pytest.mark.parametrize("head", ["w1 w2 mean10", "word1 word2 SimLex999", "a b c"])
def test_a_header_may_hold_digits_where_its_names_are_known(write, head):
    assert read_pairs(write(f"{head}\ncat dog 9\n")) == [Pair("cat", "dog", 9.0)]


@pytest.mark.parametrize("sign", "\t;,")
def test_fields_in_quotes_are_read_as_csv_has_them(write, sign):
    lines = ['"word1"{0}"word2"{0}"score"', '"ice{0} cream"{0} "a ""b"""{0}8.5', "cat{0}dog{0}9"]
    path = write("\n".join(line.format(sign) for line in lines))
    assert read_pairs(path) == [Pair(f"ice{sign} cream", 'a "b"', 8.5), Pair("cat", "dog", 9.0)]


def test_a_quote_that_separates_nothing_is_a_letter(write):
    assert read_pairs(write('5" "disk" 8.5\n')) == [Pair('5"', '"disk"', 8.5)]
    assert read_pairs(write('"\tdisk\t8.5\n')) == [Pair('"', "disk", 8.5)]
    with pytest.raises(InputError, match=r"line 2: is not CSV.*close its quotes"):
        read_pairs(write('cat,dog,9\n"king,queen,8.5\n'))


@pytest.mark.parametrize(
    ("content", "kind", "say"),
    [
        (b"", InputError, "holds no line, found 0 bytes"),
        (b"\n\r\n  \n", InputError, "holds no line"),
        (b"# only\n", InputError, "holds no pair"),
        (b"word1 word2 score\n", InputError, "holds no pair"),
        (b"a b 1\nc d\xe9 2\n", InputError, " line 2: is not UTF-8, found byte 0xe9"),
        ("a b 1\n".encode("utf-16"), InputError, "found a mark of UTF-16"),
        (gzip.compress(b"a b 1\n" * 99, mtime=0)[:-9], FormatError, "broken gzip file"),
    ],
)  # fmt: skip
def test_a_file_that_holds_no_pairs_is_refused(write, content, kind, say):
    path = write(content)
    with pytest.raises(kind) as error:
        read_pairs(path)
    assert str(error.value).startswith(str(path))
    assert say in str(error.value)


def test_more_text_than_can_be_held_is_not_read(write, monkeypatch):
    monkeypatch.setattr(lines, "_MOST", 1 << 21)
    path = write(gzip.compress(b"a b 1\n" * (1 << 20)))
    with pytest.raises(InputError) as error:
        read_pairs(path)
    assert "is too long, found more than 2,097,152 bytes" in str(error.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path, say in ((tmp_path / "none.txt", "no such file"), (tmp_path, "is a directory")):
        with pytest.raises(MissingInputError) as error:
            read_pairs(path)
        assert f"{path}: {say}" in str(error.value)

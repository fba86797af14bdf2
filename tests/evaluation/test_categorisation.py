"""Purity by hand, adjusted Rand index against scikit-learn, planted clusters, file formats."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from corpora import assert_one_line
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.core.errors import InputError
from wordgeom.evaluation.answers import scores
from wordgeom.evaluation.categorisation import (
    ALONE,
    CONTRADICTORY,
    REPEATED,
    adjusted_rand,
    purity,
    read_categories,
)
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.word_lookup import MISSING, SAME, ZERO
from wordgeom.linalg.device import open_context
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors.keyed import Vectors

labelled = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), min_size=2, max_size=40)


def put(directory: Path, content: str) -> Path:
    path = directory / "classes.txt"
    path.write_bytes(content.encode())
    return path


def planted(classes: int, each: int, noise: float = 0.1) -> tuple[Vectors, str]:
    """Vectors around one direction per class, with varying norms, and the class file."""
    rng = np.random.default_rng(4)
    centres = np.linalg.qr(rng.standard_normal((20, classes)))[0].T
    matrix = np.repeat(centres, each, axis=0) + noise * rng.standard_normal((classes * each, 20))
    matrix *= rng.uniform(0.01, 100, (len(matrix), 1))
    words = [f"c{k // each}w{k}" for k in range(len(matrix))]
    text = "".join(f"{word}\tclass {word.partition('w')[0]}\n" for word in words)
    return Vectors(words, matrix.astype(np.float32)), text


@given(labelled)
def test_purity_is_the_share_of_the_most_common_classes(pairs):
    clusters, classes = np.array(pairs).T
    expected = sum(
        Counter(classes[clusters == c].tolist()).most_common(1)[0][1] for c in set(clusters)
    )
    assert purity(clusters, classes) == pytest.approx(expected / len(pairs))
    assert purity(classes, classes) == 1
    order = np.random.default_rng(0).permutation(len(pairs))
    assert purity(clusters[order], classes[order]) == purity(clusters, classes)


@given(labelled)
def test_the_adjusted_rand_index_counts_pairs_of_items(pairs):
    together = np.array([
        (a[0] == b[0], a[1] == b[1]) for a, b in combinations(pairs, 2)
    ])  # fmt: skip
    both, (rows, columns) = together.all(1).sum(), together.sum(0)
    expected, most = rows * columns / len(together), (rows + columns) / 2
    wanted = 1.0 if most == expected else (both - expected) / (most - expected)
    clusters, classes = np.array(pairs).T
    assert adjusted_rand(clusters, classes) == pytest.approx(wanted, abs=1e-12)


def test_measures_without_items_are_nan():
    none = np.empty(0, np.int64)
    assert np.isnan(purity(none, none))
    assert np.isnan(adjusted_rand(none, none))


def test_planted_classes_are_found(tmp_path: Path, using: Context):
    vectors, text = planted(classes=6, each=15)
    answers = read_categories(put(tmp_path, text), EvalOptions()).answer(vectors, using)
    assert [score.value for score in scores(answers, 100, 1)] == [1.0, 1.0]
    assert (answers.total, len(answers.items), answers.notes) == (90, 90, ())
    assert np.array_equal(answers.gold, np.repeat(np.arange(6), 15))


def test_no_interval_exceeds_the_largest_score(tmp_path: Path, using: Context):
    vectors, text = planted(classes=2, each=5, noise=0.01)
    text = text.replace("c0w0\tclass c0", "c0w0\tclass c1")  # one of another cluster
    answers = read_categories(put(tmp_path, text), EvalOptions()).answer(vectors, using)
    for score in scores(answers, 100, 1):
        assert score.low < score.value < score.high == 1.0


def test_random_vectors_score_at_chance_level(tmp_path: Path, using: Context):
    vectors, text = planted(classes=6, each=30, noise=50)
    answers = read_categories(put(tmp_path, text), EvalOptions()).answer(vectors, using)
    clean, rand = scores(answers, 100, 1)
    assert abs(rand.value) < 0.05
    assert clean.value < 0.4
    assert clean.low < clean.value < clean.high


def test_the_same_seed_gives_the_same_clusters_at_any_number_of_threads(tmp_path: Path):
    vectors, text = planted(classes=5, each=30, noise=1)
    task = read_categories(put(tmp_path, text), EvalOptions())
    given = []
    for threads in (1, 3):
        with open_context(RunOptions(threads=threads, seed=7)) as using:
            given.append(task.answer(vectors, using).given)
    assert np.array_equal(given[0], given[1])


def test_excluded_lines_are_counted_by_reason(tmp_path: Path, using: Context):
    text = (
        "word class\n"
        "cat animal\ndog animal\ncat animal\nDog animal\n"  # a repeat, and one in case only
        "oak tree\nelm tree\nash tree\nash waste\n"  # ash is two things
        "nil tree\nnan tree\nzzz tree\n"  # no direction, no direction, no vector
        "one number\n"
    )
    words = ["cat", "dog", "oak", "elm", "ash", "nil", "nan", "one"]
    matrix = np.eye(8, dtype=np.float32)
    matrix[1], matrix[3], matrix[5], matrix[6, 0] = matrix[0], matrix[2], 0, np.nan
    task = read_categories(put(tmp_path, text), EvalOptions())
    answers = task.answer(Vectors(words, matrix), using)
    expected = {REPEATED: 1, CONTRADICTORY: 2, SAME: 1, ZERO: 2, MISSING: 1, ALONE: 1}
    assert answers.excluded == expected
    assert [task.words[item] for item in answers.items] == ["cat", "dog", "oak", "elm"]
    assert answers.total == 12
    assert answers.score(answers.measures[0]) == 1


def test_equal_vectors_are_reported(tmp_path: Path, using: Context):
    task = read_categories(put(tmp_path, "a x\nb x\nc y\nd y\n"), EvalOptions())
    answers = task.answer(Vectors(list("abcd"), np.ones((4, 3), np.float32)), using)
    assert answers.score(answers.measures[0]) == 0.5
    assert "1 cluster instead of 2" in answers.notes[0]


@pytest.mark.parametrize(
    "content",
    [
        "cat\tbig animal\noak\ttree\n",
        "word\tcategory\r\ncat\tbig animal\r\noak\ttree\r\n",
        "Word,Class\ncat, big animal\n\noak ,tree",
        '"word","class"\n"cat","big animal"\noak,"tree"\n',
        "\ufeffcat\tbig animal\noak\ttree\n",
    ],
)
def test_separators_headers_and_line_ends(tmp_path: Path, content: str):
    task = read_categories(put(tmp_path, content), EvalOptions())
    assert task.words == ("cat", "oak")
    assert task.classes == ("big animal", "tree")
    assert task.name == "classes"


def test_a_quoted_class_may_contain_a_comma_and_a_word_may_be_a_quote(tmp_path: Path):
    task = read_categories(put(tmp_path, '"cat","animal, big"\noak,tree\n'), EvalOptions())
    assert task.classes == ("animal, big", "tree")
    task = read_categories(put(tmp_path, '"\tsign\noak\ttree\n'), EvalOptions())
    assert task.words == ('"', "oak")


def test_white_space_separates_if_no_tab_or_comma_does(tmp_path: Path):
    task = read_categories(put(tmp_path, "word   class\ncat  animal\n a,b tree \n"), EvalOptions())
    assert task.words == ("cat", "a,b")


@pytest.mark.parametrize(
    ("line", "found"), [("oak", "'oak'"), ("oak\t", "oak"), ("oak big tree", "'oak big tree'")]
)
def test_a_line_without_one_class_is_named(tmp_path: Path, line: str, found: str):
    with pytest.raises(InputError) as caught:
        read_categories(put(tmp_path, f"cat animal\n{line}\n"), EvalOptions())
    assert_one_line(caught, "classes.txt line 2", found)


@pytest.mark.parametrize("text", ["a x\nb x\nc y\n", "a x\nb x\n", "k x\nl x\nm y\nn y\n"])
def test_fewer_than_two_classes_are_rejected(tmp_path: Path, using: Context, text: str):
    task = read_categories(put(tmp_path, text), EvalOptions())
    with pytest.raises(InputError) as caught:
        task.answer(Vectors(list("abcd"), np.eye(4, dtype=np.float32)), using)
    assert_one_line(caught, "classes.txt", "two classes", "word, class", "--case")


def test_the_error_for_too_few_classes_lists_exclusions(tmp_path: Path, using: Context):
    text = "animal\tcat\nanimal\tdog\ntree\toak\ntree\telm\n"  # in the other order
    task = read_categories(put(tmp_path, text), EvalOptions())
    with pytest.raises(InputError) as caught:
        task.answer(Vectors(["animal"], np.ones((1, 4), np.float32)), using)
    assert_one_line(caught, "found 0 of 0", f"left out: {CONTRADICTORY}: 4", "order (word, class)")

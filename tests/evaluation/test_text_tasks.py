"""Text averages, classification and regression against loops, scikit-learn and planted data."""

from __future__ import annotations

import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from corpora import assert_one_line, put, reference_tokens
from hypothesis import example, given
from hypothesis import strategies as st

from wordgeom.core.errors import InputError
from wordgeom.corpus.tokens.in_memory import words
from wordgeom.evaluation import classification, gaussian_process, regression
from wordgeom.evaluation import text_vectors as averaging
from wordgeom.evaluation.answers import Task
from wordgeom.evaluation.classification import accuracy, macro_f1, read_texts
from wordgeom.evaluation.cross_validation import TRAIN_ONLY, assign_folds, predict
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.regression import mean_absolute_error, r_squared, read_targets
from wordgeom.evaluation.target_tables import read_table
from wordgeom.evaluation.text_vectors import averages, kmers
from wordgeom.evaluation.word_lookup import Lookup
from wordgeom.linalg.device import open_context
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors.keyed import Vectors

MIXED = "aZ09_ \n\t'-.\0éÅßİ\u0131ΣσςΆжЖ한글हि\u0301\u200d\u200c\ufeff\u00a0\u2028…»·東。𐐀😀²Ⅷǅ"
texts = st.text(st.one_of(st.sampled_from(MIXED), st.characters(exclude_categories=["Cs"])))
OPTIONS = EvalOptions()


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    """Words w0 … w39: even ones point in one direction, odd ones in another."""
    rng = np.random.default_rng(2)
    matrix = 0.4 * rng.standard_normal((40, 8))
    matrix[::2, 0] += 1
    matrix[1::2, 1] += 1
    return Vectors([f"w{k}" for k in range(40)], matrix.astype(np.float32))


def of_words(vectors: Vectors) -> Lookup:
    return Lookup(vectors, OPTIONS, restrict=False)


def sentences(classes: list[str], each: int) -> list[str]:
    """Lines of five words: even words for even classes, odd words for odd classes."""
    rng = np.random.default_rng(6)
    return [
        f"{name}\tpage\t" + " ".join(f"w{2 * j + k % 2}" for j in rng.integers(0, 20, 5))
        for k, name in enumerate(classes)
        for _ in range(each)
    ]


def numbered(vectors: Vectors, n: int, split: bool) -> list[str]:
    """A table of texts whose target is linear in their average."""
    rng = np.random.default_rng(8)
    rows = ["name,sequence,T50,is_train,m" if split else "text,y"]
    for k in range(n):
        chosen = rng.integers(0, 40, 6)
        text = " ".join(f"W{word}" for word in chosen)
        value = 50 + 10 * float(vectors.matrix[chosen].mean(axis=0)[0]) + rng.normal(0, 0.2)
        rows.append(f"n{k},{text},{value},{k % 3 > 0},7" if split else f'"{text}",{value}')
    return rows


@given(texts)
@example("ΣΟΦΟΣ» ΣΟΦΟΣ ΣΟΦΟΣ\u2028Σ aΣ ΣΣ _Σ ΣİΣ")
def test_words_equal_those_of_the_tokeniser(text: str):
    assert words(text) == reference_tokens(text, "words")


@given(st.text("ACDE \n", max_size=30), st.integers(1, 5))
def test_kmers_are_the_union_of_the_shifted_lists(sequence: str, k: int):
    letters = "".join(sequence.split())
    shifted = [letters[o + i : o + i + k] for o in range(k) for i in range(0, len(letters), k)]
    assert sorted(kmers(sequence, k)) == sorted(run for run in shifted if len(run) == k)


def test_a_text_is_the_mean_of_its_known_words(vectors: Vectors, using: Context):
    rng = np.random.default_rng(0)
    lines = [" ".join(f"w{j}" for j in rng.integers(0, 80, n % 7)) for n in range(50)]
    with patch.object(averaging, "_TEXTS", 8):
        found = averages(lines, of_words(vectors), 0, using, "")
    expected = {}
    for item, line in enumerate(lines):
        rows = [vectors.index[word] for word in line.split() if word in vectors.index]
        if rows:
            expected[item] = vectors.matrix[rows].astype(np.float64).mean(axis=0)
    assert found.items.tolist() == list(expected)
    assert np.allclose(found.means, list(expected.values()), atol=1e-14)


def test_vectors_without_direction_are_ignored(using: Context):
    matrix = np.array([[1, 2], [0, 0], [np.nan, 1]], np.float32)
    lookup = of_words(Vectors(["a", "zero", "nan"], matrix))
    found = averages(["a zero nan", "zero nan", "A a", ""], lookup, 0, using, "")
    assert found.items.tolist() == [0, 2]
    assert found.means.tolist() == [[1, 2], [1, 2]]


def test_kmer_lookup_folds_case(using: Context):
    lookup = of_words(Vectors(["acd", "cde"], np.eye(2, dtype=np.float32)))
    found = averages(["ACDE", "AC", "AC DEE"], lookup, 3, using, "")
    assert found.items.tolist() == [0, 2]
    assert found.means.tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_averages_above_the_memory_limit_are_rejected():
    lookup = of_words(Vectors(["a"], np.ones((1, 5000), np.float32)))
    with (
        open_context(RunOptions(threads=1, memory=0.1)) as small,
        pytest.raises(InputError) as caught,
    ):
        averages(["a"] * 1000, lookup, 0, small, "set.tsv")
    assert_one_line(caught, "set.tsv", "--memory", "1,000 texts × 5,000")


@given(st.lists(st.integers(0, 4), min_size=4, max_size=60), st.integers(2, 7), st.integers(0, 99))
def test_folds_are_balanced_in_size_and_labels(labels, folds, seed):
    labels = np.array(labels)
    fold = assign_folds(labels, folds, np.random.default_rng(seed))
    for chosen in (fold, *(fold[labels == label] for label in set(labels.tolist()))):
        sizes = np.bincount(chosen, minlength=folds)
        assert len(sizes) == folds
        assert np.ptp(sizes) <= 1


@pytest.mark.parametrize("memory", [0, 10**6, 10**15])
def test_every_item_is_predicted_once_by_a_model_not_trained_on_it(using: Context, memory: int):
    fold = np.array([0, 2, 1, TRAIN_ONLY, 0, 1])
    trained_on = {}

    def fit(train, test):
        trained_on.update(dict.fromkeys(test.tolist(), train.tolist()))
        return 10 * test, "slow" if 1 in test else ""

    predicted, problems = predict(fit, fold, using, memory)
    assert predicted.tolist() == [0, 10, 20, 0, 40, 50]
    assert problems == ["slow"]
    assert sorted(trained_on) == [0, 1, 2, 4, 5]
    for item, train in trained_on.items():
        assert train == [k for k in range(6) if fold[k] != fold[item]]


def test_models_in_parallel_respect_the_memory_limit(using: Context):
    running: list[int] = []
    most = []

    def fit(train, test):
        running.append(1)
        time.sleep(0.01)
        most.append(len(running))
        running.pop()
        return test, ""

    predict(fit, np.arange(6), using, using.memory)
    assert max(most) == 1


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30))
def test_f1_and_accuracy_equal_those_of_scikit_learn(pairs):
    from sklearn.metrics import accuracy_score, f1_score

    predicted, labels = np.array(pairs).T
    assert macro_f1(predicted, labels) == pytest.approx(
        f1_score(labels, predicted, average="macro")
    )
    assert accuracy(predicted, labels) == accuracy_score(labels, predicted)


@given(st.lists(st.tuples(st.floats(-9, 9), st.integers(-9, 9)), min_size=2, max_size=30))
def test_r_squared_and_the_error_equal_those_of_scikit_learn(pairs):
    from sklearn.metrics import mean_absolute_error as reference_error
    from sklearn.metrics import r2_score

    predicted, targets = np.array(pairs, np.float64).T
    if np.ptp(targets):
        expected = r2_score(targets, predicted)
        assert r_squared(predicted, targets) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    else:
        assert np.isnan(r_squared(predicted, targets))
    expected = reference_error(targets, predicted)
    assert mean_absolute_error(predicted, targets) == pytest.approx(expected, abs=1e-12)


def test_measures_without_texts_are_nan():
    none = np.empty(0)
    assert all(
        np.isnan(f(none, none)) for f in (macro_f1, accuracy, r_squared, mean_absolute_error)
    )


def test_planted_labels_are_predicted(tmp_path: Path, vectors: Vectors, using: Context):
    (path,) = put(tmp_path, "\r\n".join(sentences(["even", "odd"], 60)))
    answers = read_texts(path, OPTIONS).answer(vectors, using)
    assert answers.score(answers.measures[0]) > 0.95
    assert answers.total == len(answers.items) == 120
    assert answers.notes == ()


def test_random_labels_are_predicted_at_chance_level(tmp_path, vectors: Vectors, using: Context):
    # Training on the test text would beat chance.
    lines = [line.partition("\t")[2] for line in sentences(["even"], 200)]
    labels = np.random.default_rng(1).permutation([f"label{k % 2}" for k in range(200)])
    (path,) = put(tmp_path, "\n".join(f"{k}\t{t}" for k, t in zip(labels, lines, strict=True)))
    answers = read_texts(path, OPTIONS).answer(vectors, using)
    assert 0.35 < answers.score(answers.measures[1]) < 0.65


def test_excluded_texts_are_counted_by_reason(tmp_path: Path, vectors: Vectors, using: Context):
    lines = sentences(["even", "odd"], 5)
    twice, disputed = lines[0], lines[1].replace("even", "odd", 1)
    extra = [twice, disputed, "odd\tzzz", "odd\t", "once\tw1 w2", "lone\tw2 w3"]
    (path,) = put(tmp_path, "\n".join([*lines, *extra]))
    answers = read_texts(path, OPTIONS).answer(vectors, using)
    assert answers.excluded == {
        classification.REPEATED: 1,
        classification.CONTRADICTORY: 2,
        averaging.UNKNOWN: 2,
        classification.ALONE: 2,
    }
    assert answers.total == 16
    assert len(answers.items) == 9
    assert "lone, once" in answers.notes[0]
    assert "4 folds instead of 10: the smallest class has 4 texts" in answers.notes[1]


def test_missing_convergence_is_a_note_and_not_a_warning(tmp_path, vectors, using):
    (path,) = put(tmp_path, "\n".join(sentences(["even", "odd"], 20)))
    with patch.object(classification, "_MAX_ITERATIONS", 1):
        answers = read_texts(path, EvalOptions(folds=5)).answer(vectors, using)
    assert answers.notes == ("5 of 5 folds did not converge in 1 iterations",)


@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_answers_are_the_same_at_any_number_of_threads(tmp_path, vectors: Vectors, kind: str):
    labels = kind == "labels"
    lines = sentences(["a", "b", "c"], 20) if labels else numbered(vectors, 40, split=False)
    (path,) = put(tmp_path, "\n".join(lines))
    task: Task = (read_texts if labels else read_targets)(path, EvalOptions(folds=4))
    given = []
    for threads, memory in ((1, 0.0), (3, 0.3)):
        with open_context(RunOptions(threads=threads, memory=memory)) as using:
            given.append(task.answer(vectors, using).given)
    assert np.array_equal(given[0], given[1])


@pytest.mark.parametrize(
    ("line", "what"), [("no tab here", "no tab"), (" \ttext", "no label"), ("\ttext", "no label")]
)
def test_a_line_without_a_label_is_named(tmp_path: Path, line: str, what: str):
    (path,) = put(tmp_path, f"a\tsome text\n\n{line}\n")
    with pytest.raises(InputError) as caught:
        read_texts(path, OPTIONS)
    assert_one_line(caught, "0.txt line 3", what, repr(line))


@pytest.mark.parametrize("text", ["a\tw1\na\tw2\nb\tw3", "a\tx\na\ty\nb\tz\nb\tu", "a\tw1\nb\tw1"])
def test_fewer_than_two_labels_are_rejected(tmp_path, vectors: Vectors, using: Context, text: str):
    (path,) = put(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_texts(path, OPTIONS).answer(vectors, using)
    assert_one_line(caught, "0.txt", "two labels", "label, tab, text", "--case")


def test_the_error_for_too_few_labels_lists_exclusions(tmp_path, vectors: Vectors, using: Context):
    lines = ["w1 w2\tpos", "w3 w4\tpos", "w5 w6\tneg", "w7 w8\tw9"]  # in the other order
    (path,) = put(tmp_path, "\n".join(lines))
    with pytest.raises(InputError) as caught:
        read_texts(path, OPTIONS).answer(vectors, using)
    left = f"{classification.CONTRADICTORY}: 2, {averaging.UNKNOWN}: 1, {classification.ALONE}: 1"
    assert_one_line(caught, f"found 0 of 2 (left out: {left})")


@pytest.mark.parametrize("head", ["label\ttext", "Class\tSENTENCE", "category\tdocument"])
def test_a_header_is_skipped(tmp_path: Path, vectors: Vectors, using: Context, head: str):
    (path,) = put(tmp_path, "\r\n".join([head, *sentences(["even", "odd"], 5)]))
    task = read_texts(path, OPTIONS)
    assert (task.labels, len(task.texts)) == (("even", "odd"), 10)


@pytest.mark.parametrize("line", ["label\ttext and more", "text\tlabel", "label\tpage\ttext"])
def test_a_line_that_is_not_exactly_a_header_is_a_text(tmp_path: Path, line: str):
    (path,) = put(tmp_path, "\n".join([line, *sentences(["even", "odd"], 5)]))
    assert len(read_texts(path, OPTIONS).texts) == 11


@pytest.mark.parametrize("split", [True, False])
def test_a_linear_target_is_predicted(tmp_path, vectors: Vectors, using: Context, split: bool):
    (path,) = put(tmp_path, "\n".join(numbered(vectors, 90, split)))
    answers = read_targets(path, EvalOptions(folds=3)).answer(vectors, using)
    assert answers.score(answers.measures[0]) > 0.95
    assert answers.score(answers.measures[1]) < 0.5
    assert answers.total == len(answers.items) == (30 if split else 90)
    if split:
        assert answers.items.tolist() == list(range(0, 90, 3))


def test_the_gaussian_process_equals_that_of_scikit_learn(vectors: Vectors):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    rng = np.random.default_rng(3)
    means = rng.standard_normal((70, 4)) * [1, 10, 100, 0.1] + 5
    targets = 7 + np.sin(means[:, 0]) + 0.3 * rng.standard_normal(70)
    train, test = np.arange(60), np.arange(60, 70)
    given, problem = gaussian_process.gaussian_process(means, targets)(train, test)
    z = (means - means[:60].mean(axis=0)) / means[:60].std(axis=0)
    # Lengths are in units of √K = 2.
    kernel = ConstantKernel(1.0, (1e-3, 1e5)) * Matern(2.0, (0.02, 2000), nu=2.5)
    model = GaussianProcessRegressor(kernel + WhiteKernel(1.0, (1e-5, 1e2)), normalize_y=True)
    model.fit(z[:60], targets[:60])
    assert np.allclose(given, model.predict(z[60:]), atol=1e-6)
    assert problem == ""


def test_excluded_rows_are_counted_by_split(tmp_path, vectors: Vectors, using: Context):
    rows = numbered(vectors, 30, split=True)
    extra = ["a,w1 w2,,True,0", "b,w1 w2,,False,0", "c,zzz,1,True,0", "d,zzz yyy,1,False,0"]
    again = [rows[1], rows[2], "e,w5,1,False,0", "f,w5,2,False,0"]
    (path,) = put(tmp_path, "\n".join([*rows, *extra, *again]))
    answers = read_targets(path, OPTIONS).answer(vectors, using)
    assert answers.excluded == {
        regression.MISSING: 1,
        averaging.UNKNOWN: 1,
        regression.REPEATED: 1,
        regression.CONTRADICTORY: 2,
    }
    assert answers.total == 10 + 5
    reasons = (regression.MISSING, regression.REPEATED, averaging.UNKNOWN)
    assert {f"left out of training: 1 ({reason})" for reason in reasons} <= {*answers.notes}


def test_r_squared_of_a_constant_target_is_undefined(tmp_path, vectors, using):
    rows = ["text\ttarget", *(f"w{k} w{k + 1}\t3.5" for k in range(12))]
    (path,) = put(tmp_path, "\n".join(rows))
    answers = read_targets(path, EvalOptions(folds=2)).answer(vectors, using)
    assert np.isnan(answers.score(answers.measures[0]))
    assert answers.score(answers.measures[1]) == pytest.approx(0, abs=1e-6)
    assert any("R² is undefined" in note for note in answers.notes)


def test_texts_limit_the_number_of_folds(tmp_path: Path, vectors: Vectors, using: Context):
    (path,) = put(tmp_path, "\n".join(numbered(vectors, 5, split=False)))
    answers = read_targets(path, OPTIONS).answer(vectors, using)
    assert "5 folds instead of 10: there are only 5 texts" in answers.notes
    assert len(answers.items) == 5


def test_a_parameter_at_its_bound_is_reported(using: Context):
    means = np.random.default_rng(0).standard_normal((40, 2))
    fit = gaussian_process.gaussian_process(means, means[:, 0] ** 2)  # noise-free
    _, problems = predict(fit, np.repeat([0, TRAIN_ONLY], 20), using)
    assert problems[0].startswith("hit a bound on ")
    assert problems[0].endswith("noise")


def test_a_failed_optimisation_is_reported(tmp_path, vectors: Vectors, using: Context):
    from scipy import optimize

    def failing(*args, **how):
        return optimize.OptimizeResult(x=args[1], fun=0.0, success=False)

    for split, note in ((False, "3 of 3 Gaussian"), (True, "1 of 1 Gaussian")):
        (path,) = put(tmp_path, "\n".join(numbered(vectors, 12, split)))
        task = read_targets(path, EvalOptions(folds=3))
        with patch.object(optimize, "minimize", failing):
            answers = task.answer(vectors, using)
        assert answers.notes == (f"{note} processes did not converge",)


def test_too_large_a_training_set_is_rejected(tmp_path, vectors: Vectors, using: Context):
    (path,) = put(tmp_path, "\n".join(numbered(vectors, 60, split=True)))
    task = read_targets(path, OPTIONS)
    with patch.object(regression, "MAX_TEXTS", 39), pytest.raises(InputError) as caught:
        task.answer(vectors, using)
    assert_one_line(caught, "0.txt", "at most 39 texts", "found 40")
    huge = patch.object(regression, "fit_bytes", lambda n: 10**18)
    with huge, pytest.raises(InputError) as caught:
        task.answer(vectors, using)
    assert_one_line(caught, "0.txt", "--memory")


@pytest.mark.parametrize("rows", [["text,y", "zzz,1"], ["text,y", "w1,1", "w2,2"]])
def test_too_few_texts_are_rejected(tmp_path, vectors: Vectors, using: Context, rows: list[str]):
    (path,) = put(tmp_path, "\n".join(rows))
    with pytest.raises(InputError) as caught:
        read_targets(path, OPTIONS).answer(vectors, using)
    assert_one_line(caught, "0.txt", "too few texts")


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("name,sequence,T50,is_train,m", "x,AC DE,1.5,True,9"),
        ("is_train\tm\tTEXT\tY", "1\t9\tAC DE\t1.5"),
        ("score,m,text,is_train", '1.5,9,"AC DE",true'),
        ("sequence,is_train,target", "AC DE,TRUE,1.5"),
    ],
)
def test_columns_are_found_by_name_or_place(tmp_path: Path, header: str, row: str):
    (path,) = put(tmp_path, f"\ufeff{header}\r\n{row}\r\n")
    (found,) = read_table(path)
    assert (found.text, found.value, found.train_only) == ("AC DE", 1.5, True)


def test_a_sequence_may_be_long(tmp_path: Path):
    content = "sequence,y\n" + "".join(f"{sign}{'A' * 200_000}{sign},1\n" for sign in ("", '"'))
    (path,) = put(tmp_path, content)
    assert [len(row.text) for row in read_table(path)] == [200_000] * 2


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("name,T50\nx,1\n", ["line 1", "no column named sequence or text", "name, t50"]),
        ("T50,sequence\n1,AC\n", ["line 1", "no column named target"]),
        ("sequence,is_train\nAC,1\n", ["line 1", "no column named target"]),
        ("text,y\nAC,1\nAC,warm\n", ["line 3", "must be a finite number", "'warm'"]),
        ("text,y\nAC,nan\n", ["line 2", "must be a finite number"]),
        ("text,y\nAC,1,2\n", ["line 2", "the row has 3 columns, the header 2"]),
        ("text,y,is_train\nAC,1,maybe\n", ["line 2", "is_train", "'maybe'"]),
        ('text,y\n"AC,1\n', ["line 2", "not valid CSV"]),
        ("text,y\n", ["no rows below the header"]),
    ],
)
def test_an_error_in_a_table_names_the_line(tmp_path: Path, content: str, parts: list[str]):
    (path,) = put(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_targets(path, OPTIONS)
    assert_one_line(caught, "0.txt", *parts)

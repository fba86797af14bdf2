"""TextVectorizer: a transformer of scikit-learn, with the vectors of `wordgeom embed`."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

import wordgeom as wg
from wordgeom.core.errors import InputError, OptionError
from wordgeom.vectors.keyed import write_vectors

SPORT = ["The team won the match.", "A late goal won the game!", "The coach praised the team."]
FOOD = ["Bake the bread slowly.", "The soup needs salt", "A fresh bread with soup"]
TEXTS, LABELS = (SPORT + FOOD) * 5, ([0] * 3 + [1] * 3) * 5
# Checks of scikit-learn that need no matrix: check_estimator leaves them out for text.
CHECKS = (
    "check_estimator_cloneable", "check_estimator_tags_renamed", "check_valid_tag_types",
    "check_estimator_repr", "check_no_attributes_set_in_init", "check_get_params_invariance",
    "check_set_params", "check_do_not_raise_errors_in_init_or_set_param",
    "check_parameters_default_constructible", "check_mixin_order",
)  # fmt: skip


@pytest.fixture
def path(tmp_path, monkeypatch) -> str:
    """Vectors of the words, in a file of the working directory."""
    monkeypatch.chdir(tmp_path)
    words = sorted({word.strip(".!").lower() for text in TEXTS for word in text.split()})
    matrix = np.random.default_rng(0).standard_normal((len(words), 8)).astype(np.float32)
    write_vectors("vectors.bin", words, matrix)
    return "vectors.bin"


@pytest.mark.parametrize("options", [
    {}, {"weights": "tf-idf", "l2": True}, {"weights": "mean", "unit_words": True},
    {"all_but_the_top": 2, "remove_components": 2, "empty": "nan"},
])  # fmt: skip
def test_vectors_are_those_of_the_command(path, ask, options):
    texts = [*TEXTS, "", "unknown"]
    Path("texts.txt").write_text("\n".join(texts) + "\n")
    flags: list[str] = []
    for name, value in options.items():
        flags += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    assert ask("embed", "texts.txt", *flags).status == 0
    expected = np.load("texts.npy")
    vectorizer = wg.TextVectorizer(path, **options)
    np.testing.assert_array_equal(vectorizer.fit_transform(texts), expected)
    np.testing.assert_array_equal(vectorizer.transform(texts), expected)
    np.testing.assert_array_equal(vectorizer.transform(texts[:3]), expected[:3])


@pytest.mark.parametrize("vectors", [None, "vectors.bin"])
def test_scikit_learn_accepts_it(path, vectors):
    with warnings.catch_warnings():  # it tests estimators of matrices further
        warnings.simplefilter("ignore")
        results = estimator_checks.check_estimator(wg.TextVectorizer(vectors))
    assert not [one for one in results or () if one["status"] == "failed"]
    for name in CHECKS:
        if check := getattr(estimator_checks, name, None):
            check("TextVectorizer", wg.TextVectorizer(vectors))


def test_a_pipeline_learns_and_searches(path):
    model = make_pipeline(wg.TextVectorizer(path), LogisticRegression())
    grid = {"textvectorizer__weights": ["mean", "tf-idf", "sif"]}
    search = GridSearchCV(model, grid, cv=3).fit(TEXTS, LABELS)
    assert search.best_score_ == 1.0
    assert search.predict(["the team won", "salt the soup"]).tolist() == [0, 1]


def test_it_is_pickled_and_cloned(path):
    vectorizer = wg.TextVectorizer(path, weights="tf-idf").fit(TEXTS)
    again = pickle.loads(pickle.dumps(vectorizer))
    np.testing.assert_array_equal(again.transform(SPORT), vectorizer.transform(SPORT))
    fresh = clone(vectorizer)
    assert fresh.get_params() == vectorizer.get_params()
    with pytest.raises(NotFittedError):
        fresh.transform(SPORT)


def test_columns_have_names_and_tables_are_made(path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    vectorizer = wg.TextVectorizer(path).set_output(transform="pandas")
    table = vectorizer.fit_transform(pandas.Series(SPORT, index=[5, 6, 7]))
    assert list(table.columns) == [f"textvectorizer{k}" for k in range(8)]
    assert vectorizer.get_feature_names_out().tolist() == list(table.columns)


def test_without_vectors_it_learns_lsa_of_the_texts():
    vectorizer = wg.TextVectorizer(dim=4, weights="mean").fit(TEXTS)
    sport, food = vectorizer.transform(SPORT), vectorizer.transform(FOOD)
    assert sport.shape == (3, 4)
    far = np.linalg.norm(sport.mean(axis=0) - food.mean(axis=0))
    assert far > 0
    small = wg.TextVectorizer(dim=50).fit_transform(["one two", "two three"])
    assert small.shape == (2, 2)
    assert wg.TextVectorizer().fit_transform(["one"]).shape == (1, 1)


def test_texts_without_words_give_no_vectors_and_zeros(path):
    with pytest.raises(InputError, match="texts: contains no words"):
        wg.TextVectorizer().fit(["", "..."])
    assert not wg.TextVectorizer(path).fit(TEXTS).transform(["", "..."]).any()
    assert not wg.TextVectorizer(path).fit_transform(["", "unknown"]).any()


def test_models_and_keyed_vectors_are_vectors_too(path):
    expected = wg.TextVectorizer(path, weights="mean").fit_transform(TEXTS)
    keyed = wg.load_vectors(path)
    made = clone(wg.TextVectorizer(keyed, weights="mean")).fit_transform(TEXTS)
    np.testing.assert_array_equal(made, expected)


def test_what_was_fitted_does_not_depend_on_what_is_transformed(path):
    vectorizer = wg.TextVectorizer(path, weights="tf-idf", remove_components=1).fit(TEXTS)
    alone = np.vstack([vectorizer.transform([text]) for text in SPORT])
    np.testing.assert_array_equal(alone, vectorizer.transform(SPORT))


@pytest.mark.parametrize("text", [
    "%PDF bread", "PK\x03\x04 bread", "BZh9 bread", "\ufeffbread", "bread\nbread", "bread\r\n",
    "\ud800 bread", "\0bread",
])  # fmt: skip
def test_any_string_is_a_text(path, text):
    vectorizer = wg.TextVectorizer(path, weights="mean").fit(TEXTS)
    np.testing.assert_allclose(
        vectorizer.transform([text]), vectorizer.transform(["bread"]), atol=1e-6
    )


def test_text_is_split_as_asked(path):
    vectorizer = wg.TextVectorizer(path, weights="mean",
                                   text_options={"tokeniser": "whitespace"})  # fmt: skip
    made = vectorizer.fit(TEXTS).transform(["Bread bread", "Bread", "bread."])
    assert made[0].any()
    assert not made[1:].any()


@pytest.mark.parametrize(
    ("texts", "said"),
    [("bread", "expected several texts"), ([], "no texts"), ([1.5], "text 0 must be a string"),
     (["bread", None], "text 1 must be a string"),
     (np.ones((2, 2)), "text 0 must be a string")],
)  # fmt: skip
def test_what_is_no_list_of_texts_is_refused(path, texts, said):
    with pytest.raises(InputError, match=said):
        wg.TextVectorizer(path).fit(texts)


def test_wrong_parameters_are_found_at_fit(path):
    with pytest.raises(OptionError, match="weights must be mean or tf-idf or sif"):
        wg.TextVectorizer(path, weights="bm25").fit(TEXTS)
    with pytest.raises(OptionError, match="unknown key 'min_count'"):
        wg.TextVectorizer(path, text_options={"min_count": 2}).fit(TEXTS)


def test_nothing_is_left_behind(path, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    wg.TextVectorizer().fit_transform(TEXTS)
    with pytest.raises(InputError):
        wg.TextVectorizer(path).fit([None])  # type: ignore[list-item]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_the_package_is_imported_without_scikit_learn():
    code = "import sys, wordgeom; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

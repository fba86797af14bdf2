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
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, ParameterGrid
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
    with pytest.raises(InputError, match="the texts: contains no words"):
        wg.TextVectorizer().fit(["", "..."])
    assert not wg.TextVectorizer(path).fit(TEXTS).transform(["", "..."]).any()
    with pytest.raises(
        InputError, match=r"the texts: no word has a vector in vectors\.bin \(1 token read\)"
    ):
        wg.TextVectorizer(path).fit_transform(["", "unknown"])


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
     (["bread", None], "text 1 must be a string, found None; drop it, or fill it with ''"),
     (["bread", float("nan")], "text 1 must be a string, found nan; drop it, or fill it"),
     ([["the", "bread"]], "found list; join its tokens by spaces, with text_options="),
     ([b"bread"], "found bytes; decode it"), (None, "found NoneType; pass a list of texts"),
     ({"text": TEXTS}, "found dict; pass a list"), ({"bread"}, "found set; pass a list of texts,"),
     (["vectors.bin", "vectors.bin"], "found the file name 'vectors.bin'; read the files"),
     (np.ones((2, 2)), "text 0 must be a string")],
)  # fmt: skip
def test_what_is_no_list_of_texts_is_refused(path, texts, said):
    with pytest.raises(InputError, match=said):
        wg.TextVectorizer(path).fit(texts)


def test_a_table_is_refused_and_its_column_is_not(path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pandas.DataFrame({"text": TEXTS, "length": map(len, TEXTS)})
    with pytest.raises(InputError, match=r'found DataFrame; choose its column of texts: df."text"'):
        wg.TextVectorizer(path).fit_transform(table)
    columns = ColumnTransformer([("text", wg.TextVectorizer(path), "text")], remainder="drop")
    np.testing.assert_array_equal(
        columns.fit_transform(table), wg.TextVectorizer(path).fit_transform(TEXTS)
    )


def test_a_grid_may_consist_of_numpy_scalars(path):
    grid = {
        "weights": np.array(["mean", "sif"]), "remove_components": np.arange(2),
        "sif_a": np.logspace(-4, -3, 2), "l2": np.array([True, False]),
    }  # fmt: skip
    for params in ParameterGrid(grid):
        made = wg.TextVectorizer(path, **params).fit_transform(TEXTS)
        plain = {name: value.item() for name, value in params.items()}
        np.testing.assert_array_equal(made, wg.TextVectorizer(path, **plain).fit_transform(TEXTS))


def test_texts_are_split_and_weighted_as_the_counts_of_a_model(tmp_path):
    tokens = [text.split() for text in TEXTS]
    counts = wg.count(tokens, min_count=1)
    model = wg.train(counts, "pmi-eigs", dim=4)
    assert "The" in model.words
    vectorizer = wg.TextVectorizer(model, remove_components=0).fit(SPORT)
    assert vectorizer.notes_ == [f"word frequencies from {counts!r}"]
    p = dict(zip(counts.words, counts.frequencies / sum(map(len, tokens)), strict=True))
    words = ["The", "team", "won"]
    weights = [1e-3 / (1e-3 + p[word]) for word in words]
    rows = [model.words.index(word) for word in words]
    expected = np.average(model.vectors[rows], axis=0, weights=weights) * sum(weights) / 3
    np.testing.assert_allclose(vectorizer.transform(["The team won"])[0], expected, rtol=1e-5)
    model.save(tmp_path / "bare.bin")
    notes = wg.TextVectorizer(tmp_path / "bare.bin").fit(TEXTS).notes_
    assert 'bare.bin was split; tokeniser="words" is assumed' in notes[0]
    counts.close()
    assert pickle.loads(pickle.dumps(model)).corpus.splitting["tokeniser"] == "whitespace"


def test_texts_with_few_known_words_are_noted(path):
    strange = ["ein ganz anderer Satz mit the", "noch ein anderer Satz bread"]
    (note,) = (n for n in wg.TextVectorizer(path).fit(strange).notes_ if n.startswith("only"))
    assert note.startswith("only 18.2% of the tokens have a vector; check the language")


def test_wrong_parameters_are_found_at_fit(path):
    with pytest.raises(OptionError, match="weights must be mean, tf-idf or sif"):
        wg.TextVectorizer(path, weights="bm25").fit(TEXTS)
    with pytest.raises(OptionError, match="unknown key 'min_count'"):
        wg.TextVectorizer(path, text_options={"min_count": 2}).fit(TEXTS)
    with pytest.raises(OptionError, match="text_options must be a dictionary, found str; such as"):
        wg.TextVectorizer(path, text_options="whitespace").fit(TEXTS)  # type: ignore[arg-type]


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

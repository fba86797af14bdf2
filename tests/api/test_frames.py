"""DataFrames into `impute` and out of results: the same as files and attributes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from corpora import assert_one_line

import wordgeom as wg
from wordgeom.core.errors import InputError, OptionError, OutputExistsError
from wordgeom.vectors.keyed import Vectors

pd = pytest.importorskip("pandas")
FIRMS = ["ford", "apple", "boeing", "intel", "tesla", "Alcoa Corp", "Ünal", "名", "x1", "x2"]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> wg.Model:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    monkeypatch.chdir(tmp_path)
    vectors = np.random.default_rng(2).standard_normal((8, 4)).astype(np.float32)
    return wg.Model(Vectors([*FIRMS[:5], "a", "b", "c"], vectors), [], {})


def firms() -> Any:
    """Returns, employees, a flag and a nullable figure of ten firms, as analysts keep them."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"mean": rng.normal(size=10), "staff": rng.integers(5, 90, 10),
         "listed": rng.random(10) > 0.5, "debt": pd.array(rng.normal(size=10), "Float64"),
         2019: np.float32(rng.normal(size=10))},
        index=pd.Index(FIRMS, name="firm"),
    )  # fmt: skip
    return frame


def same(one: wg.ImputedModel, other: wg.ImputedModel) -> bool:
    assert one.words == other.words
    assert list(map(str, one.table)) == list(map(str, other.table))
    return np.array_equal(one.vectors, other.vectors)


@pytest.mark.parametrize("options", [{}, {"standardise": True, "metric": "cosine", "delta": 3}])
def test_a_frame_is_the_table_that_it_writes(options, model):
    firms().astype(float).to_csv("firms.csv")
    made = wg.impute(firms(), model, **options)
    assert same(made, wg.impute("firms.csv", model, **options))
    assert "Alcoa_Corp" in made.words
    assert list(Path("scratch").iterdir()) == []


def test_rows_in_another_order_and_names_in_another_form_give_the_same_vectors(model):
    expected, order = wg.impute(firms(), model), np.random.default_rng(1).permutation(10)
    frame = firms().iloc[order]
    frame.index = frame.index.astype("category")
    other = wg.impute(frame, model)
    pairs = dict(zip(other.words, other.vectors, strict=True))
    for word, vector in zip(expected.words, expected.vectors, strict=True):
        np.testing.assert_allclose(pairs[word], vector, atol=1e-6)


def test_missing_values_are_treated_as_in_tables(model):
    frame = firms()
    frame.loc["intel", "debt"] = pd.NA
    frame.loc["x1", "mean"] = np.nan
    with pytest.raises(InputError) as caught:
        wg.impute(frame, model)
    assert_one_line(caught, "the table: entity 'intel' has no value in column 'debt'",
                    "2 missing in 2 entities", 'use missing="mean"')  # fmt: skip
    filled = wg.impute(frame, model, missing="mean")
    assert "missing values filled with column means: 2 in 2 entities" in filled.notes
    assert "x1" not in wg.impute(frame, model, missing="drop", delta=3).words
    frame.loc["x1", "mean"] = np.inf
    with pytest.raises(InputError, match="'x1' has an infinite value in column 'mean'"):
        wg.impute(frame, model, missing="mean")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.reset_index(drop=True), "the index must hold names, found 0 in row 1; name"),
        (lambda f: f.set_index("staff"), "the index must hold names, found "),
        (lambda f: f.rename(index={"x1": np.nan}), "the index must hold names, found nan in row 9; "
         "name the row, or drop it: df[df.index.notna()]"),
        (lambda f: f.set_index("mean", append=True), "the index must hold names, found ('ford',"),
        (lambda f: f.reset_index().set_index("firm", drop=False), "columns must be numbers, found "
         "'firm' ("),
        (lambda f: f.assign(day=pd.Timestamp("2020-01-01")), "found 'day' (datetime64"),
        (lambda f: f.assign(z=[None, *range(9)]).astype({"z": object}), "found 'z' (object)"),
        (lambda f: f.assign(c="a").astype({"c": "category"}), "found 'c' (category); drop them"),
        (lambda f: f.assign(z=1j), "found 'z' (complex128)"),
        (lambda f: pd.concat([f, f[:1]]), "the table: entities 1 and 11 are both named 'ford'"),
        (lambda f: f.rename(index={"x1": "  "}), "the table: entity 9 has no name"),
        (lambda f: f[[]], "the table has no columns"),
        (lambda f: f[:0], "the table: contains no numbers"),
        (lambda f: f["mean"], "domain must name a file, found Series; pass a "
         "DataFrame: to_frame()"),
        (lambda f: f.to_numpy(), "domain must name a file, found ndarray; write it first"),
    ],
)  # fmt: skip
def test_a_frame_that_is_no_table_of_entities_is_refused(change, said, model):
    with pytest.raises(wg.WordgeomError) as caught:
        wg.impute(change(firms()), model)
    assert_one_line(caught, said)
    assert "wordgeom-" not in str(caught.value)


def test_a_repeated_name_can_be_dropped_and_columns_may_share_a_name(model):
    frame = pd.concat([firms(), firms()[:1] * 2])
    frame.columns = ["a", "a", "b", "b", "c"]
    assert same(wg.impute(frame, model, duplicates="first"), wg.impute(frame[:10], model))


def test_an_imputation_of_the_same_frame_is_up_to_date(model):
    made = wg.impute(firms(), model, out="firms.bin")
    stamp = Path("firms.bin").stat().st_mtime_ns
    assert wg.impute(firms(), model, out="firms.bin").words == made.words
    assert Path("firms.bin").stat().st_mtime_ns == stamp
    with pytest.raises(OutputExistsError, match="force=True"):
        wg.impute(firms() * 2, model, out="firms.bin")


def test_a_frame_of_another_library_gives_its_first_column_as_names(model):
    class Polars:
        """What Polars has, and pandas has not."""

        columns: ClassVar = ["firm", *map(str, firms().columns)]
        dtypes: ClassVar = []

        def to_pandas(self) -> Any:
            return firms().rename(columns=str).reset_index()

    assert same(wg.impute(Polars(), model), wg.impute(firms(), model))


@pytest.mark.parametrize("form", [dict, pd.Series])
def test_a_name_map_may_be_a_dictionary_or_a_series(form, model):
    words = {"x1": "a", "Alcoa Corp": "b", "x2": None, "elsewhere": "c"}
    Path("names.tsv").write_text("x1\ta\nAlcoa Corp\tb\nelsewhere\tc\n")
    expected = wg.impute(firms(), model, name_map="names.tsv")
    made = wg.impute(firms(), model, name_map=form(words), out="firms.bin")
    assert same(made, expected)
    assert made.notes == expected.notes
    assert wg.impute(firms(), model, name_map=form(words), out="firms.bin").notes == made.notes
    with pytest.raises(OutputExistsError):
        wg.impute(firms(), model, name_map=form({"x1": "c"}), out="firms.bin")
    assert list(Path("scratch").iterdir()) == []


@pytest.mark.parametrize(("names", "said"), [
    ({"x1": 3}, "name_map: must map text to text, found 'x1': 3"),
    ({"zz": "a"}, "name_map: no entry, such as 'zz', matches an entity"),
    ({}, "name_map: is empty"),
    (pd.DataFrame({"word": ["a"]}, index=["x1"]), "a dictionary or a Series, found DataFrame"),
    (["x1"], "name_map must be text, found ['x1']; pass the name of a file"),
])  # fmt: skip
def test_a_wrong_name_map_is_named(names, said, model):
    with pytest.raises((InputError, OptionError)) as caught:
        wg.impute(firms(), model, name_map=names)
    assert_one_line(caught, said)
    assert "wordgeom-" not in str(caught.value)


def test_results_become_frames(model, tmp_path):
    frame = model.to_frame()
    assert list(frame.index) == model.words
    np.testing.assert_array_equal(frame.to_numpy(), model.vectors)
    assert frame.to_numpy().dtype == np.float32
    firm = wg.impute(firms(), model)
    table = firm.table.to_frame()
    assert list(table.index) == [row.entity for row in firm.table]
    assert list(table["source"]) == [row.source for row in firm.table]
    (tmp_path / "pairs.txt").write_text("ford apple 9\nboeing intel 3\ntesla ford 2\na b 1\n")
    report = wg.score(model, ["pairs.txt"])
    scores = report.to_frame()
    assert list(scores["set"]) == [score.name for score in report.scores]
    assert list(scores["used"]) == [4] * len(scores)


def test_pandas_is_imported_only_where_a_frame_is_made():
    code = "import sys, wordgeom.api.imputation, wordgeom.evaluation.report, wordgeom.api.frames\n"
    code += "print('pandas' in sys.modules)\n"
    code += "sys.modules['pandas'] = None\n"
    code += "import numpy as np\nfrom wordgeom.vectors.keyed import Vectors\n"
    code += "try: Vectors(['a'], np.ones((1, 2), np.float32)).to_frame()\n"
    code += "except ImportError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\nto_frame() needs pandas; pip install pandas\n"

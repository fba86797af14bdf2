"""Headers of numbers: those that programs write are recognised, and no entity is lost to them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wordgeom.imputation.tables.delimited import read_delimited
from wordgeom.imputation.tables.parquet import read_parquet
from wordgeom.imputation.tables.table import Table

GB = 10**9
_FEATURES = "apple,0.13,-1.2,0.5\npear,0.21,0.7,-0.4\nplum,1.0,0.25,0.0\n"
_ONE_HOT = "aspirin" + ",0,1" * 12 + ",0\ncodeine" + ",1,0" * 12 + ",0\n"


def read(folder: Path, text: str, name: str = "t.csv") -> Table:
    path = folder / name
    path.write_bytes(text.encode())
    return read_delimited(path, GB)


def short(width: int) -> str:
    """The features, cut to some columns."""
    return "".join(",".join(line.split(",")[: width + 1]) + "\n" for line in _FEATURES.split())


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("word,0,1,2", _FEATURES),  # pandas: to_csv(index=False) of numbered columns
        ("word,0,1", short(2)),
        ("word,0", short(1)),
        ("mot,0,1,2", _FEATURES),
        ('"word","0","1","2"', _FEATURES),
        ("Word,0,1,2", _FEATURES),
        ("year,1990,1991", "korea,3,7\nchile,2,1\n"),
        ("year,1990,1995,2015", "korea,3,7,1\nchile,2,1,1\n"),
        ("année,1990,1991,1992", "corée,3,7,1\nchili,2,1,1\n"),
        ("pays,1990,1991", "corée,3.5,7.1\nchili,2.5,3\n"),
        ("date,20240131,20240229,20240331", "AAPL,.01,.02,-.01\nMSFT,.03,-.02,.01\n"),
        ("titre,20240131,20240229", "AAPL,.01,.02\nMSFT,.03,-.02\n"),
        ("wavelength,400.5,401.0,401.5,402.0,402.5", "oak,1,5,2,2,1\nelm,4,2,2,1,0\n"),
        ("time,0.0,0.5,1.0", "oak,1,5,2\nelm,4,2,1\n"),
        ("drug,0,1,2", "aspirin,0,1,0\ncodeine,1,1,0\n"),
        ("gene,1017,5594,9133", _FEATURES),
        ("dosis,10,50,200", _FEATURES),
        ("year,1995,1994,1993", _FEATURES),
        ("land,1995,1994,1993", _FEATURES),
        ("date,20240331,20240229,20240131", _FEATURES),
        ("gene,5594,9133,1017", _FEATURES),
        ("drug,0.1,0.2,0.5,1,2", "aspirin,1,5,2,2,1\ncodeine,4,2,2,1,0\n"),
        ("depth,5.0,4.5,4.0,3.5,3.0", "oak,1,5,2,2,1\nelm,4,2,2,1,0\n"),
        ("Betrieb,2015,2019", short(2)),
        ("Betrieb,2019.0,2018.0", short(2)),
        ("drug," + ",".join(str(7 * k % 31) for k in range(25)), _ONE_HOT),  # unordered codes
        ("firm,False,True", "apple,3,5\npear,2,1\n"),  # a cross table
        ("1,2,3", _FEATURES),  # R: write.table(sep = ","), without a head for the names
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_header_of_numbers_is_no_entity(tmp_path, header, rows, end):
    for mark in ("", "\ufeff"):
        table = read(tmp_path, (mark + header + "\n" + rows).replace("\n", end))
        assert table.names == [line.split(",")[0] for line in rows.split()]
        (note,) = table.notes
        assert "first line was read as a header" in note


@pytest.mark.parametrize(
    "rows",
    [
        "apple,0,1,0\npear,1,0,0\n",
        "apple,1,2,3\npear,4,5,6\n",
        "apple,1,2,3,4,5\npear,2,3,4,5,6\n",
        "apple,3\npear,0.5\n",
        "apple,12,7,5\npear,0.5,0.1,1.5\n",
        "ann,1920,1991\nbob,1931,1999\n",  # years are the data
        "word,0.1,0.2\nterm,0.2,0.5\n",  # the names of columns are the words
        "year,5,3,9\ndate,7,1,2\n",
        "date,0.5,1.5\nday,2,1\n",
        "apple,,1\npear,1,2\n",
        "apple,0,1,2\n",
    ],
)
def test_an_entity_is_no_header(tmp_path, rows):
    table = read(tmp_path, rows)
    assert table.names == [line.split(",")[0] for line in rows.split()]
    assert table.notes == ()


@pytest.mark.parametrize(
    "rows",
    [
        "word,0,1\ndog,0,1\ncat,1,0\n",  # one-hot
        "dog,0,1\ncat,1,0\n",
        "dog,1,2,3\ncat,3,5,1\n",  # Likert scale
        "dose,0.1,0.2,0.5,1,2\naspirin,1,5,2,2,1\ncodeine,4,2,2,1,0\n",
        "year,3,7\nkorea,4,2\nchile,1,6\n",
        "Betrieb,2019\nSiemens,0.1\nBayer,0.2\n",
        "Land,2015,2019\nkorea,3,7\nchile,2,1\n",
        "Arznei," + ",".join(str(7 * k % 31) for k in range(25)) + "\n" + _ONE_HOT,
        "drug,51,9,17\naspirin,0,1,0\ncodeine,1,1,0\n",
        "drug,0.1,0.2,0.5\naspirin,0.3,0.05,0.2\ncodeine,0.4,0.1,0.4\n",  # doses
        "drug,0.1,0.2,0.5\naspirin,0.3,0.05,0.2\ncodeine,0.1,0.3,0.4\n",  # a row ascends, too
    ],
)
def test_an_ambiguous_first_line_is_an_entity_with_a_note(tmp_path, rows):
    table = read(tmp_path, rows)
    assert table.names == [line.split(",")[0] for line in rows.split()]
    (note,) = table.notes
    assert "first line was read as an entity" in note
    assert note.endswith("if it is a header, change its first cell to 'name'")


@pytest.mark.parametrize("header", ["", "ticker,Energy,Health\n"])
def test_truth_values_are_numbers(tmp_path, header):
    table = read(tmp_path, header + "apple,True,False\npear,FALSE,TRUE\nplum,,true\n")
    assert table.names == ["apple", "pear", "plum"]
    np.testing.assert_array_equal(table.matrix, [[1, 0], [0, 1], [np.nan, 1]])


def test_tab_separated_headers_are_recognised_too(tmp_path):
    table = read(tmp_path, ("word,0,1,2\n" + _FEATURES).replace(",", "\t"), "t.tsv")
    assert table.names == ["apple", "pear", "plum"]


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("label", ["word", None])
def test_tables_that_pandas_writes_have_their_entities(tmp_path, index, label):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    names = [f"w{i}" for i in range(30)]
    features = np.random.default_rng(0).standard_normal((30, 5))
    frame = pandas.DataFrame(features, index=pandas.Index(names, name=label))
    if not index:
        frame = frame.reset_index()
    frame.to_csv(tmp_path / "t.csv", index=index)
    table = read_delimited(tmp_path / "t.csv", GB)
    assert table.names == names
    np.testing.assert_allclose(table.matrix, features)


def test_the_row_index_of_pandas_is_no_feature_of_a_parquet_table(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"word": ["a", "b"], "0": [0.5, 1.5], "1": [2, 3], "__index_level_0__": [17, 40]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    table = read_parquet(tmp_path / "t.parquet", GB)
    assert table.matrix.tolist() == [[0.5, 2], [1.5, 3]]
    (note,) = table.notes
    assert "ignored the row index of pandas: __index_level_0__" in note

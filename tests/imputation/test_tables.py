"""Delimited tables: round trips, header detection, and one-line errors."""

from __future__ import annotations

import csv
import gzip
import io
import math
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from corpora import assert_one_line
from hypothesis import example, given
from hypothesis import strategies as st

from wordgeom.core.errors import FormatError, InputError, MissingInputError, WordgeomError
from wordgeom.imputation.domain import DomainOptions, read_domain
from wordgeom.imputation.tables import delimited
from wordgeom.imputation.tables.delimited import read_delimited
from wordgeom.imputation.tables.readers import kind_of
from wordgeom.imputation.tables.table import Table

GB = 10**9
cells = st.floats(allow_infinity=False)
# Names that are not numbers, so that a first line of numbers is an entity; no bare line ends.
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=6).map(
    "e".__add__
)


def read(folder: Path, content: str | bytes, name: str = "t.csv", memory: int = GB) -> Table:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_delimited(path, memory)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
@given(data=st.data(), headed=st.booleans())
def test_csv_round_trips(tmp_path_factory, suffix, data, headed):
    width = data.draw(st.integers(1, 4))
    row = st.tuples(names, st.lists(cells, min_size=width, max_size=width))
    rows = data.draw(st.lists(row, min_size=1, max_size=5))
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t" if suffix == ".tsv" else ",")
    if headed:
        writer.writerow(["who", *("x" * (j + 1) for j in range(width))])
    for name, numbers in rows:
        writer.writerow([name, *("" if math.isnan(x) else repr(x) for x in numbers)])
    content = text.getvalue().encode()
    packed = gzip.compress(content) if suffix.endswith(".gz") else content
    table = read(tmp_path_factory.getbasetemp(), packed, "round" + suffix)
    assert table.names == [name for name, _ in rows]
    np.testing.assert_array_equal(table.matrix, [numbers for _, numbers in rows])
    assert table.matrix.flags.c_contiguous
    assert table.matrix.flags.writeable


@pytest.mark.parametrize(
    ("text", "shape", "column"),
    [
        ("a,1,2,3\nb,4,5,6\n", (2, 3), "column 2"),
        (",0,1\na,1,2\n", (1, 2), "column '0'"),  # pandas
        ('"V1","V2"\n"a",1,2\n', (1, 2), "column 'V1'"),  # R
        ("name,1,2\na,1,2\n", (1, 2), "column '1'"),
        ("who,x,\na,1,2\n", (1, 2), "column 'x'"),
        ("1,2,3\n4,5,6\n", (2, 2), "column 2"),
        ("a;1;2\nb;3;4\n", (2, 2), "column 2"),
        ("a\t1\t2\n", (1, 2), "column 2"),
        ("\ufeffa,1\r\n\r\nb,2", (2, 1), "column 2"),
        ("name,x\n", None, "contains a header but no entities"),
        ("", None, "contains no lines"),
    ],
)
def test_headers_are_detected(tmp_path, text, shape, column):
    if shape is None:
        with pytest.raises(InputError) as caught:
            read(tmp_path, text)
        assert_one_line(caught, column)
        return
    table = read(tmp_path, text)
    assert table.matrix.shape == shape
    assert table.column(0) == column


def test_an_ambiguous_first_line_gives_a_note(tmp_path):
    assert not read(tmp_path, "who,x,y\na,1,2\n").notes
    (note,) = read(tmp_path, "who,7,y\na,1,2\n").notes
    assert "first line was read as a header: 'who', '7', 'y'" in note
    (note,) = read(tmp_path, "7,1\n8,2\n").notes
    assert "all numbers, was read as names: '7'" in note


@pytest.mark.parametrize("cell", ["", " ", "NA", "n/a", "#N/A", "<NA>", "NaN", "null", "None", "-"])
def test_the_usual_markers_are_missing_values(tmp_path, cell):
    matrix = read(tmp_path, f"a,1,2\nb,{cell},4\n").matrix
    np.testing.assert_array_equal(matrix, [[1, 2], [np.nan, 4]])


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("a,1,2\nb,3\n", ["line 2", "needs 3 cells", "found 2"]),
        ("# mine\nwho,x\na,1\n", ["line 2", "needs 1 cell like", "remove lines above"]),
        ("who,x,y\na,1,2\n\nb,3,4,5\n", ["line 4", "needs 3 cells", "found 4"]),
        ("who,x,y\na,1,2\nb,3,foo\n", ["line 3", "column 'y' must be a number", "'foo'"]),
        ("a,1\nb,1_0\n", ["line 2", "column 2", "'1_0'"]),
        ("a,1\nb,?\n", ["line 2", "'?'"]),
        ("who,x,y,z\na,1\n", ["line 1", "the header has 4 cells, the next row 2", "; give"]),
        ('a,1\n"b\nc",2\n"d,3\n', ["line 4", "malformed CSV"]),
        ('a,1\n"b"c,2\n', ["line 2", "malformed CSV"]),
        (b"a,1\nb\xff,2\n", ["line 2", "not UTF-8", "0xff"]),
        ("a,1\n".encode("utf-16"), ["looks like UTF-16", "iconv -f UTF-16 -t UTF-8"]),
        ("a,1\n".encode("utf-32"), ["looks like UTF-32", "iconv -f UTF-32 -t UTF-8"]),
        ("é,1\n".encode("latin-1"), ["line 1", "not UTF-8"]),
        (gzip.compress(b"a,1\nb,2\n" * 999, mtime=0)[:-9], ["broken gzip file"]),
    ],
)
def test_malformed_tables_are_rejected(tmp_path, content, parts):
    with pytest.raises((InputError, FormatError)) as caught:
        read(tmp_path, content)
    assert_one_line(caught, "t.csv", *parts)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_a_table_that_a_spreadsheet_saved_as_unicode_text_is_recognised(tmp_path, encoding):
    path = tmp_path / "t.txt"
    path.write_bytes("name\tprice\tshares\nacme\t1.5\t2\nglobex\t2.5\t3\n".encode(encoding))
    with pytest.raises(InputError) as caught:
        kind_of(path)
    assert_one_line(caught, "t.txt", f"looks like {encoding.upper().replace('-LE', 'LE')}", "iconv")


def test_the_memory_limit_covers_numbers_and_names(tmp_path):
    many = b"a,1,2,3,4\n" * 40_000
    for content in (gzip.compress(many), gzip.compress(b"%s,1\n" % (b"n" * 90_000) * 100)):
        tracemalloc.start()
        with pytest.raises(InputError) as caught:
            read(tmp_path, content, memory=4 * 10**6)
        assert tracemalloc.get_traced_memory()[1] < 8e6
        tracemalloc.stop()
        assert_one_line(caught, "a quarter of --memory")


def test_too_long_a_line_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "_MAX_LINE", 16)
    assert read(tmp_path, "a,1,2,3,4,5,6,7\nb,1,2,3,4,5,6,7").matrix.shape == (2, 7)
    with pytest.raises(InputError) as caught:
        read(tmp_path, "a,1\nb,23456789012345678\n")
    assert_one_line(caught, "line 2", "line of more than 16 bytes")


@given(st.binary(max_size=60) | st.text("a1,;\t\"'\n\r_.e-N \0é", max_size=40).map(str.encode))
@example(b"\x1f\x8b\x08")
@example(b'"')
def test_any_bytes_give_a_table_or_a_wordgeom_error(tmp_path_factory, content):
    try:
        table = read(tmp_path_factory.getbasetemp(), content, "any.csv")
    except WordgeomError:
        return
    assert len(table.names or []) == len(table.matrix) > 0


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("a.npy", b"", "npy"),
        ("a.parquet", b"", "parquet"),
        ("a.tsv", b"\x93NUMPY", "delimited"),
        ("a.TSV.gz", b"", "delimited"),
        ("a.txt", b"2 3\nx 1 2 3\n", "vectors"),
        ("a.txt", b"2\t3\nx 1 2 3\n", "vectors"),
        ("a.txt", b"gene\tx\n", "delimited"),
        ("a.dat", b"\x93NUMPY\x01\0", "npy"),
        ("a.dat", b"PK\x03\x04", "npz"),
        ("a.txt.gz", b"\x1f\x8b", "delimited"),
        ("glove.840B", b"the 0.1 -2e-3 4\nof 1 2 3\n", "vectors"),
    ],
)
def test_the_kind_is_detected_by_suffix_or_content(tmp_path, name, head, kind):
    (tmp_path / name).write_bytes(head)
    assert kind_of(tmp_path / name) == kind


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("a.json", b'[{"name": "a", "x": 1}]'),
        ("a.pkl", b"\x80\x04\x95\0\0\t"),
        ("a.txt", b"name;x;y\n"),
        ("words", b"the\nof\n"),
        ("a.xyz", b""),
    ],
)
def test_an_unknown_kind_lists_the_supported_ones(tmp_path, name, head):
    (tmp_path / name).write_bytes(head)
    with pytest.raises(InputError) as caught:
        kind_of(tmp_path / name)
    suffix = Path(name).suffix
    assert_one_line(
        caught, name, suffix or "without suffix", ".npy, .npz, .csv, .tsv", ".parquet", ".vec"
    )


def workbook(member: str, content: bytes = b"") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        made.writestr(member, content)
    return packed.getvalue()


@pytest.mark.parametrize("name", ["a.xlsx", "a.csv", "a.ods"])
@pytest.mark.parametrize(
    "content",
    [
        workbook("xl/workbook.xml"),
        workbook("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    ],
)
def test_a_workbook_suggests_csv(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        kind_of(tmp_path / name)
    assert_one_line(caught, name, "is a workbook; save each sheet as a CSV file")


@pytest.mark.parametrize(
    ("name", "member", "line"),
    [
        ("a.xlsx", "a.txt", "is a zip archive named .xlsx; unpack it with unzip"),
        ("a.docx", "word/document.xml", "is a word-processor document; save it as text"),
        ("a.csv", "word/document.xml", "is a word-processor document; save it as text"),
        ("a.zip", "a.csv", "is a zip archive; unpack it with unzip"),
    ],
)
def test_an_archive_without_arrays_is_named(tmp_path, name, member, line):
    (tmp_path / name).write_bytes(workbook(member))
    with pytest.raises(InputError) as caught:
        kind_of(tmp_path / name)
    assert_one_line(caught, name, line)


def test_compressed_vectors_are_a_table(tmp_path):
    (tmp_path / "t.vec.gz").write_bytes(gzip.compress(b"2 2\na 1 2\nb 3 4\n"))
    domain = read_domain(tmp_path / "t.vec.gz", DomainOptions(), GB)
    assert (domain.names, domain.matrix.tolist()) == (["a", "b"], [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("who;x;y\na;1,5;2,5\n", "found '1,5'; use a decimal point"),
        ('who,x\na,"-1.234,5"\n', "use a decimal point"),
        ("a;1,5;2,5\nb;1,5;2,5\n", "use a decimal point"),
        (",name,x\n0,apple,1\n1,pear,2\n", "found 'apple'; the first column is a row index"),
        (",name,x\n0,apple,1\n", "to_csv(FILE, index=False)"),
        ("who,name,x\n0,apple,1\n", "found 'apple'; put names in the first column"),
        (",x,y\n0,1,pear\n", "found 'pear'; put names in the first column"),
    ],
)
def test_common_mistakes_get_a_specific_remedy(tmp_path, text, part):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert_one_line(caught, part)


@pytest.mark.parametrize(
    ("name", "what"), [("none.csv", "no such file"), ("", "not a file but a directory")]
)
def test_a_missing_file_is_reported(tmp_path, name, what):
    with pytest.raises(MissingInputError) as caught:
        read_domain(tmp_path / name, DomainOptions(), GB)
    assert_one_line(caught, what)


def test_parquet_names_are_in_the_first_text_column(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "whole": [1, 2**60 + 1, None],
        "who": ["a b", "b", "c"],
        "truth": [True, False, None],
        "half": pyarrow.array(np.array([1.5, 2, 3], np.float16)),
    }
    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table(columns), path)
    domain = read_domain(path, DomainOptions(missing="mean"), GB)
    assert domain.names == ["a_b", "b", "c"]
    assert domain.matrix.tolist() == [[1, 1, 1.5], [2.0**60, 0, 2], [2.0**59 + 0.5, 0.5, 3]]
    whole = path.read_bytes()
    for content in (whole[:-9], whole[:40] + whole[60:], b"PAR1"):
        path.write_bytes(content)
        with pytest.raises(WordgeomError) as broken:
            read_domain(path, DomainOptions(), GB)
        assert_one_line(broken, "t.parquet")
    for more, part in (
        ({"other": ["x"] * 3}, "column 'other'"),
        ({"who": [1, 2, 3]}, "no text column"),
    ):
        parquet.write_table(pyarrow.table(columns | more), path)
        with pytest.raises(InputError) as caught:
            read_domain(path, DomainOptions(), GB)
        assert_one_line(caught, part)


def test_parquet_without_pyarrow_explains_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(WordgeomError) as caught:
        read_domain(tmp_path / "t.parquet", DomainOptions(), GB)
    assert_one_line(caught, "pip install 'wordgeom[parquet]'")

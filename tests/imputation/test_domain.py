"""Domains: entity names, name maps, duplicates, and missing values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from wordgeom.core.errors import InputError, MissingInputError, OptionError, WordgeomError
from wordgeom.imputation.domain import Domain, DomainOptions, check_inputs, input_files, read_domain
from wordgeom.imputation.tables.matching import find_anchors
from wordgeom.imputation.tables.missing import fill_with_means
from wordgeom.imputation.tables.name_map import read_map
from wordgeom.vectors.keyed import Vectors, write_vectors

GB = 10**9
MATRIX = np.arange(6.0).reshape(3, 2)


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def of(folder: Path, text: str, **options: Any) -> Domain:
    """Read a table of text; a name map is given by its content."""
    if "name_map" in options:
        options["name_map"] = str(put(folder / "map", options["name_map"]))
    return read_domain(put(folder / "t.csv", text), DomainOptions(**options), GB)


def matrix_file(folder: Path) -> Path:
    np.save(folder / "matrix.npy", MATRIX)
    return folder / "matrix.npy"


# --- names files


def test_names_are_next_to_the_matrix_or_in_the_given_file(tmp_path):
    path, options = matrix_file(tmp_path), DomainOptions()
    other = put(tmp_path / "other", "\ufeffa b\r\nü\r\nc\r\n\r\n")
    asked = DomainOptions(names=str(other))
    with pytest.raises(MissingInputError) as caught:
        read_domain(path, options, GB)
    assert_one_line(caught, "matrix.npy", "to matrix.txt next to it", "--names")
    for suffix, names in ((".names", ["x", "y", "z"]), (".txt", ["p", "q", "r"])):
        beside = put(path.with_suffix(suffix), "\n".join(names))
        domain = read_domain(path, options, GB)
        assert domain.names == names
        np.testing.assert_array_equal(domain.matrix, MATRIX)
        assert input_files(path, options) == [path, beside]
    words = put(path.with_suffix(".words.txt"), "u\nv\nw")  # `convert` writes it; .txt: vectors
    assert read_domain(path, options, GB).names == ["u", "v", "w"]
    assert input_files(path, options) == [path, words]
    domain = read_domain(path, asked, GB)
    assert domain.names == ["a_b", "ü", "c"]
    assert domain.notes == ("names with white space replaced by _: 1",)
    entries = put(tmp_path / "m", "ü u\n")
    mapped = DomainOptions(names=str(other), name_map=str(entries))
    assert input_files(path, mapped) == [path, other, entries]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a\nb\n", ["matrix.txt", "each of the 3 rows", "found 2 names; add the missing"]),
        ("x\na\nb\nc\n", ["matrix.txt", "each of the 3 rows", "found 4 names; remove"]),
        ("a\n \nc\nd\n", ["matrix.txt line 2", "no name"]),
        (b"a\nb\n\xe9\n", ["matrix.txt line 3", "UTF-8"]),
        ("", ["matrix.txt", "is empty"]),
    ],
)
def test_an_invalid_names_file_is_rejected(tmp_path, text, parts):
    path = matrix_file(tmp_path)
    put(path.with_suffix(".txt"), text)
    with pytest.raises(InputError) as caught:
        read_domain(path, DomainOptions(), GB)
    assert_one_line(caught, *parts)


@pytest.mark.parametrize("option", ["names", "name_map"])
def test_a_missing_names_file_is_reported_as_such(tmp_path, option):
    path = matrix_file(tmp_path)
    put(path.with_suffix(".txt"), "a\nb\nc\n")
    for name, part in (
        ("none", "no such file; check the path"),
        ("", "not a file but a directory"),
    ):
        with pytest.raises(MissingInputError) as caught:
            input_files(path, DomainOptions.take({option: str(tmp_path / name)}))
        assert_one_line(caught, part)
        assert "standard input" not in str(caught.value)
        assert "build-cooc" not in str(caught.value)


def test_a_missing_table_is_reported_early_unless_a_stage_may_write_it(tmp_path):
    for name in ("none.csv", "none.npy", "none"):
        with pytest.raises(MissingInputError) as caught:
            check_inputs(tmp_path / name, DomainOptions())
        assert_one_line(caught, name, "no such file")
    check_inputs(tmp_path / "vectors.bin", DomainOptions())
    with pytest.raises(MissingInputError):
        check_inputs(matrix_file(tmp_path), DomainOptions())


def test_names_in_the_table_take_precedence(tmp_path):
    """Every format with names; those in an archive take precedence over a names file."""
    put(tmp_path / "t.txt", "p\nq\nr\n")
    np.savez(tmp_path / "t.npz", x=MATRIX, names=np.array(["a", "b", "c"]))
    write_vectors(tmp_path / "t.bin", ["a", "b", "c"], MATRIX.astype(np.float32))
    write_vectors(tmp_path / "t.vec", ["a", "b", "c"], MATRIX.astype(np.float32))
    put(tmp_path / "t.tsv", "a\t0\t1\nb\t2\t3\nc\t4\t5\n")
    for name in ("t.npz", "t.bin", "t.vec", "t.tsv"):
        domain = read_domain(tmp_path / name, DomainOptions(), GB)
        assert domain.names == ["a", "b", "c"]
        assert domain.matrix.dtype == np.float64
        np.testing.assert_array_equal(domain.matrix, MATRIX)
        assert input_files(tmp_path / name, DomainOptions()) == [tmp_path / name]
        with pytest.raises(OptionError) as caught:
            read_domain(tmp_path / name, DomainOptions(names=str(tmp_path / "t.txt")), GB)
        assert_one_line(caught, name, "the table has names")


def test_sparse_archives_use_a_names_file(tmp_path):
    sparse.save_npz(tmp_path / "t.npz", sparse.csr_array(MATRIX))
    put(tmp_path / "t.txt", "p\nq\nr\n")
    domain = read_domain(tmp_path / "t.npz", DomainOptions(), GB)
    assert domain.names == ["p", "q", "r"]
    np.testing.assert_array_equal(domain.matrix, MATRIX)


def test_a_table_larger_than_the_memory_limit_is_rejected(tmp_path):
    huge = sparse.coo_array(([1.0], ([0], [0])), shape=(10**6, 10**6))
    sparse.save_npz(tmp_path / "t.npz", huge)
    put(tmp_path / "t.txt", "p\n")
    write_vectors(tmp_path / "t.bin", ["a"], np.zeros((1, 50), np.float32))
    for name, memory, figures in (
        (
            "t.npz",
            GB,
            "1,000,000 × 1,000,000 numbers take 8 TB, more than the limit of 250 MB",
        ),
        ("t.bin", 1000, "1 × 50 numbers take 400 bytes, more than the limit of 250 bytes"),
    ):
        with pytest.raises(InputError) as caught:
            read_domain(tmp_path / name, DomainOptions(), memory)
        assert_one_line(caught, name, figures, "truncated SVD", "--memory")


# --- renaming


def test_names_are_cleaned_then_mapped_then_lower_cased(tmp_path):
    text = " Apple\u00a0 Inc. ,1\nGE,2\n3 M,3\nBP,4\n"
    entries = "Apple Inc.\tapple\n3_M\tMMM Co\nXX\tyy\n"
    domain = of(tmp_path, text, name_map=entries, lower=True)
    assert domain.names == ["apple", "ge", "mmm_co", "bp"]
    assert domain.notes == (
        "names with white space replaced by _: 2",
        "2 of 3 entries of the name map match an entity; 'XX' does not",
    )


@pytest.mark.parametrize(
    "text",
    [
        "a b\tc\nd\te\n",
        "a b,c\nd,e\n",
        '"a b",c\r\nd,"e"\r\n',
        "a_b c\nd  e\n",
        "a_b\tc\nd\te\na b\tc",
    ],
)
def test_a_name_map_is_separated_by_tabs_commas_or_spaces(tmp_path, text):
    assert read_map(put(tmp_path / "map", text)) == {"a_b": "c", "d": "e"}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a b c\n", ["line 1", "expected an entity and a word", "'a b c'"]),
        ("a\tb\nc\nd\te\n", ["line 2", "expected an entity and a word"]),
        ("a\tb\nc\t\n", ["line 2", "expected an entity and a word"]),
        ("a,b\n\nc,d,e\n", ["line 3", "expected an entity and a word"]),
        ('"a,b\n', ["line 1", "malformed CSV"]),
        ("a\tb\nx\ty\na\tc\n", ["line 3", "'a' is mapped to 'c', and to 'b' in line 1"]),
        ("", ["is empty"]),
    ],
)
def test_a_malformed_name_map_is_rejected(tmp_path, text, parts):
    with pytest.raises(InputError) as caught:
        of(tmp_path, "a,1\n", name_map=text)
    assert_one_line(caught, "map", *parts)


def test_a_space_in_a_space_separated_name_map_suggests_tabs(tmp_path):
    with pytest.raises(InputError) as caught:
        of(tmp_path, "a,1\n", name_map="a b\nc new york\n")
    assert_one_line(caught, "map line 2", "separate the entity and its word by a tab")
    assert of(tmp_path, "a,1\n", name_map="a\tnew york\n").names == ["new_york"]


@pytest.mark.parametrize(
    ("entries", "part"),
    [
        (
            "aapl apple\n",
            "no entry, such as 'aapl', matches an entity of the table; did you mean 'AAPL'?",
        ),
        ("AAPLE apple\n", "did you mean 'AAPL'?"),
        ("apple AAPL\n", "'apple', matches an entity of the table; swap the columns"),
        ("ξ apple\n", "'ξ', matches an entity of the table; the table has 'AAPL', 'GE' …"),
    ],
)
def test_a_name_map_of_another_table_is_rejected(tmp_path, entries, part):
    with pytest.raises(InputError) as caught:
        of(tmp_path, "AAPL,1\nGE,2\n", name_map=entries)
    assert_one_line(caught, "map", "matches an entity of the table", part)


def test_mapped_names_are_recorded(tmp_path):
    text = "AAPL,1\nGE,2\nApple,3\nge2,4\n"
    options = {"lower": True, "duplicates": "first"}
    assert of(tmp_path, text, **options).mapped is None
    domain = of(tmp_path, text, name_map="AAPL Apple\nge2 GE\n", **options)
    assert domain.names == ["apple", "ge"]
    assert domain.mapped == frozenset({"apple"})  # "ge" is GE's own


@given(st.text('ab,\t"_ \n\r', max_size=20))
def test_any_name_map_gives_clean_names_or_a_wordgeom_error(tmp_path_factory, text):
    try:
        words = read_map(put(tmp_path_factory.getbasetemp() / "map", text))
    except WordgeomError:
        return
    assert words
    assert all(name.split() == [name] for name in (*words, *words.values()))


def test_empty_and_unencodable_names_are_rejected(tmp_path):
    with pytest.raises(InputError) as caught:
        of(tmp_path, "a,1\n ,2\n")
    assert_one_line(caught, "t.csv", "entity 2 has no name")
    np.savez(tmp_path / "t.npz", x=MATRIX, names=np.array(["a", "\ud800", "c"]))
    with pytest.raises(InputError) as caught:
        read_domain(tmp_path / "t.npz", DomainOptions(), GB)
    assert_one_line(caught, "entity 2", "cannot be encoded in UTF-8")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a,1\nb,2\na,3\nb,4\na,5\n", {}),
        ("a,1\nb,2\nA,3\nB,4\na,5\n", {"lower": True}),
        ("a,1\nb,2\nc,3\nd,4\ne,5\n", {"name_map": "c a\nd b\ne a\n"}),
    ],
)
def test_repeated_names_are_rejected_or_dropped(tmp_path, text, options):
    with pytest.raises(InputError) as caught:
        of(tmp_path, text, **options)
    said = ["entities 1 and 3 are both named 'a'", "3 repeated names", "--duplicates first"]
    assert_one_line(caught, *(said if not options else ["one", "'a'"]))
    domain = of(tmp_path, text, duplicates="first", **options)
    assert domain.names == ["a", "b"]
    assert domain.matrix.tolist() == [[1], [2]]
    assert any("entities dropped because of repeated names: 3: " in n for n in domain.notes)


def test_names_that_differ_in_their_unicode_form_alone_are_repeated(tmp_path):
    text = "caf\u00e9,1\ncafe\u0301,2\ntea,3\n"
    with pytest.raises(InputError) as caught:
        of(tmp_path, text)
    assert_one_line(caught, "entities 1 and 2 are both named 'caf\u00e9'", "--duplicates first")
    assert of(tmp_path, text, duplicates="first").names == ["caf\u00e9", "tea"]


def test_repeated_words_of_vectors_are_rejected_or_dropped(tmp_path):
    path = put(tmp_path / "t.vec", "3 1\na 1\nb 2\na 3\n")
    with pytest.raises(InputError) as caught:
        read_domain(path, DomainOptions(), GB)
    assert_one_line(caught, "contains 1 repeated word;", "--duplicates first")
    domain = read_domain(path, DomainOptions(duplicates="first"), GB)
    assert domain.matrix.tolist() == [[1], [2]]
    assert domain.notes == ("entities dropped because of repeated names: 1",)


def test_equal_rows_are_separate_entities(tmp_path):
    assert of(tmp_path, "a,1,2\nb,1,2\nc,1,2\n").matrix.tolist() == [[1, 2]] * 3


# --- missing values

GAPS = "who,x,y,z\na,1,,\nb,3,5,\nc,NA,7,\nd,2,6,\n"


def test_missing_values_are_rejected_with_place_and_count(tmp_path):
    with pytest.raises(InputError) as caught:
        of(tmp_path, GAPS)
    assert_one_line(caught, "entity 'a' has no value in column 'y' (6 missing in 4 entities)")
    assert_one_line(caught, "--missing mean", "--missing drop")


def test_missing_values_are_filled_with_column_means(tmp_path):
    domain = of(tmp_path, GAPS, missing="mean")
    assert domain.matrix.tolist() == [[1, 6], [3, 5], [2, 7], [2, 6]]
    assert domain.notes == (
        "columns without values dropped: 1",
        "missing values filled with column means: 2 in 2 entities",
    )
    assert of(tmp_path, "a,1\nb,2\n", missing="mean").notes == ()


def test_the_mean_of_the_largest_numbers_is_finite(tmp_path):
    domain = of(tmp_path, "a,1.7e308\nb,1.7e308\nc,\n", missing="mean")
    assert domain.matrix[2, 0] == pytest.approx(1.7e308)


def test_filling_does_not_change_its_input():
    gaps = np.array([[1, np.nan], [3, 4]])
    result, _ = fill_with_means(gaps, Path("t"))
    assert result.tolist() == [[1, 4], [3, 4]]
    assert np.isnan(gaps[0, 1])


def test_entities_with_missing_values_are_dropped(tmp_path):
    domain = of(tmp_path, "who,x,y\na,1,\nb,3,5\nc,NA,7\nd,2,6\n", missing="drop")
    assert domain.names == ["b", "d"]
    assert domain.matrix.tolist() == [[3, 5], [2, 6]]
    assert domain.notes == ("entities with missing values dropped: 2",)
    assert of(tmp_path, "a,1\nb,2\n", missing="drop").notes == ()


@pytest.mark.parametrize(
    ("text", "options", "parts"),
    [
        (GAPS, {"missing": "drop"}, ["each of 4 entities has a missing value"]),
        ("a,\nb,NA\n", {"missing": "mean"}, ["contains no numbers"]),
        ("a\nb\n", {}, ["contains no numbers", "2 entities with 0 features"]),
        ("who,x\na,1\nb,-inf\nc,inf\n", {}, ["entity 'b'", "infinite", "column 'x' (2 in total)"]),
        ("a,1e999\n", {"missing": "mean"}, ["entity 'a'", "infinite", "column 2"]),
    ],
)
def test_tables_without_usable_values_are_rejected(tmp_path, text, options, parts):
    with pytest.raises(InputError) as caught:
        of(tmp_path, text, **options)
    assert_one_line(caught, "t.csv", *parts)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nonfinite_values_are_rejected_in_every_format(tmp_path, value):
    matrix = MATRIX.copy()
    matrix[1, 1] = value
    np.savez(tmp_path / "t.npz", x=matrix, names=np.array(["a", "b", "c"]))
    write_vectors(tmp_path / "t.bin", ["a", "b", "c"], matrix.astype(np.float32))
    with pytest.raises(InputError) as caught:
        read_domain(tmp_path / "t.npz", DomainOptions(), GB)
    assert_one_line(caught, "t.npz", "entity 'b'", "column 2")
    with pytest.raises(InputError) as caught:  # as in every command that reads vectors
        read_domain(tmp_path / "t.bin", DomainOptions(), GB)
    assert_one_line(caught, "t.bin: the vector of 'b' contains NaN or inf", "convert --drop-nan")
    for missing, rows in (("mean", 3), ("drop", 2)):
        if np.isnan(value):
            options = DomainOptions(missing=missing)
            assert len(read_domain(tmp_path / "t.bin", options, GB).names) == rows


def test_an_empty_matrix_is_rejected(tmp_path):
    for shape in ((0, 3), (3, 0)):
        np.savez(tmp_path / "t.npz", x=np.zeros(shape), names=np.array(["a"] * shape[0], "U1"))
        with pytest.raises(InputError) as caught:
            read_domain(tmp_path / "t.npz", DomainOptions(), GB)
        assert_one_line(caught, "contains no numbers")


# --- tables without names


def test_numbers_in_place_of_names_are_told_from_repeated_names(tmp_path):
    path = put(tmp_path / "m.tsv", "0\t1\t0\n0\t0\t1\n1\t1\t0\n")
    with pytest.raises(InputError, match=r"both named '0'.*; if the first column is no name, add"):
        read_domain(path, DomainOptions(), GB)
    names = put(tmp_path / "names.txt", "a\nb\nc\n")
    with pytest.raises(OptionError, match=r"paste .*names\.txt m\.tsv > named\.tsv"):
        read_domain(path, DomainOptions(names=str(names)), GB)


def test_a_table_of_dates_may_be_to_transpose():
    vectors = Vectors(["one", "two"], np.eye(2, dtype=np.float32))
    with pytest.raises(InputError, match="or transpose the table if its columns are the entities"):
        find_anchors(["2015-01-13", "2015-01-14"], vectors, "returns.csv", "v.bin")


def test_entities_are_found_in_composed_form_and_without_invisible_signs():
    names = ["king", "caf\u0301e", "cafe\u0301", "\u200bqueen", "que\u00aden", "abs\u200cent"]
    words = ["queen", "king", "caf\u00e9", "absent"]
    anchors = find_anchors(names, Vectors(words, np.eye(4, dtype=np.float32)), "t.csv", "v.bin")
    assert anchors.known.tolist() == [True, False, True, True, True, False]
    assert anchors.rows.tolist() == [1, 2, 0, 0]


def test_a_name_with_a_nul_character_is_rejected(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"name,x\na,1\nb\0c,2\n")
    with pytest.raises(InputError) as caught:
        read_domain(tmp_path / "t.csv", DomainOptions(), GB)
    assert_one_line(caught, "the name of entity 2 contains a NUL", r"'b\x00c'", "; remove it")


FIRMS = "name,x,y\nAAPL,1,2\nAPC.DE,1,3\nUAL,5,6\napple,7,8\n"


@pytest.mark.parametrize(
    ("name_map", "parts"),
    [
        ("AAPL\tapple_inc\nAPC.DE\tapple_inc\n", ("'AAPL' and 'APC.DE' one word, 'apple_inc'",)),
        ("\ufeffUAL,united\r\nAPC.DE,apple\r\n", ("'APC.DE' and 'apple' one word, 'apple'",)),
    ],
)
def test_a_name_map_that_gives_two_entities_one_word_is_named(tmp_path, name_map, parts):
    with pytest.raises(InputError) as caught:
        of(tmp_path, FIRMS, name_map=name_map)
    assert_one_line(
        caught, f"{tmp_path / 'map'}: gives the entities ", "; give each a word", *parts
    )
    assert "--duplicates" not in str(caught.value)


def test_what_duplicates_drops_is_listed(tmp_path):
    domain = of(tmp_path, FIRMS, name_map="AAPL\tapple\nAPC.DE\tapple\n", duplicates="first")
    assert domain.names == ["apple", "UAL"]
    assert "entities dropped because of repeated names: 2: APC.DE (as apple), apple" in domain.notes


def test_lower_that_makes_two_names_one_is_named(tmp_path):
    with pytest.raises(InputError) as caught:
        of(tmp_path, "name,x\nAll,1\nALL,2\n", lower=True)
    assert_one_line(caught, "t.csv", "--lower gives the entities 'All' and 'ALL' one name, 'all'")

"""MatrixMarket files: numbers parse exactly, broken lines are named, headers are not trusted."""

from __future__ import annotations

import io
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from corpora import assert_one_line
from hypothesis import example, given
from hypothesis import strategies as st
from matrices import store_matrix
from running import convert

from wordgeom.core.errors import FormatError, InputError, WordgeomError
from wordgeom.formats.matrix_market import MarketFile, write_market
from wordgeom.matrices.cooccurrence import StoredMatrix

HEAD = "%%MatrixMarket matrix coordinate real general\n"
GOOD = HEAD + "% a comment\n\n3 3 3\n1 1 2\n2\t3 0.5\r\n3 1 1e-1"


def read(path: Path, content: str | bytes) -> list[tuple[int, int, float]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    file = MarketFile.open(path)
    return [
        entry
        for block in file.blocks()
        for entry in zip(*(part.tolist() for part in block), strict=True)
    ]


def test_entries_are_read_whatever_the_white_space(tmp_path):
    assert read(tmp_path / "m.mtx", GOOD) == [(0, 0, 2.0), (1, 2, 0.5), (2, 0, 0.1)]
    pattern = GOOD.replace("real", "pattern").replace(" 2\n", "\n").replace(" 0.5", "")
    assert read(tmp_path / "m.mtx", pattern.replace(" 1e-1", "\n\n"))[-1] == (2, 0, 1.0)
    assert read(tmp_path / "m.mtx", "\ufeff" + GOOD.upper().replace("E-1", "e-1"))[1][2] == 0.5


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(0, 1e6).map(repr),
    st.decimals(-(10**6), 10**6, allow_nan=False).map(str),
    st.integers(-(10**25), 10**25).map(str),
    st.from_regex(
        r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,20})(e[+-]?[0-9]{1,4})?", fullmatch=True
    ),
)


@given(st.lists(numbers, min_size=1, max_size=30))
@example(["9007199254740993", "9007199254740993e0", "0.30000000000000004", "1e400", "-0", "5e-324"])
@example(["4503599627370497.5", "3.9999999999999997", "1.7976931348623157e308", "1e23", "1e22"])
def test_every_number_is_the_nearest_float(tmp_path_factory, listed):
    lines = "".join(f"1 {k} {n}\n" for k, n in enumerate(listed, 1))
    head = f"{HEAD}{len(listed)} {len(listed)} {len(listed)}\n"
    found = read(tmp_path_factory.getbasetemp() / "n.mtx", head + lines)
    assert [repr(value) for _, _, value in found] == [repr(float(n)) for n in listed]


def test_scipy_and_we_read_the_same(tmp_path):
    rng = np.random.default_rng(3)
    full = rng.random((60, 60)) * (rng.random((60, 60)) < 0.4)
    for matrix in (full, full + full.T, np.rint(9 * full)):
        path = tmp_path / "m.mtx"
        scipy.io.mmwrite(path, scipy.sparse.coo_array(matrix), precision=17)
        made = np.zeros((60, 60))
        file = MarketFile.open(path)
        for row, column, values in file.blocks():
            made[row, column] = values
        if file.symmetric:
            assert not np.triu(made, 1).any()
            made = made + np.tril(made, -1).T
        np.testing.assert_array_equal(made, matrix)


def test_many_blocks_are_read_in_bounded_memory(tmp_path):
    path, n = tmp_path / "m.mtx", 300_000
    lines = "".join(f"{k} {n + 1 - k} 0.{k}\n" for k in range(1, n + 1))
    path.write_text(f"{HEAD}{n} {n} {n}\n{lines}")
    file = MarketFile.open(path)
    tracemalloc.start()
    total = sum(int(row.sum()) for row, _, _ in file.blocks())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == n * (n - 1) // 2
    assert peak < 50e6


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("%%Matrix", "%Matrix", ["the first line", "MatrixMarket"]),
        ("coordinate", "array", ["unsupported MatrixMarket kind", "array real general"]),
        ("real", "complex", ["complex general"]),
        ("general", "hermitian", ["coordinate real general or symmetric"]),
        ("3 3 3\n", "3 3\n", ["line 4", "rows, columns and entries", "'3 3'"]),
        ("3 3 3\n", "3 3 -3\n", ["line 4"]),
        ("3 3 3\n", "3 3 9999999999999999999\n", ["line 4"]),
        ("3 3 3\n", "3 3 4\n", ["declares 4 entries", "found 3"]),
        ("3 3 3\n", "3 3 2\n", ["declares 2 entries", "found 3"]),
        ("2\t3 0.5", "2 x 0.5", ["line 6", "a row, a column and a number", "'2 x 0.5"]),
        ("2\t3 0.5", "2 3", ["line 6"]),
        ("2\t3 0.5", "2 3 1 1", ["line 6"]),
        ("2\t3 0.5", "2.0 3 1", ["line 6"]),
        ("2\t3 0.5", "-2 3 1", ["line 6"]),
        ("2\t3 0.5", "2 3 x", ["line 6", "a row, a column and a number", "'2 3 x'"]),
        ("2\t3 0.5", "2 3 1_0", ["line 6"]),
        ("2\t3 0.5", "2 3 1e", ["line 6"]),
        ("2\t3 0.5", "2 3 .", ["line 6"]),
        ("2\t3 0.5", "4 3 1", ["a row is not between 1 and 3", "found 4"]),
        ("2\t3 0.5", "2 0 1", ["a column is not between 1 and 3", "found 0"]),
        ("2\t3 0.5", "2 99999999999999999999 1", ["line 6", "'2 99999999999999999999 1'"]),
        ("2\t3 0.5", "\n\n2 9999999999999999 1", ["line 8", "found 9,999,999,999,999,999"]),
        ("2\t3 0.5", "2 3" + " " * (6 << 20) + "1", ["line 6", "line of "]),
    ],
)
def test_errors_name_the_broken_line(tmp_path, old, new, parts):
    path = tmp_path / "m.mtx"
    assert old in GOOD
    with pytest.raises((FormatError, InputError)) as caught:
        read(path, GOOD.replace(old, new))
    assert_one_line(caught, path, *parts)


_BROKEN = (
    "2 3 0x10", "2 3 1,5", "2 3 1d5", "2 3 1j", "2 3 nan(1)", "2 3 \u0663", "\u0662 3 1",
    "2 3 \uff11", "2_0 3 1", "2e0 3 1", "2,3,1", "2 3 --1", '2 3 "1"', "2 3 1 % note", "% note",
    "# note", "2 3 1\0", "\0", "2\xa03 1", "2\u20283 1", "2 3\r1", "2 3 1\r2 2 2",
    "2 9223372036854775808 1", "2 3 True",
)  # fmt: skip


@pytest.mark.parametrize("line", _BROKEN)
def test_a_line_of_anything_else_is_an_error_wherever_it_is(tmp_path, line):
    path, head = tmp_path / "m.mtx", f"{HEAD}3 3 9\n"
    for before in (0, 1, 6, 7):
        filler = ["1 1 1"] * 7
        filler[before:before] = [line]
        for end in ("", "\n"):
            with pytest.raises(FormatError) as caught:
                read(path, head + "\n".join(filler) + end)
            assert_one_line(caught, f"{path} line {before + 3}", "a row, a column and a number")


@given(data=st.data())
def test_mutated_files_raise_only_wordgeom_errors(tmp_path_factory, data):
    content = bytearray(GOOD.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    message = ""
    try:
        read(tmp_path_factory.getbasetemp() / "f.mtx", bytes(content))
    except WordgeomError as error:
        message = str(error)
    assert len(message.splitlines()) <= 1


def test_a_false_header_allocates_nothing(tmp_path):
    """A matrix of 10^9 words, and one of 10^17 entries."""
    (tmp_path / "w").write_text("a\nb\nc\n")
    huge, many = "1000000000 1000000000 3\n", "3 3 100000000000000000\n"
    (tmp_path / "a.mtx").write_text(GOOD.replace("3 3 3\n", huge))
    (tmp_path / "b.mtx").write_text(GOOD.replace("3 3 3\n", many))
    csr: dict[str, Any] = {"format": b"csr", "indices": [9, 9], "data": [1.0, 2.0]}
    np.savez(tmp_path / "c.npz", shape=[10**9] * 2, indptr=[0, 2], **csr)
    np.savez(tmp_path / "d.npz", shape=[3, 3], indptr=[0, 1, 1, 2], **csr)
    for name in ("a.mtx", "b.mtx", "c.npz", "d.npz"):
        tracemalloc.start()
        with pytest.raises(WordgeomError) as caught:
            convert(tmp_path / name, tmp_path / "back", words=str(tmp_path / "w"))
        assert tracemalloc.get_traced_memory()[1] < 100e6
        tracemalloc.stop()
        assert_one_line(caught, tmp_path / name)
    assert not (tmp_path / "back").exists()


def test_what_is_written_has_the_same_bytes_at_any_number_of_threads(tmp_path):
    weights = np.random.default_rng(5).standard_normal((400, 400)).astype(np.float32)
    weights *= np.float32(10) ** np.random.default_rng(6).integers(-30, 30, weights.shape)
    matrix = store_matrix(tmp_path / "pmi", weights, kind="pmi", symmetric=False)
    written = []
    for threads in (1, 2, 4):
        out = io.BytesIO()
        write_market(out, matrix, "words", threads)
        written.append(out.getvalue())
    assert len(set(written)) == 1
    entries = read(tmp_path / "m.mtx", written[0])
    assert [(i, j) for i, j, _ in entries] == list(np.ndindex(weights.shape))
    np.testing.assert_array_equal(np.array([v for *_, v in entries], np.float32), weights.ravel())


_THREADS = """
import io, sys
import scipy.io
from threadpoolctl import threadpool_info
from wordgeom.formats.matrix_market import write_market
from wordgeom.matrices.cooccurrence import StoredMatrix

write = scipy.io.mmwrite

def watched(*arguments, **options):
    print([each["num_threads"] for each in threadpool_info() if each["user_api"] == "scipy"])
    write(*arguments, **options)

scipy.io.mmwrite = watched
write_market(io.BytesIO(), StoredMatrix.open(sys.argv[1]), "words", 3)
"""


def test_the_first_block_is_already_written_by_the_threads_of_the_command(tmp_path):
    store_matrix(tmp_path / "cooc", np.eye(5, dtype=np.int64))
    command = [sys.executable, "-c", _THREADS, str(tmp_path / "cooc")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[3]\n"


def test_a_symmetric_file_stores_the_lower_triangle(tmp_path):
    lines = "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 4\n3 1 2\n2 3 5\n"
    (tmp_path / "m.mtx").write_text(lines)
    (tmp_path / "m.words.txt").write_text("a\nb\nc\n")
    convert(tmp_path / "m.mtx", tmp_path / "back")
    made = StoredMatrix.open(tmp_path / "back")
    assert made.symmetric
    np.testing.assert_array_equal(made.to_scipy().toarray(), [[4, 0, 2], [0, 0, 5], [2, 5, 0]])
    np.testing.assert_array_equal(made.vocabulary.counts, [6, 5, 7])
    convert(tmp_path / "back", tmp_path / "again.mtx")
    text = (tmp_path / "again.mtx").read_text().splitlines()
    assert text[2:] == ["3 3 3", "1 1 4", "3 1 2", "3 2 5"]
    out = io.BytesIO((tmp_path / "again.mtx").read_bytes())
    np.testing.assert_array_equal(scipy.io.mmread(out).toarray(), made.to_scipy().toarray())

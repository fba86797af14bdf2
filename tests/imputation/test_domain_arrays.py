"""NumPy files: same numbers as NumPy and SciPy read; false headers are detected."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from wordgeom.core.errors import FormatError, InputError, WordgeomError
from wordgeom.imputation.tables.npy import read_npy
from wordgeom.imputation.tables.npz import read_npz
from wordgeom.imputation.tables.table import Table

GB = 10**9
DTYPES = ["<f8", ">f8", "f4", "f2", "longdouble", "i1", ">i4", "u8", "?"]
KINDS = ["csr", "csc", "coo", "bsr", "dia"]


class Trap:
    """An object that raises when it is unpickled."""

    def __reduce__(self) -> Any:
        return (exec, ("raise AssertionError('unpickled')",))


def npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def archive(**members: Any) -> bytes:
    """An archive of arrays, or of bytes as they are."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            data = content if isinstance(content, bytes) else npy(np.asarray(content))
            packed.writestr(f"{name}.npy", data)
    return out.getvalue()


def read(folder: Path, content: bytes, reader: Callable[[Path, int], Table] = read_npz) -> Table:
    path = folder / "m"
    path.write_bytes(content)
    return reader(path, GB)


def some(rows: int = 9, columns: int = 6) -> np.ndarray:
    matrix = np.random.default_rng(1).integers(1, 99, (rows, columns)).astype(float)
    matrix[np.random.default_rng(2).random((rows, columns)) < 0.6] = 0
    matrix[-1] = 0
    return matrix


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_any_real_matrix_is_read_as_float64(tmp_path, dtype, order, version):
    matrix = np.array(some(), dtype=dtype, order=order)
    out = io.BytesIO()
    np.lib.format.write_array(out, matrix, version)
    read_back = read(tmp_path, out.getvalue(), read_npy).matrix
    assert read_back.dtype == np.float64
    assert read_back.flags.c_contiguous
    np.testing.assert_array_equal(read_back, matrix.astype(float))


@pytest.mark.parametrize(
    ("array", "part"),
    [
        (np.array([[Trap()]], object), "(dtype object), which are never unpickled"),
        (np.zeros((2, 2), [("a", "f8"), ("b", "O")]), "never unpickled"),
        (np.zeros((2, 2), [("a", "f8"), ("b", "i2")]), "must contain real numbers"),
        (np.zeros((2, 2), complex), "found dtype complex128"),
        (np.array([["a"]]), "found dtype <U1"),
        (np.zeros((2, 2), "m8[s]"), "must contain real numbers"),
        (np.zeros((2, 2), "V0"), "must contain real numbers"),
        (np.zeros(3), "must have two dimensions, found an array of shape (3,)"),
        (np.float64(3), "must have two dimensions"),
        (np.zeros((1, 2, 3)), "must have two dimensions"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_anything_but_a_matrix_of_numbers_is_rejected(tmp_path, array, part, packed):
    content, reader = (archive(m=array), read_npz) if packed else (npy(array), read_npy)
    with pytest.raises(InputError) as caught:
        read(tmp_path, content, reader)
    assert_one_line(
        caught, "must contain one matrix" if packed and "two dimensions" in part else part
    )


def header(shape: str, descr: str = "'<f8'", length: int | None = None) -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x02\0" + (length or len(text)).to_bytes(4, "little") + text


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "not in NumPy's format"),
        (b"\x93NUMPY\x09\0" + b"x" * 99, "not in NumPy's format"),
        (header("(1, 1)") + b"x" * 7, "declares 1 × 1 of float64, 8 bytes, found 7"),
        (header("(1, 1)") + b"x" * 9, "found 9"),
        (header(f"({10**15}, {10**15})"), "the file is truncated"),
        (header("(-1, 8)"), "impossible shape"),
        (header("(True, 8)") + b"x" * 64, "impossible shape"),
        (header("(1, 1)", length=2**32 - 1), "bytes, which is too long"),
        (header("(1, 1)", length=9999), "broken header"),
        (header("(" * 3000), "broken header"),
        (header("(1, 1)", "'<f8"), "broken header"),
        (header("(1L, 1L)", "9"), "broken header"),
    ],
)
def test_a_broken_header_is_rejected_before_allocation(tmp_path, content, part):
    tracemalloc.start()
    with pytest.raises(FormatError) as caught:
        read(tmp_path, content, read_npy)
    assert tracemalloc.get_traced_memory()[1] < 3e6
    tracemalloc.stop()
    assert_one_line(caught, part)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compressed", [False, True])
def test_sparse_matrices_are_read_like_scipy(tmp_path, kind, compressed):
    for matrix in (some(), some(4, 11), some() * np.nan, np.zeros((3, 2))):
        made = sparse.csr_array(matrix).asformat(kind)
        if kind == "bsr" and len(matrix) == 9:
            made = sparse.csr_array(matrix).tobsr(blocksize=(3, 2))
        path = tmp_path / "m.npz"
        sparse.save_npz(path, made, compressed=compressed)
        np.testing.assert_array_equal(read_npz(path, GB).matrix, made.toarray())


def test_repeated_sparse_entries_are_summed(tmp_path):
    made = sparse.coo_array(([1, 2, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    path = tmp_path / "m.npz"
    for kind in (made, sparse.coo_matrix(made), sparse.csr_array(([1, 2.0], [1, 1], [0, 2, 2]))):
        sparse.save_npz(path, kind)
        np.testing.assert_array_equal(read_npz(path, GB).matrix, kind.toarray())


def test_names_in_the_archive_are_read(tmp_path):
    table = read(tmp_path, archive(x=some(2, 3), names=["a", "ü x"], y=[1.0]))
    assert table.names == ["a", "ü x"]
    assert table.notes == (f"{tmp_path / 'm'}: ignored arrays: y",)
    np.testing.assert_array_equal(table.matrix, some(2, 3))


def csr(**changed: Any) -> bytes:
    """A sparse archive [[0, 5], [7, 0]], with members changed."""
    members = {
        "format": b"csr", "shape": [2, 2], "data": [5.0, 7.0], "indices": [1, 0],
        "indptr": [0, 1, 2],
    } | changed  # fmt: skip
    members["format"] = np.array(members["format"])
    return archive(**{name: value for name, value in members.items() if value is not None})


@pytest.mark.parametrize(
    "changed",
    [
        {"format": b"lil"},
        {"format": b""},
        {"shape": [2]},
        {"shape": [-2, 2]},
        {"shape": [2, 10**12]},
        {"shape": [3, 2]},
        {"shape": [2, 1]},
        {"shape": [2.0, 2.0]},
        {"indices": [1, -1]},
        {"indices": [1, 2]},
        {"indices": [[1, 0]]},
        {"indices": [0.5, 0]},
        {"indices": np.array([2**64 - 1, 0], np.uint64)},
        {"indptr": [0, 2, 1]},
        {"indptr": [1, 1, 2]},
        {"indptr": [0, 1, 3]},
        {"indptr": [0, 2**63 - 1, -1]},
        {"indptr": [0]},
        {"indptr": []},
        {"data": [1.0]},
        {"data": np.array([Trap(), 1], object)},
        {"data": np.zeros((2, 0, 1))},
        {"data": np.zeros((2, 2))},
        {"data": None},
        {"format": b"coo"},
        {"format": b"coo", "coords": [[0, 1], [0, 2]]},
        {"format": b"coo", "coords": [[0, 1]]},
        {"format": b"coo", "coords": [[0], [0]]},
        {"format": b"dia", "offsets": [0]},
        {"format": b"bsr", "data": np.zeros((2, 2, 3))},
        {"names": ["a"]},
        {"names": np.array(["a", Trap()], object)},
        {"names": npy(np.array(["a", "b"])).replace(b"b\0\0\0", b"\xff\xff\xff\xff")},
    ],
)
def test_a_broken_sparse_matrix_is_rejected(tmp_path, changed):
    np.testing.assert_array_equal(read(tmp_path, csr()).matrix, [[0, 5], [7, 0]])
    with pytest.raises(WordgeomError) as caught:
        read(tmp_path, csr(**changed))
    assert_one_line(caught)


def test_an_archive_must_contain_exactly_one_matrix(tmp_path):
    for content, found in ((archive(a=some(), b=some()), "a, b"), (archive(v=[1.0]), "among v")):
        with pytest.raises(InputError) as caught:
            read(tmp_path, content)
        assert_one_line(caught, "must contain one matrix", found)


def test_a_member_with_a_false_size_is_not_inflated(tmp_path):
    """A stored member whose entry in the directory claims a terabyte, as its header does."""
    body = header("(1000000, 125000)") + b"\0" * 64
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        packed.writestr("m.npy", body)
    size = len(body).to_bytes(4, "little")
    lie = out.getvalue().replace(size, (2**32 - 2).to_bytes(4, "little"))
    zeros = archive(m=np.zeros((2000, 1000)))  # honest, and too large for this memory
    for content, memory in ((lie, GB), (zeros, 10**7)):
        (tmp_path / "m").write_bytes(content)
        tracemalloc.start()
        with pytest.raises(WordgeomError) as caught:
            read_npz(tmp_path / "m", memory)
        assert tracemalloc.get_traced_memory()[1] < 5e6
        tracemalloc.stop()
        assert_one_line(caught)


SEEDS = [
    (npy(some()), read_npy),
    (csr(), read_npz),
    (archive(m=some(3, 2), names=["a", "b", "c"]), read_npz),
]


@pytest.mark.parametrize(("content", "reader"), SEEDS)
@given(data=st.data())
def test_mutated_files_give_a_matrix_or_a_wordgeom_error(tmp_path_factory, content, reader, data):
    mutated = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(mutated) - 1))
        mutated[at] = data.draw(st.integers(0, 255))
    del mutated[data.draw(st.just(len(mutated)) | st.integers(1, len(mutated))) :]
    try:
        table = read(tmp_path_factory.getbasetemp(), bytes(mutated), reader)
    except WordgeomError:
        return
    assert table.matrix.ndim == 2

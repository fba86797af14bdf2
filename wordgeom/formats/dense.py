"""Vectors as NumPy arrays: .npy, or .npz with the member `matrix`; words in a separate file."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from wordgeom.core.errors import FormatError, InputError
from wordgeom.core.formatting import exceeding, first_few
from wordgeom.core.types import Array, Float32
from wordgeom.formats.npy import Header, read_body, read_header
from wordgeom.formats.npz import Archive, opened_archive
from wordgeom.formats.word_files import read_words
from wordgeom.storage.opening import opened
from wordgeom.vectors.keyed import Vectors

_MEMBER = "matrix"
_KINDS = "iuf"  # dtype kinds: integers and floats


def read_dense(path: Path, words: Path, archive: bool, memory: int) -> Vectors:
    """Read vectors (V × K) and their words. Raises MissingInputError, FormatError, InputError."""
    names = read_words(words).words
    matrix = read_matrix(path, archive, memory)
    if len(matrix) != len(names):
        found = f"{len(names):,} in {words}"
        raise InputError(f"{len(matrix):,} vectors need as many words", where=path, found=found,
                         do="replace it, or convert with --words FILE")  # fmt: skip
    return Vectors(names, matrix)


def read_matrix(path: Path, archive: bool, memory: int) -> Float32:
    """Read the array (n × K) of a file; raises as `read_dense` does."""
    return _to_float32((_read_npz if archive else _read_npy)(path, memory), path)


def dense_shape(path: Path, archive: bool) -> tuple[int, int]:
    """Return the shape of an array, as its header says; raises as `read_dense` does."""
    if archive:
        with opened_archive(path, 0) as held:
            header = held.header(_only_matrix(held, path))
    else:
        with opened(path, "a .npy file") as source:
            header = read_header(source, path.stat().st_size, path)
    _check_shape(header, path)
    rows, columns = header.shape
    return rows, columns


def write_npy(out: BinaryIO, matrix: Array) -> None:
    """Write an array in the bytes of np.save."""
    array = np.ascontiguousarray(matrix)
    np.lib.format.write_array_header_1_0(out, np.lib.format.header_data_from_array_1_0(array))
    out.write(array.data)  # np.save bypasses the handle and loses the cause of a write error


def write_npz(out: BinaryIO, matrix: Array) -> None:
    """Write an uncompressed archive of one array."""
    with zipfile.ZipFile(out, "w") as packed:
        info = zipfile.ZipInfo(f"{_MEMBER}.npy")  # no date: equal vectors give equal bytes
        with packed.open(info, "w", force_zip64=True) as member:
            np.lib.format.write_array(member, np.ascontiguousarray(matrix), allow_pickle=False)


def to_float16(words: list[str], matrix: Float32, where: Path) -> Array:
    """Return a matrix as float16. Raises InputError naming the first word out of range."""
    with np.errstate(over="ignore"):
        half = matrix.astype(np.float16)
    bad = (np.isinf(half) & ~np.isinf(matrix)).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        number = f"{np.abs(matrix[row]).max():g}"
        what = f"the vector of {words[row]!r} has {number}, beyond the range of float16, 65,504"
        raise InputError(what, where=where, do="leave out --float16")
    return half


def _read_npy(path: Path, memory: int) -> Array:
    with opened(path, "a .npy file") as source:
        header = read_header(source, path.stat().st_size, path)
        _check_shape(header, path)
        _check_size(header, path, memory)
        return read_body(source, header, path, _KINDS)


def _read_npz(path: Path, memory: int) -> Array:
    with opened_archive(path, memory) as archive:
        name = _only_matrix(archive, path)
        header = archive.header(name)
        _check_shape(header, path)
        _check_size(header, path, memory)
        return archive.array(name, _KINDS)


def _only_matrix(archive: Archive, path: Path) -> str:
    """Return the name of the archive's matrix; raises InputError unless there is one."""
    names = [m for m in archive.members if len(archive.header(m).shape) == 2]
    if not names and "format" in archive.members:  # of scipy.sparse.save_npz
        do = f"for counts, wordgeom convert {path} DIRECTORY; for vectors, save a dense matrix"
        raise InputError("is a sparse matrix, not vectors", where=path, do=do)
    if len(names) != 1:
        found, do = first_few(names) or "none", "save one: np.savez(FILE, matrix=…)"
        raise InputError("must contain one matrix", where=path, found=found, do=do)
    return names[0]


def _check_shape(header: Header, path: Path) -> None:
    if len(header.shape) != 2 or 0 in header.shape:
        found = f"an array of shape {header.shape}"
        raise FormatError("must contain a row of numbers per word", where=path, found=found)


def _check_size(header: Header, path: Path, memory: int) -> None:
    if header.nbytes > memory:
        need, limit = exceeding(header.nbytes, memory)
        what = f"needs {need}, more than the memory limit of {limit}"
        raise InputError(what, where=path, do="raise --memory")


def _to_float32(matrix: Array, path: Path) -> Float32:
    """Return a matrix as float32. Raises InputError for a number out of range."""
    with np.errstate(over="ignore"):
        single: np.ndarray[Any, np.dtype[np.float32]] = np.ascontiguousarray(matrix, np.float32)
    if (np.isinf(single) & np.isfinite(matrix)).any():
        what = "contains a number beyond the range of float32"
        raise InputError(what, where=path, do="scale the vectors down")
    return single

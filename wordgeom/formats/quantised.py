"""Quantised vectors: an .npz archive of words and codes, which `compress` writes.

| member | array |
|---|---|
| `quantised` | int64 (4): version 1; bits of a scalar, or 0 for products; columns K; exponent |
| `words` | uint8: the words in UTF-8, each ended by a line feed |
| `codes` | uint8 (V × C) |
| `norms` | float16 (V): norms / 2^exponent |
| `table` | float32: steps (K), or centroids (M × 256 × ⌈K / M⌉) |

Codes are those of `vectors/quantisation.py`. Members are deflated, and have no date: equal vectors
give equal bytes.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from wordgeom.core.errors import FormatError, InputError
from wordgeom.core.formatting import exceeding
from wordgeom.formats.npz import Archive, opened_archive
from wordgeom.vectors.keyed import Vectors, check_words
from wordgeom.vectors.options import BITS
from wordgeom.vectors.quantisation import CENTROIDS, Codes

SUFFIX = ".npz"
_MARK, _WORDS, _NORMS, _CODES, _TABLE = "quantised", "words", "norms", "codes", "table"
_VERSION = 1
_LEAST = 1 << 10  # bytes: more than `quantised` takes
_EXPONENTS = 300  # beyond those of all float32
_AGAIN = "compress the vectors again"


def is_quantised(path: Path) -> bool:
    """Return whether a file is an archive of quantised vectors."""
    try:
        with zipfile.ZipFile(path) as packed:
            return f"{_MARK}.npy" in packed.namelist()
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
        return False  # its reader says what is wrong


def write_quantised(out: BinaryIO, words: Sequence[str], codes: Codes) -> None:
    """Write words and the codes of their vectors into an open file."""
    text = "".join(f"{word}\n" for word in words).encode()
    members = {
        _MARK: np.array([_VERSION, codes.bits, codes.columns, codes.exponent], np.int64),
        _WORDS: np.frombuffer(text, np.uint8), _NORMS: codes.norms,
        _CODES: codes.codes, _TABLE: codes.table,
    }  # fmt: skip
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, array in members.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            info.compress_type = zipfile.ZIP_DEFLATED
            with packed.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


def read_quantised(path: Path, memory: int) -> Vectors:
    """Read the vectors (V × K) that codes stand for, float32.

    Raises MissingInputError, FormatError; InputError where they exceed `memory` bytes.
    """
    with opened_archive(path, memory) as archive:
        form = _form_of(archive, path)
        if (needed := 4 * form.rows * form.columns) > memory:
            need, limit = exceeding(needed, memory)
            what = f"needs {need}, more than the memory limit of {limit}"
            raise InputError(what, where=path, do="raise --memory")
        words = _words(archive, path)
        codes, table, norms = (archive.array(name) for name in (_CODES, _TABLE, _NORMS))
    if len(words) != form.rows:
        what = f"{form.rows:,} codes need as many words"
        raise FormatError(what, where=path, found=f"{len(words):,}", do=_AGAIN)
    if not (np.isfinite(table).all() and np.isfinite(norms).all()):
        raise FormatError("has numbers that are not finite", where=path, do=_AGAIN)
    made = Codes(codes, form.bits, form.columns, table, norms, form.exponent).decoded()
    if not np.isfinite(made).all():
        raise FormatError("has vectors beyond the range of float32", where=path, do=_AGAIN)
    return Vectors(words, made)


def quantised_shape(path: Path) -> tuple[int, int]:
    """Return the number of words and the dimension; raises MissingInputError, FormatError."""
    with opened_archive(path, _LEAST) as archive:
        form = _form_of(archive, path)
    return form.rows, form.columns


@dataclass(frozen=True)
class _Form:
    """What an archive says of itself: V, K, the bits, and the exponent of the norms."""

    rows: int
    columns: int
    bits: int
    exponent: int


def _form_of(archive: Archive, path: Path) -> _Form:
    """Return the form of an archive, checked against the headers of its members."""
    mark = archive.header(_MARK)
    if mark.shape != (4,) or mark.dtype != np.int64:
        raise FormatError("its member 'quantised' must be four integers", where=path, do=_AGAIN)
    version, bits, columns, exponent = (int(number) for number in archive.array(_MARK))
    if version != _VERSION:
        do = "read it with the version of wordgeom that wrote it"
        what = f"version {version} of quantised vectors is not known"
        raise FormatError(what, where=path, found=f"known: {_VERSION}", do=do)
    codes, table, norms = (archive.header(name) for name in (_CODES, _TABLE, _NORMS))
    rows, width = codes.shape if len(codes.shape) == 2 else (0, 0)
    if bits == 0:
        fits = 1 <= width <= columns and table.shape == (width, CENTROIDS, -(-columns // width))
    else:
        fits = bits in BITS and width == -(-columns * bits // 8) and table.shape == (columns,)
    dtypes = [(codes, np.uint8), (table, np.float32), (norms, np.float16)]
    fits &= all(header.dtype == dtype and not header.fortran for header, dtype in dtypes)
    if not (fits and rows and columns and norms.shape == (rows,) and abs(exponent) <= _EXPONENTS):
        what = f"its members do not fit {columns:,} columns of {bits} bits"
        found = f"codes {codes.shape}, table {table.shape}, norms {norms.shape}"
        raise FormatError(what, where=path, found=found, do=_AGAIN)
    return _Form(rows, columns, bits, exponent)


def _words(archive: Archive, path: Path) -> list[str]:
    header = archive.header(_WORDS)
    if header.dtype != np.uint8 or len(header.shape) != 1:
        raise FormatError("its member 'words' must be bytes", where=path, do=_AGAIN)
    try:
        text = archive.array(_WORDS).tobytes().decode()
    except UnicodeDecodeError:
        raise FormatError("its words are not valid UTF-8", where=path, do=_AGAIN) from None
    lines = text.split("\n")
    if lines.pop():
        raise FormatError("its words end within a word", where=path, do=_AGAIN)
    try:
        return check_words(lines, None, path)
    except InputError as error:
        raise FormatError(error.what, where=path, do=_AGAIN) from None

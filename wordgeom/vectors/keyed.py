"""Word vectors in memory, and word2vec files: .bin (binary), .txt and .vec (text, also as .gz).

Words contain no white space, which ends a word in both formats. A file that violates its format
is an error, never read in part.
"""

from __future__ import annotations

import gzip
import hashlib
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np

from wordgeom.core.errors import InputError, MissingInputError, OptionError
from wordgeom.core.formatting import first_few
from wordgeom.core.frames import data_frame
from wordgeom.core.types import Allocate, Float32
from wordgeom.storage.disk_space import Space
from wordgeom.storage.files import atomic_file
from wordgeom.vectors.word2vec_binary import read_binary, write_binary
from wordgeom.vectors.word2vec_header import (
    BINARY_SUFFIXES,
    TEXT_SUFFIXES,
    name_suffix,
    opened,
    read_header,
)
from wordgeom.vectors.word2vec_text import read_text, write_text

if TYPE_CHECKING:
    from gensim.models import KeyedVectors
    from pandas import DataFrame

_ROWS = 1 << 14  # rows moved at once
_PRINTED, _PACKED = 3, 2  # times as large is a text file as a binary one, and if compressed
_INVISIBLE = str.maketrans("", "", "\u00ad\ufeff\u200b")


@dataclass(frozen=True, eq=False)
class Vectors:
    """V words and their vectors, row by row.

    matrix (V × K) float32, C-contiguous; duplicates: repeated words of a file, which were dropped.
    Raises InputError where words and matrix do not match.
    """

    words: list[str]
    matrix: Float32
    duplicates: int = 0

    def __post_init__(self) -> None:
        _check_shape(self.words, self.matrix)

    def __repr__(self) -> str:
        words, dimension = self.matrix.shape
        return f"<Vectors of {words:,} × {dimension:,}: {first_few(self.words)}>"

    def to_frame(self) -> DataFrame:
        """Return the vectors as a DataFrame of pandas: a row per word. Raises UnavailableError."""
        return data_frame(self.matrix, self.words, "word")

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    def row(self, word: str) -> int | None:
        """Return the row of a word, as `row_in` finds it; None for an unknown word."""
        return row_in(self.index, word)


def row_in(rows: Mapping[str, int], word: str) -> int | None:
    """Return the row of a word as it is spelt, or else in NFC or NFD; None for an unknown word."""
    row = rows.get(word)
    if row is not None or word.isascii():
        return row
    found = (rows.get(form) for form in spellings(word)[1:])
    return next((row for row in found if row is not None), None)


def spellings(word: str) -> tuple[str, ...]:
    """Return a word as it is spelt, in NFC and in NFD: one of them for ASCII."""
    if word.isascii():
        return (word,)
    normal = in_nfc(word)
    return word, normal, unicodedata.normalize("NFD", normal)


def in_nfc(word: str) -> str:
    """Return a word in NFC, without the soft hyphen, the byte order mark and zero-width spaces."""
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", word.translate(_INVISIBLE))


def vectors_space(path: Path, rows: int, columns: int, words: Sequence[str] = ()) -> Space:
    """Return the size of a vectors file, exact if it is binary and its words are known."""
    names = len("".join(words).encode())
    binary = len(b"%d %d\n" % (rows, columns)) + names + rows + 4 * columns * rows
    if name_suffix(path) in BINARY_SUFFIXES:
        return Space.exactly(binary)
    packed = path.suffix.lower() == ".gz"
    return Space(0 if packed else 2 * columns * rows, (_PACKED if packed else _PRINTED) * binary)


def write_vectors(
    path: str | Path,
    words: Sequence[str],
    matrix: Float32,
    *,
    space: str | None = None,
) -> None:
    """Write a word2vec file atomically, in the format of its suffix.

    matrix (V × K) float32; space: replaces each white-space character of a word. Raises
    OptionError for an unknown suffix; InputError for a word that is empty, contains white space,
    occurs twice or is not encodable; MissingInputError for a missing directory; WriteError.
    """
    path = Path(path)
    fill = vector_writer(path, words, matrix, space=space)
    with atomic_file(path) as out:
        fill(out)


def vector_writer(
    path: Path,
    words: Sequence[str],
    matrix: Float32,
    *,
    space: str | None = None,
    header: bool = True,
) -> Callable[[BinaryIO], None]:
    """Return a function that writes vectors into the open file of `path`; the words are checked.

    matrix (V × K) float32; header: write the header line of a text file. Raises what
    `write_vectors` raises for its arguments.
    """
    names = writable_words(path, words, space=space)
    _check_shape(words, matrix)
    if not matrix.size:
        rows, columns = matrix.shape
        raise InputError(f"no numbers to write in {rows} × {columns}", where=path)
    if name_suffix(path) in BINARY_SUFFIXES:
        return lambda out: write_binary(out, names, matrix)
    if path.suffix.lower() != ".gz":
        return lambda out: write_text(out, names, matrix, header=header)

    def pack(out: BinaryIO) -> None:
        # Without name and time, the same vectors give the same bytes.
        with gzip.GzipFile("", "wb", fileobj=out, mtime=0) as packed:
            write_text(cast(BinaryIO, packed), names, matrix, header=header)

    return pack


def writable_words(path: str | Path, words: Sequence[str], *, space: str | None) -> list[str]:
    """Return the words as `write_vectors` would write them, to check them in advance.

    Raises what `write_vectors` raises for its path and words.
    """
    path = Path(path)
    binary = path.suffix.lower() in BINARY_SUFFIXES
    if not binary and name_suffix(path) not in TEXT_SUFFIXES:
        what = f"unknown suffix {path.suffix!r} of a vectors file"
        if path.is_dir():
            what = "is a directory, not a vectors file"
        elif not path.suffix:
            what = "the name of a vectors file needs a suffix"
        raise OptionError(what, where=path, do="use .bin, .txt or .vec")
    if not path.parent.is_dir():
        do = "create it, or choose another output"
        raise MissingInputError("no such directory", where=path.parent, do=do)
    return check_words(words, space, path)


def read_vectors(
    path: str | Path, *, limit: int | None = None, allocate: Allocate = np.empty
) -> Vectors:
    """Read a word2vec file, or its first `limit` records; the first of duplicate words counts.

    allocate: returns the array that is filled, as numpy.empty does. The format follows from the
    suffix, or from the content where the suffix is unknown. Raises MissingInputError for a file
    that cannot be read, FormatError for one that violates its format.
    """
    if limit is not None and limit < 1:
        raise OptionError("--limit must be at least 1", found=limit)
    path = Path(path)
    with opened(path) as source:
        header = read_header(source, path)
        rows = header.words if limit is None else min(limit, header.words)
        read = read_text if header.text else read_binary
        words, matrix = read(source, header, rows, allocate)
    return _first_of_each(words, matrix)


def to_keyed_vectors(vectors: Vectors) -> KeyedVectors:
    """Return the vectors as Gensim's KeyedVectors, copied."""
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(vectors.matrix.shape[1])
    keyed.add_vectors(vectors.words, vectors.matrix)
    return keyed


def from_keyed_vectors(keyed: KeyedVectors) -> Vectors:
    """Return Gensim's KeyedVectors as Vectors; a C-contiguous float32 matrix is shared."""
    words = [str(key) for key in keyed.index_to_key]
    return Vectors(words, np.ascontiguousarray(keyed.vectors, dtype=np.float32))


def _check_shape(words: Sequence[str], matrix: Float32) -> None:
    if matrix.ndim != 2 or matrix.dtype != np.float32:
        found = f"{matrix.ndim} axes of {matrix.dtype}"
        raise InputError("vectors must be a matrix of float32", found=found)
    if len(words) != len(matrix):
        raise InputError(f"{len(words)} words need as many vectors", found=len(matrix))


def check_words(words: Sequence[str], space: str | None, path: Path) -> list[str]:
    """Return the words as they are written; raises InputError for the first that is invalid."""
    if space is not None and space.split() != [space]:
        raise OptionError("--space must not be empty or contain white space", found=repr(space))
    names = list(words) if space is None else [replace_white_space(word, space) for word in words]
    for row, name in enumerate(names):
        _check_name(row, name, path)
    _check_duplicates(names, path)
    return names


def _check_name(row: int, name: str, path: Path) -> None:
    if not name:
        raise InputError(f"word {row + 1} is empty", where=path, do="drop its row")
    if name.split() != [name]:
        what = f"word {row + 1}, {name!r}, contains white space"
        raise InputError(
            what, where=path, do="replace it with --space _ of wordgeom train or convert"
        )
    try:
        name.encode()
    except UnicodeEncodeError as error:
        what = f"word {row + 1}, {name!r}, cannot be encoded in UTF-8"
        raise InputError(what, where=path, do="correct the word") from error


def replace_white_space(word: str, space: str) -> str:
    """Return a word with each white-space character replaced by `space`."""
    return "".join(space if char.isspace() else char for char in word)


def _check_duplicates(names: Sequence[str], path: Path) -> None:
    seen: dict[str, int] = {}
    for row, name in enumerate(names):
        first = seen.setdefault(name, row)
        if first != row:
            raise InputError(
                f"words {first + 1} and {row + 1} are both {name!r}",
                where=path,
                do="drop one, or choose another --space",
            )


def _first_of_each(words: list[str], matrix: Float32) -> Vectors:
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        rows.setdefault(word, row)
    duplicates = len(words) - len(rows)
    if not duplicates:
        return Vectors(words, matrix)
    kept = np.fromiter(rows.values(), np.int64, len(rows))  # ascending: rows only move up
    for at in range(0, len(kept), _ROWS):
        part = kept[at : at + _ROWS]
        matrix[at : at + len(part)] = matrix[part]
    return Vectors(list(rows), matrix[: len(kept)], duplicates)


def digest_of(vectors: Vectors) -> str:
    """Return the SHA-256 of words and vectors in memory."""
    content = hashlib.sha256("\n".join(vectors.words).encode())
    content.update(np.ascontiguousarray(vectors.matrix).data)
    return content.hexdigest()

"""Word vectors in memory, and word2vec files: .bin (binary), .txt and .vec (text, also in .gz).

Words hold no white space, since both formats end a word with it. A file that breaks its own
format is refused, never read in part without a word.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np

from wordgeom.core.errors import InputError, MissingInputError, OptionError
from wordgeom.core.types import Float32
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


@dataclass(frozen=True, eq=False)
class Vectors:
    """V words and their vectors, row for row.

    matrix (V × K) float32, C-order; duplicates: words a file held again, of which the first was
    kept. Raises InputError where the two do not fit together.
    """

    words: list[str]
    matrix: Float32
    duplicates: int = 0

    def __post_init__(self) -> None:
        _check_shape(self.words, self.matrix)

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}


def write_vectors(
    path: str | Path,
    words: Sequence[str],
    matrix: Float32,
    *,
    space: str | None = None,
) -> None:
    """Write a word2vec file, whole or not at all; its suffix tells the format.

    matrix (V × K) float32; space: what replaces each white-space character of a word. Raises
    OptionError for another suffix; InputError for a word that is empty, holds white space, occurs
    twice or has no UTF-8; MissingInputError for a missing folder; WriteError for a full disk.
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
    """Return what writes vectors into the open file of `path`; they are looked at beforehand.

    matrix (V × K) float32; header: whether a text has one. Raises what `write_vectors` raises of
    its arguments.
    """
    names = writable_words(path, words, space=space)
    _check_shape(words, matrix)
    if not matrix.size:
        found = f"{matrix.shape[0]} × {matrix.shape[1]}"
        raise InputError("there are no numbers to write", where=path, found=found)
    if name_suffix(path) in BINARY_SUFFIXES:
        return lambda out: write_binary(out, names, matrix)
    if path.suffix.lower() != ".gz":
        return lambda out: write_text(out, names, matrix, header=header)

    def pack(out: BinaryIO) -> None:
        # Neither name nor time: the same vectors, the same bytes.
        with gzip.GzipFile("", "wb", fileobj=out, mtime=0) as packed:
            write_text(cast(BinaryIO, packed), names, matrix, header=header)

    return pack


def writable_words(path: str | Path, words: Sequence[str], *, space: str | None) -> list[str]:
    """Return the words as `write_vectors` would write them, so that it can be asked beforehand.

    Raises what `write_vectors` raises of its path and words.
    """
    path = Path(path)
    binary = path.suffix.lower() in BINARY_SUFFIXES
    if not binary and name_suffix(path) not in TEXT_SUFFIXES:
        what = "vectors are written to .bin, .txt or .vec"
        raise OptionError(what, where=path, found=repr(path.name), do="name the output so")
    if not path.parent.is_dir():
        do = "make it, or name another"
        raise MissingInputError("no such folder", where=path.parent, do=do)
    return check_words(words, space, path)


def read_vectors(path: str | Path, *, limit: int | None = None) -> Vectors:
    """Read a word2vec file, or the first `limit` records of it; of duplicates the first is kept.

    The suffix tells the format, or the content where there is another suffix. Raises
    MissingInputError where no file can be read, FormatError where it breaks its format.
    """
    if limit is not None and limit < 1:
        raise OptionError("--limit must be at least 1", found=limit)
    path = Path(path)
    with opened(path) as source:
        header = read_header(source, path)
        rows = header.words if limit is None else min(limit, header.words)
        read = read_text if header.text else read_binary
        words, matrix = read(source, header, rows)
    return _first_of_each(words, matrix)


def shape_of(source: str | os.PathLike[str] | Vectors) -> tuple[int, int]:
    """Return the words and the dimension of vectors that are held, or that a file promises."""
    if isinstance(source, Vectors):
        return len(source.words), source.matrix.shape[1]
    with opened(Path(source)) as handle:
        header = read_header(handle, Path(source))
    return header.words, header.numbers


def to_keyed_vectors(vectors: Vectors) -> KeyedVectors:
    """Return the vectors, copied, as Gensim holds them."""
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(vectors.matrix.shape[1])
    keyed.add_vectors(vectors.words, vectors.matrix)
    return keyed


def from_keyed_vectors(keyed: KeyedVectors) -> Vectors:
    """Return Gensim's vectors as ours; the matrix is shared where it is float32 in C-order."""
    words = [str(key) for key in keyed.index_to_key]
    return Vectors(words, np.ascontiguousarray(keyed.vectors, dtype=np.float32))


def _check_shape(words: Sequence[str], matrix: Float32) -> None:
    if matrix.ndim != 2 or matrix.dtype != np.float32:
        found = f"{matrix.ndim} axes of {matrix.dtype}"
        raise InputError("vectors must be a matrix of float32", found=found)
    if len(words) != len(matrix):
        raise InputError(f"{len(words)} words need as many vectors", found=len(matrix))


def check_words(words: Sequence[str], space: str | None, path: Path) -> list[str]:
    """Return the words as they can be written, or raise for the first that cannot."""
    if space is not None and space.split() != [space]:
        raise OptionError("--space must be characters that are not white space", found=repr(space))
    names = list(words) if space is None else [replace_white_space(word, space) for word in words]
    for row, name in enumerate(names):
        _check_name(row, name, path)
    _refuse_duplicates(names, path)
    return names


def _check_name(row: int, name: str, path: Path) -> None:
    if not name:
        raise InputError(f"word {row + 1} is empty", where=path, do="leave its row out")
    if name.split() != [name]:
        what = f"word {row + 1}, {name!r}, holds white space"
        raise InputError(what, where=path, do="--space _ replaces white space")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        what = f"word {row + 1}, {name!r}, cannot be written in UTF-8"
        raise InputError(what, where=path, do="correct the word") from error


def replace_white_space(word: str, space: str) -> str:
    """Return a word with `space` for each character that is white space."""
    return "".join(space if char.isspace() else char for char in word)


def _refuse_duplicates(names: Sequence[str], path: Path) -> None:
    seen: dict[str, int] = {}
    for row, name in enumerate(names):
        first = seen.setdefault(name, row)
        if first != row:
            raise InputError(
                f"words {first + 1} and {row + 1} are both {name!r}",
                where=path,
                do="leave one out, or choose another --space",
            )


def _first_of_each(words: list[str], matrix: Float32) -> Vectors:
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        rows.setdefault(word, row)
    duplicates = len(words) - len(rows)
    if not duplicates:
        return Vectors(words, matrix)
    return Vectors(list(rows), matrix[list(rows.values())], duplicates)

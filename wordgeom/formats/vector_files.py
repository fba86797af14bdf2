"""Read vectors in any format that `convert` writes: word2vec files, NumPy arrays, projector."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from wordgeom.core.errors import FormatError
from wordgeom.formats import dense, detection
from wordgeom.formats.projector import FILES
from wordgeom.formats.word_files import companion_path, read_words
from wordgeom.runtime.pool import available_memory
from wordgeom.storage.opening import opened
from wordgeom.vectors.keyed import Vectors, read_vectors


def read_any_vectors(path: Path) -> Vectors:
    """Read vectors; the words of an array are in its words file.

    Raises what the format raises: MissingInputError, FormatError, InputError.
    """
    if path.is_dir():
        return _read_projector(path)
    form = detection.format_of(path)
    if form in detection.ARRAYS:
        archive = form == detection.NPZ
        return dense.read_dense(path, companion_path(path), archive, available_memory() // 2)
    return read_vectors(path)


def _read_projector(directory: Path) -> Vectors:
    numbers, names = (directory / name for name in FILES)
    words = read_words(names).words
    with opened(numbers, "a projector's vectors") as source:
        try:
            matrix = np.loadtxt(
                source, np.float32, comments=None, delimiter="\t", ndmin=2, encoding="ascii"
            )
        except ValueError as error:
            raise FormatError("must contain rows of numbers", where=numbers, found=error) from None
    if len(matrix) != len(words):
        found = f"{len(words):,} in {names.name}"
        raise FormatError(f"{len(matrix):,} vectors need as many words", where=numbers, found=found)
    return Vectors(words, np.ascontiguousarray(matrix))

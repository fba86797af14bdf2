"""Read vectors in any format: word2vec files, NumPy arrays, projector, quantised."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np

from wordgeom.core.errors import FormatError, InputError, MissingInputError
from wordgeom.core.types import Allocate
from wordgeom.formats import dense, detection
from wordgeom.formats.fasttext import (
    fasttext_ngram_bytes,
    fasttext_shape,
    has_ngrams,
    is_fasttext,
    read_fasttext,
)
from wordgeom.formats.npz import opened_archive
from wordgeom.formats.projector import FILES, is_projector
from wordgeom.formats.quantised import is_quantised, quantised_shape, read_quantised
from wordgeom.formats.word_files import companion_path, read_words
from wordgeom.matrices.kinds import noun
from wordgeom.runtime.memory import check_memory
from wordgeom.runtime.pool import available_memory
from wordgeom.storage.opening import check_listed, not_there, opened
from wordgeom.storage.store import Store, exists
from wordgeom.subwords.open_vocabulary import OpenVocabulary
from wordgeom.subwords.stored import (
    bucket_bytes,
    find_model,
    lost_model,
    model_bytes,
    model_digests,
    model_stores,
)
from wordgeom.vectors.keyed import Vectors, read_vectors
from wordgeom.vectors.run_card import file_content, read_card
from wordgeom.vectors.word2vec_header import opened as opened_word2vec
from wordgeom.vectors.word2vec_header import read_header

# Formats that are not word2vec's.
_OTHERS = (detection.PROJECTOR, detection.QUANTISED, detection.FASTTEXT, *detection.ARRAYS)


def read_any_vectors(
    path: Path,
    words: Path | None = None,
    form: str | None = None,
    *,
    limit: int | None = None,
    memory: int | None = None,
    allocate: Allocate = np.empty,
) -> Vectors:
    """Read vectors, or the first `limit` of them.

    words: the words file of an array, None for the one beside it; form: None to tell it by the
    name; memory: most bytes of an array; allocate: as of `read_vectors`. Raises what the format
    raises: MissingInputError, FormatError, InputError.
    """
    form = _form_of(path, form)
    if form not in _OTHERS:
        return read_vectors(path, limit=limit, allocate=allocate)
    most = available_memory() // 2 if memory is None else memory
    if form == detection.PROJECTOR:
        read = _read_projector(path)
    elif form == detection.QUANTISED:
        read = read_quantised(path, most)
    elif form == detection.FASTTEXT:
        read = read_fasttext(path, most).vectors
    else:
        read = dense.read_dense(path, _words_file(path, words), form == detection.NPZ, most)
    return Vectors(read.words[:limit], read.matrix[:limit])


def read_open_vectors(
    path: Path,
    words: Path | None = None,
    form: str | None = None,
    *,
    memory: int | None = None,
    allocate: Allocate = np.empty,
) -> OpenVocabulary:
    """Read vectors with their n-grams: fastText's own, or the subword model beside the file.

    Arguments and errors as of `read_any_vectors`; raises what `read_model` raises as well, and
    InputError where vectors that are not mapped to a file, and n-grams, exceed `memory`.
    """
    most = available_memory() // 2 if memory is None else memory
    if _form_of(path, form) == detection.FASTTEXT:
        return read_fasttext(path, most)
    vectors = read_any_vectors(path, words, form, memory=memory, allocate=allocate)
    if with_ngrams(path):
        held = vectors.matrix.nbytes if allocate is np.empty else 0
        what = "{:,} vectors of {:,} and their n-grams".format(*vectors.matrix.shape)
        check_memory(what, held + ngram_bytes(path), most, "raise --memory")
    model = find_model(path, vectors)
    return OpenVocabulary(vectors, model, lost_model(path) if model is None else None)


def with_ngrams(path: Path) -> bool:
    """Return whether a file has n-grams that `read_open_vectors` reads."""
    return has_ngrams(path) if is_fasttext(path) else bool(model_stores(path))


def ngram_bytes(path: Path) -> int:
    """Return the bytes of memory that n-grams take once they are read, 0 where there are none.

    Raises what the header of a subword model raises.
    """
    if not with_ngrams(path):
        return 0
    return fasttext_ngram_bytes(path) if is_fasttext(path) else model_bytes(path)


def hashed_bytes(path: Path) -> int:
    """Return the bytes of all buckets of n-grams in a fastText model of these vectors.

    0 where they have no hashed n-grams. Raises what `ngram_bytes` raises.
    """
    if not with_ngrams(path):
        return 0
    return fasttext_ngram_bytes(path) if is_fasttext(path) else bucket_bytes(path)


def ngram_digests(path: Path) -> list[str]:
    """Return the digest of the n-grams that `read_open_vectors` reads, nothing where none are."""
    if not with_ngrams(path):
        return []
    return [str(file_content(path)["sha256"])] if is_fasttext(path) else model_digests(path)


def read_numbered(path: Path) -> Vectors | None:
    """Read an array whose rows have no words beside it, named from 0; None for other vectors."""
    form = _form_of(path, None)
    if form not in detection.ARRAYS or companion_path(path).exists():
        return None
    matrix = dense.read_matrix(path, form == detection.NPZ, available_memory() // 2)
    return Vectors([str(row) for row in range(len(matrix))], matrix)


def files_of(path: Path, words: Path | None = None, form: str | None = None) -> list[Path]:
    """Return the files that `read_any_vectors` reads; raises MissingInputError."""
    form = _form_of(path, form)
    if form == detection.PROJECTOR:
        return [path / name for name in FILES]
    return [path, _words_file(path, words)] if form in detection.ARRAYS else [path]


def shape_of(source: str | os.PathLike[str] | Vectors) -> tuple[int, int]:
    """Return the number of words and the dimension of vectors, before a file is read."""
    if isinstance(source, Vectors):
        return len(source.words), source.matrix.shape[1]
    path = Path(source)
    form = _form_of(path, None)
    if form == detection.PROJECTOR:
        with opened(path / FILES[0], "a projector's vectors") as numbers:
            first = numbers.readline()
            return bool(first) + sum(1 for _ in numbers), first.count(b"\t") + 1
    if form == detection.QUANTISED:
        return quantised_shape(path)
    if form == detection.FASTTEXT:
        return fasttext_shape(path)
    if form in detection.ARRAYS:
        return dense.dense_shape(path, form == detection.NPZ)
    with opened_word2vec(path) as handle:
        header = read_header(handle, path)
    return header.words, header.numbers


def _form_of(path: Path, given: str | None) -> str | None:
    """Return the format of vectors; raises MissingInputError for another directory."""
    if not path.is_dir():
        form = given or detection.format_of(path)
        if form in (detection.BIN, None) and is_fasttext(path):
            return detection.FASTTEXT
        return detection.QUANTISED if form == detection.NPZ and is_quantised(path) else form
    if is_projector(path):
        return detection.PROJECTOR
    check_listed(path, "a vectors file")
    if exists(path):
        do = "pass a vectors file, as wordgeom train writes it"
        raise MissingInputError(f"is {noun(Store.open(path).kind)}, not vectors", where=path, do=do)
    what = f"is a directory without {FILES[0]}"
    raise MissingInputError(what, where=path, do="pass a vectors file or a projector directory")


def _words_file(path: Path, given: Path | None) -> Path:
    """Return the words file of an array; raises MissingInputError, FormatError."""
    if not path.exists():
        raise not_there(path, "check the path")
    words = given or companion_path(path)
    if not words.exists():
        if (
            path.suffix == ".npz"
        ):  # a broken archive may be one of quantised vectors: they need none
            with opened_archive(path, 0):
                pass
        if (read_card(path) or {}).get("request", {}).get("command") == "embed":
            what, do = "contains vectors of texts, not of words", "read it with numpy.load"
            raise InputError(what, where=path, do=do)
        what = f"no such file, which must hold the words of {path}"
        do = "write them there, one per line, or convert it with --words FILE"
        raise MissingInputError(what, where=words, do=do)
    return words


def _read_projector(directory: Path) -> Vectors:
    numbers, names = (directory / name for name in FILES)
    words = read_words(names).words
    with opened(numbers, "a projector's vectors") as source, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an empty file
        try:
            matrix = np.loadtxt(
                source, np.float32, comments=None, delimiter="\t", ndmin=2, encoding="utf-8-sig"
            )
        except ValueError as error:
            what = f"must contain rows of numbers: {str(error).partition(';')[0].rstrip('.')}"
            raise FormatError(what, where=numbers, do="convert the vectors again") from None
    if len(matrix) != len(words):
        found = f"{len(words):,} in {names.name}"
        raise FormatError(f"{len(matrix):,} vectors need as many words", where=numbers, found=found)
    return Vectors(words, np.ascontiguousarray(matrix))

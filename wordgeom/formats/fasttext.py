"""fastText's binary models (`.bin`, versions 11 and 12), read and written.

A model holds int32 magic and version; the arguments, twelve int32 and a float64; the dictionary,
three int32 (entries, words, labels), two int64 (tokens, pruned buckets or -1) and for each entry
its UTF-8 bytes, a zero byte, an int64 count and an int8 kind; a byte, 1 for quantised; and two
matrices, each of them two int64 (rows, columns) and float32 numbers: one of words followed by
buckets, and after another byte that of the outputs. All numbers are little-endian.

The vector of a word is the mean of its own row and those of its n-grams (FastText::getWordVector).
A model is written without outputs: their rows are 0, and so it cannot be trained further.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from wordgeom.core.errors import FormatError, InputError, WordgeomError
from wordgeom.core.types import Float32, Int64
from wordgeom.runtime.memory import check_memory
from wordgeom.storage.opening import opened
from wordgeom.subwords.buckets import Buckets
from wordgeom.subwords.lengths import LONGEST, Lengths
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.open_vocabulary import OpenVocabulary
from wordgeom.subwords.units.names import CODEPOINT
from wordgeom.subwords.units.utf8 import Utf8
from wordgeom.vectors.keyed import Vectors, check_words

_MAGIC, _VERSION, _OLDEST = 793712314, 12, 11
_ARGUMENTS, _SIZES, _SHAPE = struct.Struct("<12id"), struct.Struct("<3i2q"), struct.Struct("<2q")
_START, _ENTRY = struct.Struct("<2i"), struct.Struct("<qb")
_SKIP_GRAM, _NEGATIVE, _SUPERVISED, _NOT_PRUNED = 2, 2, 3, -1
_END_OF_LINE = "</s>"  # fastText's token, which has no n-grams
_WANTED = "a fastText model"
_AGAIN = "copy or download it again"
_ROWS = 1 << 14  # written at once


def is_fasttext(path: Path) -> bool:
    """Return whether a file begins as fastText's models do."""
    try:
        with open(path, "rb") as source:
            return source.read(4) == struct.pack("<i", _MAGIC)
    except OSError:
        return False  # its reader says what is wrong


def has_ngrams(path: Path) -> bool:
    """Return whether a file is a model of fastText whose header declares n-grams."""
    if not is_fasttext(path):
        return False
    try:
        with opened(path, _WANTED) as source:
            _, buckets, lengths = _Parser(source, path).arguments()
    except WordgeomError:
        return False  # its reader says what is wrong
    return buckets > 0 and lengths is not None


def fasttext_shape(path: Path) -> tuple[int, int]:
    """Return the number of words and the dimension; raises as `read_fasttext`."""
    with opened(path, _WANTED) as source:
        parsed = _Parser(source, path)
        dim, _, _ = parsed.arguments()
        return len(parsed.dictionary()), dim


def fasttext_ngram_bytes(path: Path) -> int:
    """Return the bytes of the vectors of n-grams; raises as `read_fasttext`."""
    with opened(path, _WANTED) as source:
        dim, buckets, _ = _Parser(source, path).arguments()
        return 4 * dim * buckets


def read_fasttext(path: Path, memory: int) -> OpenVocabulary:
    """Read the words and n-grams of an unsupervised model that is not quantised.

    Raises MissingInputError, FormatError; InputError for other models, and where the matrix exceeds
    `memory` bytes.
    """
    with opened(path, _WANTED) as source:
        parsed = _Parser(source, path)
        dim, buckets, lengths = parsed.arguments()
        words = parsed.dictionary()
        rows = parsed.matrix(len(words) + buckets, dim, memory)
    own, ngrams = rows[: len(words)], rows[len(words) :]
    try:
        names = check_words(words, None, path)
    except InputError as error:
        raise FormatError(error.what, where=path, do=_AGAIN) from None
    if lengths is None or not buckets:
        return OpenVocabulary(Vectors(names, own))
    model = SubwordModel(CODEPOINT, Utf8(), lengths, Buckets(buckets), ngrams, added=False)
    for start in range(0, len(names), _ROWS):  # in place: models take most of the memory
        part = slice(start, start + _ROWS)
        numbers = _ngrams(names[part], lengths)[:, None]
        own[part] = (own[part] + numbers * model.vectors_of(names[part])) / (1 + numbers)
    return OpenVocabulary(Vectors(names, own), model)


def write_fasttext(out: BinaryIO, vectors: Vectors, model: SubwordModel) -> None:
    """Write words with their vectors, and a model of buckets, into an open file."""
    index = model.index
    assert isinstance(index, Buckets)
    words, dim = len(vectors.words), vectors.matrix.shape[1]
    out.write(_START.pack(_MAGIC, _VERSION))
    ends = model.lengths.low, model.lengths.high
    arguments = (dim, 5, 5, 1, 5, 1, _NEGATIVE, _SKIP_GRAM, index.number, *ends, 100, 1e-4)
    out.write(_ARGUMENTS.pack(*arguments))
    # Counts are not known; those written put the words in their order.
    out.write(_SIZES.pack(words, words, 0, words * (words + 1) // 2, _NOT_PRUNED))
    for row, word in enumerate(vectors.words):
        out.write(word.encode() + b"\0" + _ENTRY.pack(words - row, 0))
    out.write(b"\0" + _SHAPE.pack(words + index.number, dim))
    for start in range(0, words, _ROWS):
        part = slice(start, start + _ROWS)
        names = vectors.words[part]
        numbers = _ngrams(names, model.lengths)[:, None]
        own = vectors.matrix[part] * (1 + numbers) - numbers * model.vectors_of(names)
        out.write(own.astype("<f4").tobytes())
    for rows in _bucket_rows(index, model.vectors):
        out.write(rows.astype("<f4").tobytes())
    out.write(b"\0" + _SHAPE.pack(words, dim))
    for start in range(0, words, _ROWS):
        out.write(bytes(4 * dim * len(vectors.words[start : start + _ROWS])))


def check_hashed(model: SubwordModel | None, path: Path) -> SubwordModel:
    """Return the model if fastText can read it; raises InputError."""
    do = "run wordgeom subwords --buckets N on the vectors before"
    if model is None:
        raise InputError("has no subword model beside it, which fastText needs", where=path, do=do)
    if not isinstance(model.index, Buckets):
        what = f"its n-grams of {model.name} units are not hashed, as fastText's are"
        raise InputError(what, where=path, do=do)
    return model


def _ngrams(words: Sequence[str], lengths: Lengths) -> Int64:
    """Return how many n-grams each word (n) has."""
    units = np.array([0 if word == _END_OF_LINE else len(word) + 2 for word in words], np.int64)
    sizes = range(lengths.low, lengths.high + 1)
    total = sum((np.maximum(0, units - n + 1) for n in sizes), np.zeros(len(words), np.int64))
    alone = 2 * (units > 0) if lengths.low == 1 else 0  # BEGIN and END by themselves
    return np.asarray(total - alone, np.int64)


def _bucket_rows(index: Buckets, vectors: Float32) -> Iterator[Float32]:
    """Yield the rows of all buckets in blocks, 0 for those not in use."""
    used = np.arange(index.number) if index.used is None else index.used
    for start in range(0, index.number, _ROWS):
        stop = min(start + _ROWS, index.number)
        first, last = np.searchsorted(used, (start, stop))
        rows = np.zeros((stop - start, vectors.shape[1]), np.float32)
        rows[used[first:last] - start] = vectors[first:last]
        yield rows


class _Parser:
    """Reads the parts of a model in order; sizes are checked before anything is allocated."""

    def __init__(self, source: BinaryIO, path: Path) -> None:
        self._path = path
        try:
            self._bytes = mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            raise FormatError("is empty", where=path, do=_AGAIN) from None
        self._at = 0
        magic, version = self._take(_START)
        if magic != _MAGIC or not _OLDEST <= version <= _VERSION:
            what = "is not a fastText model of version 11 or 12"
            raise FormatError(what, where=path, do="check the file")

    def arguments(self) -> tuple[int, int, Lengths | None]:
        """Return the dimension, the number of buckets and the lengths of n-grams."""
        dim, *_, kind, buckets, low, high, _, _ = self._take(_ARGUMENTS)
        if kind == _SUPERVISED:
            what, do = "is a supervised fastText model", "pass one of skipgram or cbow"
            raise InputError(what, where=self._path, do=do)
        if dim < 1 or buckets < 0 or high > LONGEST:
            what = f"declares {dim} dimensions, {buckets} buckets and n-grams of {low} to {high}"
            raise FormatError(what, where=self._path, do=_AGAIN)
        return dim, buckets, Lengths(max(1, low), high) if max(1, low) <= high else None

    def dictionary(self) -> list[str]:
        """Return the words."""
        entries, number, labels, _, pruned = self._take(_SIZES)
        if pruned > 0:
            raise self._quantised()
        if entries != number or labels or number < 1:
            what = f"declares {entries:,} entries, {number:,} words and {labels:,} labels"
            raise FormatError(what, where=self._path, do=_AGAIN)
        self._need(number * (1 + _ENTRY.size), f"{number:,} words")
        words = []
        for row in range(number):
            end = self._bytes.find(b"\0", self._at)
            if end < 0:
                raise self._truncated(f"word {row + 1}")
            try:
                words.append(self._bytes[self._at : end].decode())
            except UnicodeDecodeError:
                what = f"word {row + 1} is not UTF-8"
                raise FormatError(what, where=self._path, do=_AGAIN) from None
            self._at = end + 1
            self._take(_ENTRY)
        return words

    def matrix(self, rows: int, columns: int, memory: int) -> Float32:
        """Return the matrix of words and buckets (rows × columns)."""
        self._need(1, "a matrix")
        if self._bytes[self._at]:
            raise self._quantised()
        self._at += 1
        shape = self._take(_SHAPE)
        if shape != (rows, columns):
            found = f"{shape[0]:,} × {shape[1]:,}"
            what = f"its matrix must be {rows:,} × {columns:,}"
            raise FormatError(what, where=self._path, found=found, do=_AGAIN)
        size = 4 * rows * columns
        self._need(size, f"a matrix of {rows:,} × {columns:,}")
        begin = self._at
        self._at += size
        self._check_outputs()
        check_memory(f"{rows:,} rows of {columns:,}", size, memory, "raise --memory")
        made = np.frombuffer(self._bytes, "<f4", rows * columns, begin).astype(np.float32)
        if not np.isfinite(made).all():
            raise FormatError("has numbers that are not finite", where=self._path, do=_AGAIN)
        return made.reshape(rows, columns)

    def _check_outputs(self) -> None:
        """Raise FormatError for a file that ends within its matrix of outputs, which is unused."""
        self._need(1, "the matrix of outputs")
        if self._bytes[self._at]:
            raise self._quantised()
        self._at += 1
        rows, columns = self._take(_SHAPE)
        if min(rows, columns) < 0:
            what = f"declares a matrix of outputs of {rows:,} × {columns:,}"
            raise FormatError(what, where=self._path, do=_AGAIN)
        self._need(4 * rows * columns, f"the matrix of outputs of {rows:,} × {columns:,}")

    def _take(self, form: struct.Struct) -> tuple[int, ...]:
        self._need(form.size, "its header")
        numbers = form.unpack_from(self._bytes, self._at)
        self._at += form.size
        return numbers

    def _need(self, size: int, what: str) -> None:
        if len(self._bytes) - self._at < size:
            raise self._truncated(what)

    def _truncated(self, what: str) -> FormatError:
        return FormatError(f"truncated in {what}", where=self._path, do=_AGAIN)

    def _quantised(self) -> InputError:
        do = "pass the model before fasttext quantize"
        return InputError("is a quantised fastText model", where=self._path, do=do)

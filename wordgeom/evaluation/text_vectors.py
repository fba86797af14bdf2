"""Text vectors: the mean of the vectors of a text's words or overlapping k-mers."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Float64, Int64
from wordgeom.corpus.tokens.in_memory import words
from wordgeom.evaluation.word_lookup import Lookup, has_direction
from wordgeom.runtime.context import Context

UNKNOWN = "texts without a word that has a vector"
_TEXTS = 1024  # in a block
_COPIES = 4  # of the averages in memory, while a model is fitted


@dataclass(frozen=True)
class Averages:
    """items (n): indices of the texts that have a vector; means (n × K) float64."""

    items: Int64
    means: Float64


def kmers(sequence: str, k: int) -> list[str]:
    """Return all substrings of k letters of a sequence, ignoring white space.

    They are the union of the k shifted lists of non-overlapping k-mers of Khalife, Gonçalves and
    Liberti (2022), §5.1.
    """
    letters = "".join(sequence.split())
    return [letters[start : start + k] for start in range(len(letters) - k + 1)]


def averages(
    texts: Sequence[str], lookup: Lookup, kmer: int, context: Context, where: str
) -> Averages:
    """Return the mean vector over all in-vocabulary tokens of each text that has any.

    kmer: length of k-mers, or 0 for the words of the tokeniser `words`. Vectors are not normalised;
    those that are zero or not finite count as out of vocabulary. Raises InputError, naming the file
    `where`, if the averages exceed the memory limit.
    """
    columns = lookup.matrix.shape[1]
    if 8 * len(texts) * columns * _COPIES > context.memory:
        what = f"averages of {len(texts):,} texts × {columns:,} exceed --memory"
        raise InputError(what, where=where, do="raise --memory")
    means = np.zeros((len(texts), columns))
    known = np.zeros(len(texts), np.int64)
    tokens = partial(kmers, k=kmer) if kmer else words
    every = np.arange(len(lookup.matrix))
    starts = iter(range(0, len(texts), _TEXTS))
    rows = _Rows(lookup)
    for start in context.progress.follow(
        starts,
        "averaging texts",
        len(texts),
        "texts",
        lambda start: min(_TEXTS, len(texts) - start),
    ):
        block = slice(start, start + _TEXTS)
        means[block], known[block] = _block(texts[block], tokens, rows, every)
    items = np.flatnonzero(known)
    return Averages(items, means[items])


class _Rows(dict[str, int]):
    """The row of each word with a usable vector, −1 for other words."""

    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup

    def __missing__(self, word: str) -> int:
        row = self.lookup.row(word)
        if row is None or not has_direction(self.lookup.matrix[row]):
            row = -1
        self[word] = row
        return row


def _block(
    texts: Sequence[str], tokens: Callable[[str], list[str]], rows: _Rows, every: Int64
) -> tuple[Float64, Int64]:
    """Return the means (texts × K) and the numbers of in-vocabulary tokens (texts).

    every (V): the numbers of all rows.
    """
    from wordgeom.texts.kernels import weighted_means

    token_rows, ends = array("i"), [0]
    for text in texts:
        token_rows.extend(row for row in map(rows.__getitem__, tokens(text)) if row >= 0)
        ends.append(len(token_rows))
    matrix, words = rows.lookup.matrix, np.array(token_rows, np.int32)
    means, ones = np.zeros((len(texts), matrix.shape[1])), np.ones(len(every))
    known, read = np.zeros((2, len(texts)), np.int64)
    counts = np.ones(len(words), np.int64)
    weighted_means(np.array(ends), words, counts, every, matrix, ones, ones, means, known, read)
    return means, known

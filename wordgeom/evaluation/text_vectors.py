"""A vector for a text: the mean of the vectors of its words, or of its overlapping k-mers."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Float64, Int64
from wordgeom.corpus.tokens.in_memory import words
from wordgeom.evaluation.coverage import has_direction
from wordgeom.evaluation.word_lookup import Lookup
from wordgeom.runtime.context import Context

UNKNOWN = "texts without a word that has a vector"
_TEXTS = 1024  # of a block
_COPIES = 4  # of the averages, while a model learns from them


@dataclass(frozen=True)
class Averages:
    """items (n): places of the texts that have a vector; means (n × K) float64."""

    items: Int64
    means: Float64


def kmers(sequence: str, k: int) -> list[str]:
    """Return all runs of k letters of a sequence, blanks left out, letters as they are.

    Together they are the k shifted lists of runs that do not overlap (Khalife, Gonçalves and
    Liberti 2022, §5.1).
    """
    letters = "".join(sequence.split())
    return [letters[start : start + k] for start in range(len(letters) - k + 1)]


def averages(
    texts: Sequence[str], lookup: Lookup, kmer: int, context: Context, where: str
) -> Averages:
    """Return the mean vector of each text that has a known word, words counted as they repeat.

    kmer: the length of k-mers, or 0 for words as the tokeniser `words` finds them. Vectors are
    taken at their own length; those that are zero or not finite count as unknown. Raises
    InputError, naming the file `where`, if the means do not fit the memory of the run.
    """
    columns = lookup.matrix.shape[1]
    if 8 * len(texts) * columns * _COPIES > context.memory:
        found = f"{len(texts):,} texts × {columns:,}"
        raise InputError("averages do not fit --memory", where=where, found=found, do="raise it")
    means = np.zeros((len(texts), columns))
    known = np.zeros(len(texts), np.int64)
    tokens = partial(kmers, k=kmer) if kmer else words
    starts = iter(range(0, len(texts), _TEXTS))
    rows = _Rows(lookup)
    for start in context.progress.follow(
        starts, "reading texts", len(texts), "texts", lambda _: _TEXTS
    ):
        block = slice(start, start + _TEXTS)
        means[block], known[block] = _block(texts[block], tokens, rows)
    items = np.flatnonzero(known)
    return Averages(items, means[items])


class _Rows(dict[str, int]):
    """The row of a word that has a usable vector, or −1."""

    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup

    def __missing__(self, word: str) -> int:
        row = self.lookup.row(word)
        if row is None or not has_direction(self.lookup.matrix[row]):
            row = -1
        self[word] = row
        return self[word]

    def of(self, tokens: Sequence[str]) -> Iterator[int]:
        return (row for row in map(self.__getitem__, tokens) if row >= 0)


def _block(
    texts: Sequence[str], tokens: Callable[[str], list[str]], rows: _Rows
) -> tuple[Float64, Int64]:
    """Return the means (texts × K) and the number of known words (texts)."""
    from scipy.sparse import csr_array

    found, ends = array("q"), [0]
    for text in texts:
        found.extend(rows.of(tokens(text)))
        ends.append(len(found))
    used, columns = np.unique(np.array(found, np.int64), return_inverse=True)
    known = np.diff(ends)
    shares = np.repeat(1 / np.maximum(known, 1), known)
    shape = (len(texts), len(used))
    table = csr_array((shares, columns.astype(np.int64), np.array(ends, np.int64)), shape=shape)
    return table @ rows.lookup.matrix[used].astype(np.float64), known

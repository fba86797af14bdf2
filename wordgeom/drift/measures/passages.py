"""The documents of a model as passages in two periods.

The rows of a document-term matrix are passages; consecutive rows with the same file and line belong
to one document. Two tokens co-occur if they stand in the same passage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.types import Array, Csr, Float64, Int64, offsets
from wordgeom.linalg.svd import transpose
from wordgeom.matrices.document_term import Document
from wordgeom.matrices.times import read_time

_WHAT = "--split must be a time"


@dataclass(frozen=True, eq=False)
class Passages:
    """n passages of D documents, each document in one of two periods.

    X (n × V) float32: counts; documents (n): the document of each row, ascending; late (D) bool:
    whether a document belongs to the second period.
    """

    X: Csr
    documents: Int64
    late: Array

    @classmethod
    def of(cls, X: Csr, documents: Sequence[Document], late: Array) -> Passages:
        """Return passages from the document of each row, and a mask (n) of the second period."""
        keys = [(document.file, document.line) for document in documents]
        first = np.array([a != b for a, b in zip(keys, [None, *keys], strict=False)], bool)
        counts = Csr(X.indptr, X.indices, X.data.astype(np.float32), X.columns)
        return cls(counts, np.cumsum(first) - 1, late[first])

    @cached_property
    def lengths(self) -> Float64:
        """The number of tokens (n) of each passage."""
        return row_sums(self.X)

    @cached_property
    def starts(self) -> Int64:
        """The first row of each document, and the number of rows (D + 1)."""
        return offsets(np.bincount(self.documents))

    @cached_property
    def words(self) -> Csr:
        """The passages of each word (V × n)."""
        return transpose(self.X)

    def uses(self) -> Float64:
        """Return how often each word occurs in the first and in the second period (2 × V)."""
        return np.array([self._sums(mask, self.X.data) for mask in self._periods()])

    def pairs(self, late: Array) -> Float64:
        """Return the co-occurrences (V) of each word in the documents where `late` (D) is true."""
        others = self.lengths - 1.0
        return self._sums(late, self.X.data * others[self.X.entry_rows])

    def remarks(self) -> list[str]:
        """Return a note where passages of one period are longer: documents are not exchangeable."""
        means = [float(np.mean(self.lengths[mask[self.documents]])) for mask in self._periods()]
        if max(means) <= 1.1 * min(means):
            return []
        sizes = "{:,.0f} tokens then and {:,.0f} now".format(*means)
        why = "longer ones have more co-occurrences, so that p is not exact"
        return [f"passages have {sizes}; {why}; cut documents into passages of equal length"]

    def _periods(self) -> tuple[Array, Array]:
        return ~self.late, self.late

    def _sums(self, documents: Array, values: Array) -> Float64:
        there = documents[self.documents][self.X.entry_rows]
        kept = np.where(there, values, 0.0)
        return np.asarray(np.bincount(self.X.indices, kept, self.X.columns), np.float64)


def row_sums(X: Csr) -> Float64:
    """Return the number of tokens (n) of each row of counts (n × V)."""
    return np.asarray(np.bincount(X.entry_rows, X.data, X.rows), np.float64)


def split_time(times: Float64, X: Csr, given: str | None) -> float:
    """Return the first time of the second period, by default the one that halves the tokens.

    times (n): of the rows of counts. Raises InputError for a single time, OptionError for a time
    that leaves a period without documents.
    """
    distinct, codes = np.unique(times, return_inverse=True)
    span = f"{distinct[0]:g} to {distinct[-1]:g}"
    if len(distinct) == 1:
        what = f"all documents have the same time, {distinct[0]:g}"
        raise InputError(what, do="two periods need documents of several times")
    if given is not None:
        split = read_time(given, _WHAT)
        if not distinct[0] < split <= distinct[-1]:
            do = f"choose a later time than {distinct[0]:g}, up to {distinct[-1]:g}"
            what = f"--split {given} leaves a period without documents"
            raise OptionError(what, found=f"times from {span}", do=do)
        return split
    tokens = np.bincount(codes, row_sums(X))
    before = np.cumsum(tokens)[:-1]
    return float(distinct[1 + int(np.argmin(np.abs(2.0 * before - tokens.sum())))])

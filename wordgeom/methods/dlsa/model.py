"""A fit of dynamic LSA in a store: what is kept of it, and words at any time.

n documents × p words in r dimensions, with polynomials of degree q in time. Parts of the store:
`documents` A (n × r), `coefficients` B_0 … B_q (q + 1 × r × p), `rows` of the matrix that the
documents are, their `times`, which words are `moving`, the words' `spread`, and `vocab`.
Attributes: shape [n, r, p], degree, trend, weight, polynomials, and `source`, the digest of the
counts. The B_k are those that were fitted, in the form of Theorem 4; where times are compared they
are freed of what a change of basis may be (dynamic/gauge.py).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wordgeom.core.errors import FormatError, InputError, MissingInputError, StaleError
from wordgeom.core.types import Array, Float32, Float64, Int64
from wordgeom.corpus.vocabulary import read_vocabulary_bytes
from wordgeom.linalg.blas import one_thread
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.methods.dlsa.canonical_form import aligned
from wordgeom.methods.dlsa.polynomials import Polynomials
from wordgeom.methods.dlsa.problem import FREE, HOLD
from wordgeom.storage.store import Store
from wordgeom.weighting.options import WEIGHTS

DLSA = "dlsa"  # the kind of the store
_MAKE = "wordgeom train DTM --method dlsa"
_AGAIN = f"make it again: {_MAKE} --force"
_TYPES: dict[str, DTypeLike] = {
    "documents": np.float32, "coefficients": np.float32, "rows": np.int64,
    "times": np.float64, "moving": np.uint8, "spread": np.float64,
}  # fmt: skip


@dataclass(frozen=True)
class DynamicModel:
    """A model that was fitted; raises FormatError where its parts do not fit together.

    words (p), counts (p) of each in the corpus; documents A (n × r); coefficients
    (q + 1 × r × p); rows (n) of the counts; times (n); moving (p); spread (p): the standard
    deviation of each weighted column about what is held, 0 for a constant one.
    """

    store: Store
    words: list[str]
    counts: Int64
    documents: Float32
    coefficients: Float32
    rows: Int64
    times: Float64
    polynomials: Polynomials
    moving: NDArray[np.bool_]
    spread: Float64
    weight: str
    trend: str

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> DynamicModel:
        """Open the model in a folder; raises MissingInputError, FormatError."""
        folder = Path(path)
        if not folder.is_dir():
            what = "is a file, not a model's folder" if folder.exists() else "no such model"
            raise MissingInputError(what, where=folder, do=f"make one with {_MAKE}")
        store = Store.open(folder)
        if store.kind != DLSA:
            found = f"kind {store.kind!r}"
            what = "is not a model of dynamic LSA"
            raise MissingInputError(what, where=folder, found=found, do=f"make one with {_MAKE}")
        try:
            return _opened(cls, store)
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError("its parts do not fit together", where=folder, do=_AGAIN) from None

    @property
    def degree(self) -> int:
        """The highest degree of the polynomials, q."""
        return self.polynomials.degree

    @property
    def dim(self) -> int:
        """The dimension, r."""
        return int(self.documents.shape[1])

    @property
    def parent(self) -> Path | None:
        """The folder of the counts, None where the run card does not tell it."""
        told = self.store.card.get("parent")
        return Path(os.path.normpath(self.store.path / told)) if isinstance(told, str) else None

    def open_documents(self) -> StoredDocuments:
        """Open the counts that the model was made from.

        Raises MissingInputError; StaleError where they have changed, FormatError where they hold
        not the model's words or documents: whoever chooses rows of them takes that for granted.
        """
        folder = self.parent
        if folder is None or not folder.is_dir():
            found = str(folder) if folder else "no name of them"
            do = "put them back, or make the model again"
            what = "the counts that it was made from are not there"
            raise MissingInputError(what, where=self.store.path, found=found, do=do)
        counts = StoredDocuments.open(folder)
        if counts.store.digest != self.store.attributes["source"]:
            what = f"was made from {folder}, which has changed since"
            raise StaleError(what, where=self.store.path, do=_AGAIN)
        if counts.vocabulary.words != self.words or self.rows[-1] >= len(counts):
            needed = f"{int(self.rows[-1]) + 1:,} × {len(self.words):,}"
            there = f"{len(counts):,} documents × {counts.shape[1]:,} words"
            found = f"{there} where it takes {needed}"
            what = f"its words or documents are not those of {folder}"
            raise FormatError(what, where=self.store.path, found=found, do=_AGAIN)
        return counts

    def vectors_at(self, time: float, eig: float = 1.0) -> Float32:
        """Return the words' vectors at a time, (p × r), aligned, so that times can be compared.

        Axes are those of A B_0 = U Σ Vᵀ, each times σ^eig, the same at all times. With 1 an inner
        product of word i at time s and word j at time t is Σ_d (a_d·b_i(s)) (a_d·b_j(t)): what
        both would be together in the very same documents. With 0, the thesis's, axes on which
        documents hardly differ count as much as the others, and carry more of the noise. Raises
        InputError for a time so far away that there is no such number, FormatError where the model
        has none at a time of its own.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            powers = np.where(self._scales > 0.0, self._scales, 1.0) ** eig
            made = np.ascontiguousarray((self._way(time) * powers[:, None]).T, np.float32)
        return self._finite(made, time)

    def displacement(self, start: float, stop: float) -> Float64:
        """Return how far each word is moved between two times, (p).

        |L (b_j(stop) − b_j(start))| / sd_j with LᵀL = AᵀA / n and the aligned b_j: the root mean
        square over documents of the change of what is fitted, in standard deviations of the word.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            moved = self._way(stop) - self._way(start)
        return self._finite(self._in_spreads(moved[None]), start, stop)

    def movement(self) -> Float64:
        """Return how far each word is from where it is on average, over the documents' times, (p).

        As `displacement`, the root mean square over all documents at all of their times: with a
        degree above 1 a word may go far and come back.
        """
        return self._finite(self._in_spreads(self._aligned[1:].astype(np.float64)))

    def _in_spreads(self, moves: Float64) -> Float64:
        """Return √(Σ_k |L m_k|²) / sd, (p), of moves m (k × r × p); 0 for a constant word."""
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.sum(np.square(moves * self._scales[:, None]), axis=(0, 1))
            length, there = np.sqrt(squares / len(self.documents)), self.spread > 0.0
            made = np.divide(length, self.spread, np.zeros(len(length)), where=there)
        return np.asarray(made)

    def _finite(self, made: Array, *times: float) -> Array:
        """Return the numbers; raises InputError where a time is too far away for them.

        Raises FormatError where all times lie among the documents': the model is to blame.
        """
        if np.isfinite(made).all():
            return made
        first, last = self.times.min(), self.times.max()
        beyond = [f"{t:g}" for t in times if not first <= t <= last]
        if not beyond:
            what = "its numbers are too large or too small to be computed with"
            raise FormatError(what, where=self.store.path, do=_AGAIN)
        what = f"{' and '.join(beyond)}: too far away to be computed"
        found = f"documents of {first:g} to {last:g}"
        raise InputError(what, where=self.store.path, found=found, do="name times among them")

    def _way(self, time: float) -> Float64:
        """Return the aligned B(t), (r × p)."""
        at = self.polynomials.at(np.array([time]))[0]
        with one_thread():  # vectors are stored
            moved = np.tensordot(at, self._aligned[1:].astype(np.float64), 1)
        return np.asarray(self._aligned[0] + moved)

    @cached_property
    def _aligned(self) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):  # `_finite` tells
            return aligned(self.coefficients, self.moving)

    @cached_property
    def _scales(self) -> Float64:
        """Σ (r): in the form of Theorem 4 the columns of A are orthogonal, and this their norms."""
        return np.asarray(np.sqrt(np.sum(np.square(self.documents, dtype=np.float64), axis=0)))


def typed(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the arrays of a model in the types and the order in which they are stored."""
    return {name: np.asarray(arrays[name], dtype) for name, dtype in _TYPES.items()}


def describe(store: Store) -> dict[str, Any]:
    """Return the size of a model, its times and where its counts are."""
    model = DynamicModel.open(store.path)
    times = model.times
    span = f"{times.min():g} to {times.max():g}, {len(np.unique(times)):,} different"
    return {
        "documents": len(model.rows), "times": span, "words": len(model.words),
        "that may move": int(model.moving.sum()), "dimension": model.dim,
        "counts": str(model.parent or "unknown"),
    }  # fmt: skip


def _opened(cls: type[DynamicModel], store: Store) -> DynamicModel:
    """Return the model of a store; raises ValueError and the like for what is none."""
    at = store.attributes
    vocabulary = read_vocabulary_bytes(store.text("vocab"), store.path / "vocab.tsv")
    n, r, p = (int(_checked(type(size) is int and size > 0, size)) for size in at["shape"])
    q = int(_checked(type(at["degree"]) is int and at["degree"] > 0, at["degree"]))
    documents = _part(store, "documents", n * r).reshape(n, r)
    coefficients = _part(store, "coefficients", (q + 1) * r * p).reshape(q + 1, r, p)
    times = _part(store, "times", n)
    polynomials = Polynomials.read(at["polynomials"], q, times)
    rows, spread = _part(store, "rows", n), _part(store, "spread", p)
    moving = _part(store, "moving", p)
    _checked(p == len(vocabulary) and isinstance(at["source"], str))
    _checked(at["trend"] in (HOLD, FREE) and at["weight"] in WEIGHTS)
    _checked(bool(rows[0] >= 0 and np.all(np.diff(rows) > 0)))
    _checked(bool(spread.min() >= 0.0 and moving.max() <= 1))
    return cls(
        store, vocabulary.words, vocabulary.counts, documents, coefficients, rows, times,
        polynomials, moving.astype(bool), spread, at["weight"], at["trend"],
    )  # fmt: skip


def _part(store: Store, name: str, length: int) -> Array:
    """Return a part of the length and the type that it must have, every number of it finite."""
    array = store.array(name)
    _checked(array.length == length and array.dtype == np.dtype(_TYPES[name]))
    read = array.read()
    _checked(bool(np.isfinite(read).all()))
    return read


def _checked(sound: bool, value: Any = None) -> Any:
    """Return the value; raises ValueError where it is not sound."""
    if not sound:
        raise ValueError("not sound")
    return value

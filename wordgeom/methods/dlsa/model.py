"""A dynamic LSA model in a store, and the word vectors that it gives for any time.

n documents × p words in r dimensions, with polynomials of degree q in time. Parts of the store:
`documents` A (n × r); `coefficients` B_0 … B_q (q + 1 × r × p); `rows` of the documents in the
matrix, and their `times`; `moving` words; `spread`, standard deviations of the words; `vocab`.
Attributes: shape [n, r, p], degree, trend, weight, polynomials, and `source`, the digest of the
counts. The B_k are stored as fitted, in the form of Theorem 4; to compare times, changes of basis
are removed from them (canonical_form.py).
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wordgeom.core.errors import (
    FormatError,
    InputError,
    MissingInputError,
    StaleError,
)
from wordgeom.core.types import Array, Float32, Float64, Int64
from wordgeom.corpus.vocabulary import read_vocabulary_bytes
from wordgeom.linalg.blas import one_thread
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.matrices.kinds import noun
from wordgeom.methods.dlsa.canonical_form import aligned
from wordgeom.methods.dlsa.polynomials import Polynomials
from wordgeom.methods.dlsa.problem import FREE, HOLD
from wordgeom.methods.dlsa.usage import WordsAt, documents_near, words_in
from wordgeom.storage.meta import HEADER, unfinished_folder
from wordgeom.storage.store import Store
from wordgeom.vectors.keyed import Vectors
from wordgeom.weighting.options import WEIGHTS

DLSA = "dlsa"  # the kind of the store
_MAKE = "wordgeom train DTM --method dlsa"
_AGAIN = f"train it again: {_MAKE} --force"
_TYPES: dict[str, DTypeLike] = {
    "documents": np.float32, "coefficients": np.float32, "rows": np.int64,
    "times": np.float64, "moving": np.uint8, "spread": np.float64,
}  # fmt: skip


@dataclass(frozen=True)
class DynamicModel:
    """A fitted model.

    words (p); counts (p): of each in the corpus; documents A (n × r); coefficients (q + 1 × r × p);
    rows (n): of the counts; times (n); moving (p); spread (p): standard deviation of each weighted
    column around its mean or trend, 0 for a constant one.
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

    def __repr__(self) -> str:
        size = f"{len(self.words):,} words in {len(self.rows):,} documents"
        span = f"{self.times.min():g} to {self.times.max():g}"
        return f"<DynamicModel of {size}, {span}: r = {self.dim}, degree {self.degree}>"

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> DynamicModel:
        """Open the model in a directory.

        Raises MissingInputError if there is none, FormatError if its parts are inconsistent.
        """
        directory, do = Path(path), f"train one with {_MAKE}"
        if not directory.is_dir() and not unfinished_folder(directory).is_dir():
            what = "a file, not a model directory" if directory.exists() else "no such model"
            raise MissingInputError(what, where=directory, do=do)
        store = Store.open(directory)
        if store.kind != DLSA:
            what = f"is {noun(store.kind)}, not a dynamic LSA model"
            raise MissingInputError(what, where=directory, do=do)
        try:
            return _opened(cls, store)
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError("inconsistent model", where=directory, do=_AGAIN) from None

    @property
    def degree(self) -> int:
        """The degree of the polynomials, q."""
        return self.polynomials.degree

    @property
    def dim(self) -> int:
        """The dimension, r."""
        return int(self.documents.shape[1])

    @property
    def parent(self) -> Path | None:
        """The directory of the counts, None if the run card does not name it."""
        name = self.store.card.get("parent")
        return Path(os.path.normpath(self.store.path / name)) if isinstance(name, str) else None

    def open_documents(self) -> StoredDocuments:
        """Open the counts that the model was trained on.

        Raises MissingInputError if they are missing, StaleError if they have changed, FormatError
        if their words or documents differ from the model's, since callers select rows of them.
        """
        directory = self.parent
        if directory is None or not directory.is_dir():
            which = f", {directory}, are missing" if directory else " are not named in its run card"
            do = "restore them, or train the model again"
            raise MissingInputError(f"its counts{which}", where=self.store.path, do=do)
        counts = StoredDocuments.open(directory)
        if counts.store.digest != self.store.attributes["source"]:
            what = f"trained on {directory}, which has changed since"
            raise StaleError(what, where=self.store.path, do=_AGAIN)
        if counts.vocabulary.words != self.words or self.rows[-1] >= len(counts):
            needed = f"{int(self.rows[-1]) + 1:,} × {len(self.words):,}"
            size = f"{len(counts):,} documents × {counts.shape[1]:,} words"
            what = f"was trained on {needed} of {directory}, which has {size}"
            raise FormatError(what, where=self.store.path, do=_AGAIN)
        return counts

    def vectors_at(self, time: float, eig: float = 1.0) -> Float32:
        """Return word vectors at a time (p × r) float32, aligned so that times can be compared.

        Axes are those of A B_0 = U Σ Vᵀ at all times, scaled by σ^eig. With eig = 1, the inner
        product of word i at time s and word j at time t is Σ_d (a_d·b_i(s)) (a_d·b_j(t)), their
        fitted co-occurrence in the same documents. With eig = 0, as in the thesis, axes along which
        documents hardly differ weigh as much as the others and add noise. Raises InputError if
        the time is no number or too far away for float32, FormatError if it lies within the
        model's times.
        Warns of a time outside the documents' times.
        """
        if not isinstance(time, (int, float, np.number)) or not math.isfinite(time):
            do = "pass a number, such as 1950.0"
            raise InputError("the time must be a finite number", found=repr(time), do=do)
        if remark := self.extrapolation(time, f"{time:g}"):
            warnings.warn(remark, stacklevel=2)
        return self.words_at(time, eig)

    def words_at(self, time: float, eig: float = 1.0) -> Float32:
        """Return `vectors_at` of a time without its warning."""
        with np.errstate(over="ignore", invalid="ignore"):
            powers = np.where(self._scales > 0.0, self._scales, 1.0) ** eig
            vectors = np.ascontiguousarray((self._aligned_at(time) * powers[:, None]).T, np.float32)
        return self._finite(vectors, time)

    def at(self, time: float) -> WordsAt:
        """Return the words at a time, to ask for neighbours among those in use then.

        Raises what `vectors_at` and `open_documents` raise, and warns as `vectors_at`.
        """
        return WordsAt(time, Vectors(self.words, self.vectors_at(time)), self.in_use(time))

    def in_use(self, time: float) -> Array:
        """Return a mask (p) of the words in the documents near a time (usage.py)."""
        return words_in(self.open_documents(), self.rows[documents_near(self.times, time)])

    def extrapolation(self, time: float, named: str) -> str:
        """Return a remark on a time outside the documents' times, "" for a time within them."""
        first, last = self.times.min(), self.times.max()
        if first <= time <= last:
            return ""
        return f"{named} is outside the documents' times, {first:g} to {last:g}: extrapolated"

    def displacement(self, start: float, stop: float) -> Float64:
        """Return the displacement of each word between two times (p), in standard deviations.

        |L (b_j(stop) − b_j(start))| / sd_j, with LᵀL = AᵀA / n and aligned b_j: the root mean
        square, over documents, of the change of the fitted values. Warns as `vectors_at` does.
        """
        moved = self.moved(start, stop)
        for time in dict.fromkeys((start, stop)):
            if remark := self.extrapolation(time, f"{time:g}"):
                warnings.warn(remark, stacklevel=2)
        return moved

    def moved(self, start: float, stop: float) -> Float64:
        """Return `displacement` between two times without its warning."""
        with np.errstate(over="ignore", invalid="ignore"):
            moves = self._aligned_at(stop) - self._aligned_at(start)
        return self._finite(self._standardised(moves[None]), start, stop)

    def movement(self) -> Float64:
        """Return the distance of each word from its mean over time (p), in standard deviations.

        Like `displacement`, but the root mean square over all documents and all of their times:
        with a degree above 1, a word may move away and return.
        """
        return self._finite(self._standardised(self._aligned[1:].astype(np.float64)))

    def _standardised(self, moves: Float64) -> Float64:
        """Return √(Σ_k |L m_k|²) / sd (p) for moves m (k × r × p); 0 for a constant word."""
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.sum(np.square(moves * self._scales[:, None]), axis=(0, 1))
            lengths, varies = np.sqrt(squares / len(self.documents)), self.spread > 0.0
            return np.asarray(np.divide(lengths, self.spread, np.zeros(len(lengths)), where=varies))

    def _finite(self, array: Array, *times: float) -> Array:
        """Return the array if it is finite.

        Raises InputError if a time outside the documents' times is too far away, FormatError if
        there is no such time, since the model must be at fault.
        """
        if np.isfinite(array).all():
            return array
        first, last = self.times.min(), self.times.max()
        outside = [f"{t:g}" for t in times if not first <= t <= last]
        if not outside:
            what = "overflow within the model's own times"
            raise FormatError(what, where=self.store.path, do=_AGAIN)
        what = f"{' and '.join(outside)} is too far from the model's times, {first:g} to {last:g}"
        raise InputError(what, where=self.store.path, do="choose a time in that range")

    def _aligned_at(self, time: float) -> Float64:
        """Return the aligned B(t) (r × p)."""
        at = self.polynomials.at(np.array([time]))[0]
        with one_thread():  # the same bytes at any number of threads
            moves = np.tensordot(at, self._aligned[1:].astype(np.float64), 1)
        return np.asarray(self._aligned[0] + moves)

    @cached_property
    def _aligned(self) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):  # `_finite` reports overflow
            return aligned(self.coefficients, self.moving)

    @cached_property
    def _scales(self) -> Float64:
        """Σ (r), the norms of the columns of A, which are orthogonal in the form of Theorem 4."""
        return np.asarray(np.sqrt(np.sum(np.square(self.documents, dtype=np.float64), axis=0)))


def typed(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the arrays of a model in the dtypes and the order of the store."""
    return {name: np.asarray(arrays[name], dtype) for name, dtype in _TYPES.items()}


def arrays_bytes(rows: int, words: int, dim: int, terms: int) -> int:
    """Return the bytes of the arrays of a model: documents, words, and facts of both."""
    lengths = {"documents": rows * dim, "coefficients": terms * dim * words, "rows": rows,
               "times": rows, "moving": words, "spread": words}  # fmt: skip
    return sum(HEADER + n * np.dtype(_TYPES[name]).itemsize for name, n in lengths.items())


def describe(store: Store) -> dict[str, Any]:
    """Return the size of a model, its times and the directory of its counts."""
    model = DynamicModel.open(store.path)
    times = model.times
    span = f"{times.min():g} to {times.max():g}, {len(np.unique(times)):,} distinct"
    return {
        "documents": len(model.rows), "times": span, "words": len(model.words),
        "moving words": int(model.moving.sum()), "dimension": model.dim,
        "counts": str(model.parent or "unknown"),
    }  # fmt: skip


def _opened(cls: type[DynamicModel], store: Store) -> DynamicModel:
    """Return the model in a store; raises ValueError, KeyError, TypeError if it is invalid."""
    meta = store.attributes
    vocabulary = read_vocabulary_bytes(store.text("vocab"), store.path / "vocab.tsv")
    n, r, p = map(_positive, meta["shape"])
    q = _positive(meta["degree"])
    documents = _part(store, "documents", n * r).reshape(n, r)
    coefficients = _part(store, "coefficients", (q + 1) * r * p).reshape(q + 1, r, p)
    times = _part(store, "times", n)
    polynomials = Polynomials.from_dict(meta["polynomials"], q, times)
    rows, spread = _part(store, "rows", n), _part(store, "spread", p)
    moving = _part(store, "moving", p)
    _require(p == len(vocabulary) and isinstance(meta["source"], str))
    _require(meta["trend"] in (HOLD, FREE) and meta["weight"] in WEIGHTS)
    _require(bool(rows[0] >= 0 and np.all(np.diff(rows) > 0)))
    _require(bool(spread.min() >= 0.0 and moving.max() <= 1))
    return cls(
        store, vocabulary.words, vocabulary.counts, documents, coefficients, rows, times,
        polynomials, moving.astype(bool), spread, meta["weight"], meta["trend"],
    )  # fmt: skip


def _part(store: Store, name: str, length: int) -> Array:
    """Return a part; raises ValueError unless length and dtype match and all values are finite."""
    array = store.array(name)
    _require(array.length == length and array.dtype == np.dtype(_TYPES[name]))
    values = array.read()
    _require(bool(np.isfinite(values).all()))
    return values


def _positive(size: Any) -> int:
    _require(type(size) is int and size > 0)
    return int(size)


def _require(valid: bool) -> None:
    if not valid:
        raise ValueError("invalid model")

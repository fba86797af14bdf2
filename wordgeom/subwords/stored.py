"""Subword models on disk: `vectors.subwords` beside `vectors.bin`, a store.

Its attribute `vectors` is the digest of words and vectors that it belongs to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from wordgeom.core.errors import FormatError, OptionError, StaleError, WordgeomError
from wordgeom.core.types import Int64
from wordgeom.storage.store import Store, StoreWriter, exists, remove_store
from wordgeom.subwords.buckets import Buckets
from wordgeom.subwords.dictionary import Dictionary
from wordgeom.subwords.lengths import LONGEST, Lengths
from wordgeom.subwords.model import FitSettings, SubwordModel
from wordgeom.subwords.ngrams import Index
from wordgeom.subwords.units import unit_named
from wordgeom.subwords.units.morphs import Morphs, parse_morphs
from wordgeom.subwords.units.names import CODEPOINT, MORPHS, UNITS
from wordgeom.subwords.units.utf8 import Utf8
from wordgeom.vectors.keyed import Vectors, digest_of
from wordgeom.vectors.run_card import card_path, parse_card

KIND = "subwords"
SUFFIX = ".subwords"
_VECTORS, _NGRAMS, _BUCKETS, _MORPHS = "vectors", "ngrams", "buckets", "morphs"
_ROWS = 1 << 14  # written at once
_NGRAM, _CHARACTER = 40, 10  # bytes of an n-gram in tables, and of a byte of text while it is read


def model_path(vectors: Path) -> Path:
    """Return the path of the model of a vectors file: `vectors.subwords` of `vectors.bin`."""
    name = vectors.name.removesuffix(".gz")
    return vectors.with_name(Path(name).stem + SUFFIX)


def write_model(
    writer: StoreWriter, model: SubwordModel, vectors: Vectors, card: Mapping[str, Any]
) -> Store:
    """Write a model of these vectors into an open store, and commit it. Raises WriteError."""
    out = writer.array(_VECTORS, np.float32)
    for start in range(0, len(model.vectors), _ROWS):
        out.write(model.vectors[start : start + _ROWS].ravel())
    buckets, index = 0, model.index
    if isinstance(index, Buckets):
        buckets = index.number
        writer.array(_BUCKETS, np.int64).write(_used(index))
    elif isinstance(index, Dictionary):
        writer.text(_NGRAMS, index.lines().encode())
    if isinstance(model.unit, Morphs):
        writer.text(_MORPHS, model.unit.lines())
    attributes = {
        "shape": list(model.vectors.shape), "unit": model.name, "buckets": buckets,
        "lengths": [model.lengths.low, model.lengths.high], "vectors": digest_of(vectors),
        "added": model.added, "fit": None if model.fit is None else asdict(model.fit),
    }  # fmt: skip
    return writer.commit(attributes, card)


@contextmanager
def model_writer(
    path: Path | None, model: SubwordModel | None, vectors: Vectors, card: Mapping[str, Any]
) -> Iterator[Callable[[], object] | None]:
    """Open the store beside a vectors file, and yield what commits the model; None for nothing.

    The vectors file calls it when all its parts are staged, so that both are written, or neither.
    Without a model, that of the vectors which these replace is removed.
    """
    if path is None or model is None:
        replaced = path is not None and is_model(model_path(path)) and not has_model(path, vectors)
        yield partial(remove_store, model_path(path)) if path and replaced else None
        return
    with StoreWriter(model_path(path), KIND) as writer:
        yield lambda: write_model(writer, model, vectors, card)


def _used(index: Buckets) -> Int64:
    return np.arange(index.number) if index.used is None else index.used


def read_model(path: Path, vectors: Vectors) -> SubwordModel:
    """Read a model of these vectors.

    Raises MissingInputError, FormatError; OptionError for a store of another kind, StaleError for
    the model of other vectors.
    """
    store = Store.open(path)
    if store.kind != KIND:
        raise OptionError(f"is a store of kind {store.kind!r}, not a subword model", where=path)
    form = _Form.of(store, path)
    if store.attributes[_VECTORS] != digest_of(vectors):
        do = "copy the one that belongs to them, make them again, or remove this one"
        raise StaleError("belongs to other vectors", where=path, do=do)
    index: Index
    if form.buckets:
        index = Buckets(form.buckets, _buckets(store, form, path))
    else:
        index = Dictionary.of_lines(_lines(store, path))
    if len(index) != form.rows:
        what = f"{form.rows:,} vectors need as many n-grams"
        raise FormatError(what, where=path, found=f"{len(index):,}", do=store.remake)
    held = store.array(_VECTORS).read().reshape(form.rows, form.columns)
    if not np.isfinite(held).all():
        raise FormatError("has numbers that are not finite", where=path, do=store.remake)
    morphs = parse_morphs(store.text(_MORPHS), path) if form.unit == MORPHS else None
    unit = Utf8() if form.buckets else unit_named(form.unit, morphs)
    added = store.attributes.get("added") is not False
    fit = _fit(store, path)
    return SubwordModel(form.unit, unit, form.lengths, index, held, added, fit)


def find_model(path: Path, vectors: Vectors) -> SubwordModel | None:
    """Return the model beside a vectors file, None where there is none.

    Raises what `read_model` raises for one that cannot be used.
    """
    beside = model_path(path)
    return read_model(beside, vectors) if exists(beside) else None


def lost_model(path: Path) -> Path | None:
    """Return where the model of a vectors file was, if its run card says so and none is there."""
    beside = model_path(path)
    return beside if had_model(path) and not exists(beside) else None


def had_model(path: Path) -> bool:
    """Return whether the run card of a vectors file says that it was made with n-grams."""
    card = parse_card(card_path(path))
    statistics = {} if card is None else card.get("statistics", {})
    return "ngrams" in statistics or "subwords" in statistics  # by `subwords`, by `train`


def model_bytes(vectors: Path) -> int:
    """Return the bytes of memory that the model beside a vectors file takes once it is read.

    Raises MissingInputError, FormatError.
    """
    path = model_path(vectors)
    store = Store.open(path)
    form, parts = _Form.of(store, path), store.parts()
    text = sum(int(parts[name]["length"]) for name in (_NGRAMS, _MORPHS) if name in parts)
    # The numbers, and whether each is finite; the n-grams.
    return (4 + 1) * form.rows * form.columns + _NGRAM * form.rows + _CHARACTER * text


def bucket_bytes(vectors: Path) -> int:
    """Return the bytes of a float32 vector for each bucket of the model beside a vectors file.

    0 without buckets. Raises MissingInputError, FormatError.
    """
    path = model_path(vectors)
    form = _Form.of(Store.open(path), path)
    return 4 * form.buckets * form.columns


def is_model(store: Path) -> bool:
    """Return whether a store can be opened and is a subword model."""
    try:
        return Store.open(store).kind == KIND
    except WordgeomError:
        return False


def has_model(path: Path, vectors: Vectors) -> bool:
    """Return whether a model beside a vectors file can be read and belongs to these vectors."""
    try:
        store = Store.open(model_path(path))
    except WordgeomError:
        return False
    return store.kind == KIND and store.attributes.get(_VECTORS) == digest_of(vectors)


def model_stores(path: Path) -> list[Path]:
    """Return the store of the model beside a vectors file, nothing where there is none."""
    return [model_path(path)] if exists(model_path(path)) else []


def model_digests(path: Path) -> list[str]:
    """Return the digest of the model beside a vectors file, nothing where there is none."""
    return [Store.open(beside).digest for beside in model_stores(path)]


@dataclass(frozen=True)
class _Form:
    """What a store says of itself, checked: N, K, the unit, the lengths, the number of buckets."""

    rows: int
    columns: int
    unit: str
    lengths: Lengths
    buckets: int

    @classmethod
    def of(cls, store: Store, path: Path) -> _Form:
        """Return the form of a store; raises FormatError."""
        said = store.attributes
        shape, lengths, buckets = said.get("shape"), said.get("lengths"), said.get("buckets")
        if not (_two_integers(shape) and _two_integers(lengths)):
            raise FormatError("its attributes were edited", where=path, do=store.remake)
        (rows, columns), (low, high) = shape, lengths
        part = store.array(_VECTORS)
        fits = rows > 0 and columns > 0 and part.dtype == np.float32
        fits &= part.length == rows * columns and 1 <= low <= high <= LONGEST
        fits &= type(buckets) is int and 0 <= buckets < 1 << 31
        fits &= said.get("unit") in (UNITS if not buckets else (CODEPOINT,))
        if not (fits and isinstance(said.get(_VECTORS), str)):
            raise FormatError("its attributes do not fit its parts", where=path, do=store.remake)
        return cls(rows, columns, said["unit"], Lengths(low, high), said["buckets"])


def _fit(store: Store, path: Path) -> FitSettings | None:
    """Return how the n-grams were fitted, None if the store does not say; raises FormatError."""
    said = store.attributes.get("fit")
    if said is None:
        return None
    values: dict[str, Any] = {"ridge": None, "half_rank": None}
    values |= said if isinstance(said, dict) else {}
    ridge, half = values["ridge"], values["half_rank"]
    numbers = isinstance(ridge, float) and isinstance(half, float)
    if numbers and 0.0 < ridge < math.inf and 0.0 <= half < math.inf:
        return FitSettings(ridge, half)
    raise FormatError("its attributes were edited", where=path, do=store.remake)


def _two_integers(value: Any) -> TypeGuard[list[int]]:
    return isinstance(value, list) and [type(one) for one in value] == [int, int]


def _buckets(store: Store, form: _Form, path: Path) -> Int64:
    part = store.array(_BUCKETS)
    whole = part.dtype == np.int64 and part.length == form.rows
    used: Int64 = part.read() if whole else np.zeros(0, np.int64)
    if not len(used) or (np.diff(used, prepend=-1) <= 0).any() or used[-1] >= form.buckets:
        raise FormatError("its buckets are not ascending numbers", where=path, do=store.remake)
    return used


def _lines(store: Store, path: Path) -> str:
    try:
        text = store.text(_NGRAMS).decode()
    except UnicodeDecodeError:
        raise FormatError("its n-grams are not valid UTF-8", where=path, do=store.remake) from None
    if not text.endswith("\n"):
        raise FormatError("its n-grams end within a line", where=path, do=store.remake)
    return text

"""What a matrix folder, a model or a vectors file is, as a dictionary."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.core.errors import InputError, MissingInputError
from wordgeom.core.types import Float64
from wordgeom.matrices.document_term import Stored, StoredDocuments, open_stored
from wordgeom.matrices.times import parse_times
from wordgeom.methods.dlsa.model import DLSA, DynamicModel
from wordgeom.storage.store import Store
from wordgeom.vectors.keyed import read_vectors
from wordgeom.vectors.run_card import read_card

_FREQUENT = 10
_CHECKED = "every byte is as it was written"


def describe(path: Path, *, check: bool = False) -> dict[str, Any]:
    """Return facts about a matrix folder, model or vectors file; `check` reads a folder whole.

    Raises MissingInputError, FormatError.
    """
    if path.is_dir():
        model = Store.open(path).kind == DLSA
        return _describe_model(path, check) if model else _describe_store(path, check)
    if not path.exists():
        raise MissingInputError("no such file or folder", where=path, do="check the path")
    return _describe_vectors(path, check)


def _describe_store(path: Path, check: bool) -> dict[str, Any]:
    matrix = open_stored(path)
    store = matrix.store
    facts: dict[str, Any] = {"path": str(path), "kind": store.kind, "digest": store.digest}
    if isinstance(matrix, StoredDocuments):
        facts |= {"documents": len(matrix), **_told_of(matrix)}
    facts |= {"words": len(matrix.vocabulary), "most frequent": matrix.vocabulary.words[:_FREQUENT]}
    if check:
        _read_all(matrix)
        facts["checked"] = _CHECKED
    facts |= {"attributes": store.attributes, "parts": store.parts()}
    return facts | {"run": store.card}


def _told_of(matrix: StoredDocuments) -> dict[str, Any]:
    """Return what the documents tell of themselves."""
    documents = matrix.documents()
    ids, times = {one.id for one in documents}, {one.time for one in documents}
    facts = {"ids": "none" if ids <= {""} else f"{len(ids):,} different"}
    try:
        read = parse_times(documents, matrix.names())
    except InputError as error:
        return {**facts, "times": "none" if times <= {""} else str(error)}
    values = read.values[read.known]
    if not len(values):
        return {**facts, "times": f"none that can be read: {read.problem}"}
    span = _span(values)
    unread = len(documents) - len(values)
    return {**facts, "times": span + (f"; {unread:,} that cannot be read" if unread else "")}


def _span(times: Float64) -> str:
    return f"{times.min():g} to {times.max():g}, {len(np.unique(times)):,} different"


def _describe_model(path: Path, check: bool) -> dict[str, Any]:
    model = DynamicModel.open(path)
    store = model.store
    facts: dict[str, Any] = {"path": str(path), "kind": store.kind, "digest": store.digest}
    facts |= {"documents": len(model.rows), "times": _span(model.times)}
    facts |= {"words": len(model.words), "that may move": int(model.moving.sum())}
    facts |= {"dimension": model.dim, "counts": str(model.parent or "not told")}
    if check:
        store.check()
        facts["checked"] = _CHECKED
    return facts | {"attributes": store.attributes, "parts": store.parts(), "run": store.card}


def _read_all(matrix: Stored) -> None:
    for start, stop in matrix.row_blocks():
        matrix.rows(start, stop)
    for name in matrix.store.parts():
        if name not in ("indices", "data"):  # by rows, for they are large
            matrix.store.array(name).read()


def _describe_vectors(path: Path, check: bool) -> dict[str, Any]:
    vectors = read_vectors(path)
    rows, columns = vectors.matrix.shape
    with path.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    facts: dict[str, Any] = {"path": str(path), "kind": "vectors", "digest": digest}
    facts |= {"words": rows, "dimension": columns, "first words": vectors.words[:_FREQUENT]}
    if vectors.duplicates:
        facts["repeated words left out"] = vectors.duplicates
    card = read_card(path)
    if check and card is not None:
        facts["checked"] = _CHECKED
    return facts | {"run": card if card is not None else "no run card that fits this file"}

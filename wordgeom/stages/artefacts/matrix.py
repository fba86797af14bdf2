"""A stored matrix: co-occurrence counts, PMI weights or a document-term matrix."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Float64
from wordgeom.matrices.document_term import Stored, StoredDocuments, open_stored
from wordgeom.matrices.times import parse_times
from wordgeom.stages.artefacts.artefact import CHECKED, FREQUENT, Artefact


class MatrixDirectory(Artefact):
    """A matrix that exists."""

    def describe(self, *, check: bool) -> dict[str, Any]:
        """Return its size, its most frequent words, its parts and its run card."""
        matrix = open_stored(self.path)
        store = matrix.store
        facts: dict[str, Any] = {"path": str(self.path), "kind": store.kind, "digest": store.digest}
        if isinstance(matrix, StoredDocuments):
            facts |= _document_facts(matrix)
        words = matrix.vocabulary.words
        facts |= {"words": len(words), "most frequent": words[:FREQUENT]}
        if check:
            _read_all(matrix)
            facts["checked"] = CHECKED
        return facts | {"attributes": store.attributes, "parts": store.parts(), "run": store.card}


def time_span(times: Float64) -> str:
    """Return the first and the last time, and how many differ."""
    return f"{times.min():g} to {times.max():g}, {len(np.unique(times)):,} distinct"


def _document_facts(matrix: StoredDocuments) -> dict[str, Any]:
    """Return how many documents there are, and what is known of their ids and times."""
    documents = [document for document, _ in groupby(matrix.documents())]
    facts: dict[str, Any] = {"documents": len(documents)}
    if matrix.unit != "document":
        facts[f"{matrix.unit}s"] = len(matrix)
    ids, times = {one.id for one in documents}, {one.time for one in documents}
    facts["ids"] = "none" if ids <= {""} else f"{len(ids):,} distinct"
    try:
        read = parse_times(documents, matrix.names())
    except InputError as error:
        return {**facts, "times": "none" if times <= {""} else str(error)}
    values = read.values[read.known]
    if not len(values):
        return {**facts, "times": f"none that can be read: {read.problem}"}
    unread = len(documents) - len(values)
    more = f"; {unread:,} that cannot be read" if unread else ""
    return {**facts, "times": time_span(values) + more}


def _read_all(matrix: Stored) -> None:
    for start, stop in matrix.row_blocks():
        matrix.rows(start, stop)
    for name in matrix.store.parts():
        if name not in ("indices", "data"):  # by rows, for they are large
            matrix.store.array(name).read()

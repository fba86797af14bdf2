"""Stored matrices as methods read them: counts weighted on the fly, weights unchanged."""

from __future__ import annotations

from wordgeom.core.options import Options
from wordgeom.matrices.cooccurrence import PMI
from wordgeom.matrices.document_term import Stored, StoredDocuments
from wordgeom.matrices.interfaces import Matrix
from wordgeom.matrices.stored_rows import StoredRows
from wordgeom.runtime.pool import Pool
from wordgeom.weighting.documents import WeightedDocuments
from wordgeom.weighting.options import DocumentOptions, PmiOptions
from wordgeom.weighting.pmi import WeightedMatrix


def weighted(stored: Stored, options: Options, pool: Pool) -> Matrix | WeightedDocuments:
    """Return an open matrix as a method reads it, its counts weighted as they are read."""
    if isinstance(stored, StoredDocuments):
        assert isinstance(options, DocumentOptions)
        return WeightedDocuments(stored, options, pool)
    if stored.store.kind == PMI:
        return StoredRows(stored, pool)
    assert isinstance(options, PmiOptions)
    return WeightedMatrix(stored, options, pool)

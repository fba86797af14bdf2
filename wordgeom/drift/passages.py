"""Sums over the passages of a document."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Csr, Int64


def documents_of_words(columns: Csr, units: Int64) -> Int64:
    """Return the number (p) of documents that contain each word.

    columns: Xᵀ (p × n) of n passages; units (n): their documents, which must not descend.
    """
    begins = np.ones(columns.nnz, bool)
    begins[1:] = np.diff(units[columns.indices]) != 0
    begins[columns.indptr[:-1][np.diff(columns.indptr) > 0]] = True
    return np.bincount(columns.entry_rows[begins], minlength=columns.rows)

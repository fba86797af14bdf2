"""A sparse matrix with the entries of each column in random rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wordgeom.core.types import Csr
from wordgeom.linalg.svd import transpose


def permuted_columns(X: Csr, rng: np.random.Generator) -> Csr:
    """Return X (n × m) with each column permuted on its own; columns keep their sums and norms."""
    turned = transpose(X)
    rows = turned.indices.copy()
    for column in range(turned.rows):
        part = slice(int(turned.indptr[column]), int(turned.indptr[column + 1]))
        rows[part] = rng.choice(X.rows, part.stop - part.start, replace=False)
    return transpose(replace(turned, indices=rows))

"""The coordinates of a map: two columns as they are, or two principal components of more.

The components are those of the unit vectors of the words on the map, less their mean, ordered by
variance; the sign makes the entry of largest magnitude positive. They keep the directions in which
the words differ most, and little of the neighbourhoods: vectors that were made for two dimensions
give a better map.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float32, Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.signs import fix_signs
from wordgeom.vectors.nearest import unit_vectors

_ROWS = 1 << 14  # rows of a block


def coordinates(vectors: Float32, name: str) -> tuple[Float64, str]:
    """Return the positions (n × 2) of vectors (n × K), K ≥ 2, and how they were made, "" for K = 2.

    name: of the vectors, for the sentence.
    """
    if vectors.shape[1] == 2:
        return vectors.astype(np.float64), ""
    rows = unit_vectors(vectors)
    rows -= rows.mean(axis=0)
    with one_thread():
        scatter = np.zeros((rows.shape[1], rows.shape[1]))
        for first in range(0, len(rows), _ROWS):
            block = rows[first : first + _ROWS]
            scatter += block.T @ block
        values, basis = np.linalg.eigh(scatter)
        positions = rows @ basis[:, :-3:-1]
    share = float(values[-2:].sum() / max(values.sum(), np.finfo(np.float64).tiny))
    how = f"{name} has {vectors.shape[1]:,} dimensions: the map shows the first two principal"
    return fix_signs(positions), f"{how} components, {share:.0%} of the variance"

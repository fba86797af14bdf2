"""Choose among optimal NNLS weights those of least norm, the only ones that no order decides.

All minimisers v ≥ 0 of ‖A v − b‖ have the same A v = c. They are unique if the columns with slope
a_jᵀ(b − c) = 0 are independent, and certainly if those are the columns in use, which NNLS keeps
independent. Otherwise the weights are regularised as in locally linear embedding (Roweis and Saul
2000), where a share of the trace of AᵀA is added to its diagonal. Iterating this on the residual
(iterated Tikhonov regularisation) removes the bias: the result minimises ‖v‖ among the minimisers.
Every step has a unique solution, which does not depend on the order of the columns.

SciPy 1.17's NNLS returns weights that are not optimal for about 2 % of problems with many ties.
They are recognised by their slopes, and improved by proximal steps (Rockafellar 1976).
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.imputation.least_norm_kernels import make_least

_LEVEL = 1e-10  # relative slopes below this are 0


def make_unique(
    vectors: Float64, targets: Float64, indptr: Int64, same: Array, weights: Float64
) -> int:
    """Replace weights that are not unique, or not optimal, by the optimal ones of least norm.

    vectors (edges × m); targets (rows × m); weights (edges) of NNLS, in place; same (edges):
    whether the neighbour is identical to the entity, so that its row is solved. Returns the number
    of rows where active sets did not converge, whose weights become 0.
    """
    owner = np.repeat(np.arange(len(targets)), np.diff(indptr))
    combined = np.zeros_like(targets)
    used = np.flatnonzero(weights)
    np.add.at(combined, owner[used], weights[used, None] * vectors[used])
    slopes = np.einsum("em,em->e", vectors, (targets - combined)[owner])
    lengths = np.sqrt(np.einsum("em,em->e", vectors, vectors))
    level = _LEVEL * lengths * np.linalg.norm(targets, axis=1)[owner]
    wrong = (slopes > level) | ((weights > 0.0) & (slopes < -level))
    ambiguous = (weights == 0.0) & (slopes >= -level)
    flagged = [np.bincount(owner[edges], minlength=len(targets)) > 0
               for edges in (same, wrong, ambiguous)]  # fmt: skip
    rows = np.flatnonzero(~flagged[0] & (flagged[1] | flagged[2]))
    return int(make_least(rows, flagged[1], vectors, targets, indptr, weights))

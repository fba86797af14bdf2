"""The SVD-canonical form: V = U Σ Wᵀ becomes U Σ^p (Carrington 2021, lemma 7 and Table 3.3).

It is the same for V and any rotation of V. The entry of largest magnitude in each column is
positive: the thesis's "first entry" has no stable sign where it is near 0.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.errors import OptionError
from wordgeom.core.types import Float64
from wordgeom.linalg.gram import above_rounding, symmetric_eigh
from wordgeom.transforms.space import Space, Step


def canonical(space: Space, dim: int | None) -> tuple[Step, Float64]:
    """Return U Σ, and the singular values (r) above rounding; dim: of leading columns to keep.

    Columns beyond the rank are zero. Raises OptionError where dim exceeds the columns.
    """
    K = space.columns
    if dim is not None and dim > K:
        raise OptionError(f"--dim {dim} exceeds the number of columns, {K}", do="lower it")
    moments = space.moments()
    values, W = symmetric_eigh(moments.products)
    values, W = values[::-1], W[:, ::-1]
    rank = int(np.count_nonzero(above_rounding(values, moments.products)))
    kept = min(dim or K, rank)
    A = np.zeros((K, dim or K))
    A[:, :kept] = W[:, :kept]
    rotated = space.mapped(A)
    signed = rotated.mapped(np.diag(_signs(rotated)))
    singular = np.sqrt(values[:kept])
    captured = float(values[:kept].sum() / values[:rank].sum())
    facts = {"effective_rank": kept, "spectrum_of": "singular values",
             "spectrum": [*singular.tolist(), *[0.0] * ((dim or K) - kept)],
             "captured": captured}  # fmt: skip
    return Step(signed, facts, rank_notes(kept, dim or K)), singular


def rank_notes(rank: int, columns: int) -> list[str]:
    """Return a note where columns beyond the rank are zero."""
    if rank == columns:
        return []
    zero = columns - rank
    is_zero = f"{zero} column is zero" if zero == 1 else f"{zero} columns are zero"
    return [f"the vectors have rank {rank}, less than {columns}: {is_zero}"]


def _signs(space: Space) -> Float64:
    """Return the sign (K) of the entry of largest magnitude in each column, 1 in empty ones."""
    best = np.zeros(space.columns)

    def extreme(images: Float64) -> Float64:
        rows = np.abs(images).argmax(axis=0)
        return np.asarray(images[rows, np.arange(images.shape[1])])

    for found in space.blocks(extreme):  # in order: the first of equal entries counts
        best = np.where(np.abs(found) > np.abs(best), found, best)
    return np.where(best < 0.0, -1.0, 1.0)

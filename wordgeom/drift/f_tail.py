"""p values from the F distribution, without permutations."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64

ASSUMPTION = (
    "documents are independent, each word's noise is normal with constant variance, and the topics "
    "are known; topics are estimated from the tested words, so p is too small: in simulated counts "
    "a tenth of the unchanged words had p ≤ .05"
)


def f_tail_p(F: Float64, columns: int, degrees: int) -> Float64:
    """Return P(F' ≥ F) for F (w), F' with `columns` and `degrees` degrees of freedom."""
    from scipy.special import fdtrc

    return np.asarray(fdtrc(columns, degrees, np.maximum(F, 0.0)))

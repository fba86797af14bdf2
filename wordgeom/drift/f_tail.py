"""p by the tail of the F distribution, which permutations do without."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64

ASSUMPTION = (
    "documents are independent, each word's noise is normal and of one variance, and the topics "
    "are known; topics are estimated from the very words that are tested, so that p is too small: "
    "in simulated counts a tenth of still words had p ≤ .05"
)


def f_tail_p(F: Float64, columns: int, degrees: int) -> Float64:
    """Return P(F' ≥ F) of F (w) with `columns` and `degrees` degrees of freedom."""
    from scipy.special import fdtrc

    return np.asarray(fdtrc(columns, degrees, np.maximum(F, 0.0)))

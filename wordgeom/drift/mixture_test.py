"""Test of the topic mixture: does it drift, or does U absorb the change of words?

|UᵀTU|² measures how much the topics' second moments over documents depend on time. The dynamic
model X = AB₀ + TAB₁ is also a static model of 2r topics: with so many topics, U absorbs TA, no
word's F is large, and this statistic is. It is also large if topics merely become more frequent or
more variable. A large F shows that words changed; a large |UᵀTU|² with small F shows one of the
other two.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.drift.contrasts import Moments


def mixture(moments: Moments) -> Float64:
    """Return Σ_kl (C⁻¹)_kl tr(M_k M_l) of b permutations (b), M_k = Uᵀdiag(g_k − ḡ_k)U.

    C is the covariance of the polynomials over documents. It normalises |M|², because permuting
    times with unequal numbers of documents changes the scale of the polynomials.
    """
    first, means = moments.first, moments.first[:, :, 0, 0]
    within = first[:, :, 1:, 1:] - means[:, :, None, None] * np.eye(first.shape[2] - 1)
    C = moments.second[:, :, 0, :, 0] - means[:, :, None] * means[:, None, :]
    products = np.einsum("bkij,blij->bkl", within, within)
    return np.asarray(np.trace(np.linalg.solve(C, products), axis1=1, axis2=2))

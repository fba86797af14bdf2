"""The companion of the word test: does the mixture of topics drift, or does U hold the change?

|UᵀTU|² is how much the documents' second moments by topic depend on time. X = AB₀ + TAB₁ is a
static model of 2r topics too: where r is that large U holds TA, no word's F is large, and this is.
But it is large as well where topics merely become more or less frequent, or vary more: large F says
that words changed; large |UᵀTU|² beside small F says one of the two.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.drift.contrasts import Moments

MIXTURE_REJECTED = (
    "the mixture of topics drifts, or there are so many topics that they hold the words' change"
)


def mixture(moments: Moments) -> Float64:
    """Return Σ_kl (C⁻¹)_kl tr(M_k M_l) of b arrangements (b), M_k = Uᵀdiag(g_k − ḡ_k)U.

    C are the covariances of the polynomials over documents: where times of many documents and of
    few change places they are not what they were, and |M|² would go with them.
    """
    first, means = moments.first, moments.first[:, :, 0, 0]
    within = first[:, :, 1:, 1:] - means[:, :, None, None] * np.eye(first.shape[2] - 1)
    C = moments.second[:, :, 0, :, 0] - means[:, :, None] * means[:, None, :]
    products = np.einsum("bkij,blij->bkl", within, within)
    return np.asarray(np.trace(np.linalg.solve(C, products), axis1=1, axis2=2))

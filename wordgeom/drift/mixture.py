"""The companion of the word test: does the mixture of topics drift, or does U hold the change?

|UᵀTU|² is how much the documents' second moments by topic depend on time. X = AB₀ + TAB₁ is a
static model of 2r topics too: where r is that large U holds TA, no word's F is large, and this is.
But it is large as well where topics merely become more or less frequent, or vary more: large F says
that words changed; large |UᵀTU|² beside small F says one of the two.
"""

from __future__ import annotations

import numpy as np

from wordgeom.drift.contrasts import Moments
from wordgeom.types import Float64

SAYS = "the mixture of topics drifts, or there are so many topics that they hold the words' change"


def mixture(moments: Moments) -> Float64:
    """Return Σ_k |Uᵀdiag(g_k − ḡ_k)U|² of b arrangements (b)."""
    first = moments.first
    within = first[:, :, 1:, 1:] - first[:, :, :1, :1] * np.eye(first.shape[2] - 1)
    return np.asarray(np.einsum("bkij,bkij->b", within, within))

"""Which words are said at a time: elsewhere a word's vector is a guess of the polynomial alone."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Csr, Float64

SHARE = 10  # a time is the tenth of all documents that is nearest to it


def attested(X: Csr, times: Float64, time: float) -> Array:
    """Return which words (p) occur in the tenth of documents X (n × p) that is nearest to a time.

    times (n). Of documents that are equally far all count, as far as the last of the tenth.
    """
    distance = np.abs(times - time)
    most = np.sort(distance)[max(0, len(times) // SHARE - 1)]
    there = np.zeros(X.columns, bool)
    there[X.select(np.flatnonzero(distance <= most)).indices] = True
    return there

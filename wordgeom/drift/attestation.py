"""Attested words: elsewhere a word's vector is an extrapolation of its polynomial."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Csr, Float64

SHARE = 10  # a tenth of all documents counts as near a time


def attested(X: Csr, times: Float64, time: float) -> Array:
    """Return a mask (p) of the words in the tenth of documents X (n × p) nearest to a time.

    times (n). Documents at the same distance as the last of the tenth all count.
    """
    distance = np.abs(times - time)
    limit = np.sort(distance)[max(0, len(times) // SHARE - 1)]
    mask = np.zeros(X.columns, bool)
    mask[X.select(np.flatnonzero(distance <= limit)).indices] = True
    return mask

"""Cosine distance after orthogonal alignment (Hamilton, Leskovec and Jurafsky 2016, eq. 4).

Vectors have length 1 and are not centred. The orthogonal matrix that aligns the earlier vectors to
the later ones is fitted to all words in common, changed words included.
"""

from __future__ import annotations

from wordgeom.core.errors import InputError
from wordgeom.core.types import Float64
from wordgeom.drift.measures.results import Measured, cosine_distances, untested
from wordgeom.linalg.procrustes import align

METHOD = "cosine distance after orthogonal Procrustes alignment on all common words"


def distances(then: Float64, now: Float64) -> Float64:
    """Return the distance (w) of each word's unit vectors (w × K)."""
    return cosine_distances(align(then, now).apply(then), now)


def measure(then: Float64, now: Float64, method: str) -> Measured:
    """Return the change (w) of unit vectors (w × K); raises InputError for unequal dimensions."""
    if then.shape[1] != now.shape[1]:
        found = f"{then.shape[1]} then and {now.shape[1]} now"
        do = "train both alike, or pass --measure neighbours"
        raise InputError("the vectors differ in dimension", found=found, do=do)
    aligned = align(then, now).apply(then)  # so that both are compared in one basis
    return untested(cosine_distances(aligned, now), aligned, now, method)

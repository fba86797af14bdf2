"""The permutation test of `wordgeom drift` on the simulated data, at the same r as T."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Csr, Float64
from wordgeom.drift.options import DOCUMENTS, OWN, DriftOptions
from wordgeom.drift.testing import test_drift
from wordgeom.linalg.numpy_ops import NumpyOps
from wordgeom.methods.dlsa.problem import HOLD
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress

_MEMORY = 10**9  # bytes, far more than needed


def permutation_p(
    X: Float64, times: Float64, r: int, shuffles: int, seed: int
) -> tuple[float, float]:
    """Return p for no change of words, and p for no change of the mixture of topics."""
    n, p = X.shape
    indptr = np.arange(n + 1, dtype=np.int64) * p
    indices = np.tile(np.arange(p, dtype=np.int32), n)
    table = Csr(indptr, indices, X.astype(np.float32).ravel(), p)
    basis = (times - times.mean())[:, None] / times.std()
    options = DriftOptions(permute=DOCUMENTS, permutations=shuffles, trend=HOLD, null=OWN)
    with Pool(1) as pool:
        verdict = test_drift(
            table, basis, times, options, rank=r, ops=NumpyOps(pool), seed=seed, pool=pool,
            memory=_MEMORY, progress=Progress(), groups=None,
        )  # fmt: skip
    return verdict.global_p, verdict.mixture_p

"""The permutation test of `wordgeom drift` on the simulated data, at the same r as T."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Csr, Float64
from wordgeom.drift.options import DOCUMENTS, OWN, PERMUTATION, DriftOptions
from wordgeom.drift.testing import test_drift
from wordgeom.linalg.device import open_context
from wordgeom.methods.dlsa.problem import HOLD
from wordgeom.runtime.run_options import UseOptions


def permutation_p(
    X: Float64, times: Float64, r: int, shuffles: int, seed: int
) -> tuple[float, float]:
    """Return p for no change of words, and p for no change of the mixture of topics."""
    n, p = X.shape
    indptr = np.arange(n + 1, dtype=np.int64) * p
    indices = np.tile(np.arange(p, dtype=np.int32), n)
    table = Csr(indptr, indices, X.astype(np.float32).ravel(), p)
    basis = (times - times.mean())[:, None] / times.std()
    options = DriftOptions(
        test=PERMUTATION, permute=DOCUMENTS, permutations=shuffles, trend=HOLD, null=OWN
    )
    with open_context(UseOptions(threads=1, seed=seed, memory=1.0)) as context:
        verdict = test_drift(table, basis, times, options, r, None, context)
    return verdict.global_p, verdict.mixture_p

"""Word vectors of two factors: V Uᵀ brought to the one pair whose columns are of equal lengths.

Sweeps minimise over V and U, and nothing but the ridge tells (V, U) from (V M, U M⁻ᵀ): after a few
of them one factor may be twice as long as the other. With V Uᵀ = A Σ Bᵀ, A Σ^½ and B Σ^½ are the
pair of least ‖V‖² + ‖U‖² (Srebro, Rennie and Jaakkola 2005). G is symmetric, so that they tend to
A = B ± column by column: a column of B is that of A where words are near to what they stand beside
(topics), and its opposite where they are far (parts of speech). A Σ^½ + mix B Σ^½ has the first
times 1 + mix and the second times 1 − mix.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.ops import Ops, Tall
from wordgeom.core.types import Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.gram import above_rounding, spectrum
from wordgeom.linalg.signs import fix_signs


def joined(v: Tall, u: Tall, mix: float, ops: Ops) -> tuple[Tall, Float64]:
    """Return A Σ^½ + mix B Σ^½ (V × K) with V Uᵀ = A Σ Bᵀ, and Σ (r), descending.

    Columns beyond the rank r of V Uᵀ are 0.
    """
    K = v.shape[1]
    (dv, Zv), (du, Zu) = spectrum(v, ops), spectrum(u, ops)
    with one_thread():
        core = (np.sqrt(dv)[:, None] * Zv.T) @ (Zu * np.sqrt(du))  # (rv × ru), V Uᵀ in their bases
        left, sigma, right = np.linalg.svd(core, full_matrices=False)
        rank = np.count_nonzero(above_rounding(sigma, v))
        left, sigma, right = left[:, :rank], sigma[:rank], right[:rank]
        turned = fix_signs(left)
        signs = np.where(np.sum(turned * left, axis=0) < 0.0, -1.0, 1.0)
        of_v = (Zv / np.sqrt(dv)) @ (turned * np.sqrt(sigma))  # (K × r)
        of_u = (Zu / np.sqrt(du)) @ (right.T * (signs * np.sqrt(sigma)))
    unused = ((0, 0), (0, K - len(sigma)))
    whole = ops.combine(v, np.pad(of_v, unused))
    whole += ops.combine(u, np.pad(mix * of_u, unused))
    return whole, sigma

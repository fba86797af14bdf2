"""One vector per word from the two factors of weighted sweeps, word and context vectors.

The product V Uᵀ is the same for (V, U) and (V M, U M⁻ᵀ); only the ridge distinguishes them, and
after a few sweeps one factor may be twice as long as the other. With the SVD V Uᵀ = A Σ Bᵀ, the
factors A Σ^½ and B Σ^½ minimise ‖V‖² + ‖U‖² (Srebro, Rennie and Jaakkola 2005). Since G is
symmetric, each column of B tends to ± the column of A: + if words resemble their contexts (topics),
− if they differ from them (parts of speech). A Σ^½ + mix B Σ^½ scales the former by 1 + mix and the
latter by 1 − mix.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.ops import Ops, Tall
from wordgeom.core.types import Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.gram import above_rounding, spectrum
from wordgeom.linalg.signs import fix_signs


def mix_factors(v: Tall, u: Tall, mix: float, power: float, ops: Ops) -> tuple[Tall, Float64]:
    """Return A Σ^power + mix B Σ^power (V × K), where V Uᵀ = A Σ Bᵀ, and Σ (r), descending.

    v, u: word and context vectors (V × K). Columns beyond the rank r of V Uᵀ are 0.
    """
    K = v.shape[1]
    (dv, Zv), (du, Zu) = spectrum(v, ops), spectrum(u, ops)
    with one_thread():
        core = (np.sqrt(dv)[:, None] * Zv.T) @ (Zu * np.sqrt(du))  # (rv × ru): V Uᵀ in both bases
        left, sigma, right = np.linalg.svd(core, full_matrices=False)
        rank = np.count_nonzero(above_rounding(sigma, v))
        left, sigma, right = left[:, :rank], sigma[:rank], right[:rank]
        fixed = fix_signs(left)
        signs = np.where(np.sum(fixed * left, axis=0) < 0.0, -1.0, 1.0)
        of_v = (Zv / np.sqrt(dv)) @ (fixed * sigma**power)  # (K × r)
        of_u = (Zu / np.sqrt(du)) @ (right.T * (signs * sigma**power))
    unused = ((0, 0), (0, K - len(sigma)))
    mixed = ops.combine(v, np.pad(of_v, unused))
    mixed += ops.combine(u, np.pad(mix * of_u, unused))
    return mixed, sigma

"""Figure 5.15: eigenvalues of MΣ̂⁻¹ for r moving and for 2r static dimensions.

Proposition 5: if times have mean 0 and variance 1, both have the covariance B₀ᵀB₀ + B₁ᵀB₁ + Σ_z, so
no function of covariances can distinguish them. The figure does not state n, p, the noise and B₁;
here, n = 1000 and p = 50 as in Figure 5.11, and B₁ is from N(0, 1) like B₀. Times on [−1, 1] have
variance 1/3; the last row shows the effect.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import carrington_5_plots
import numpy as np
from carrington_5_cells import NOISES
from carrington_5_runs import Job, Map, Plan, gather
from carrington_5_tables import table

from wordgeom.core.types import Float64
from wordgeom.drift.factor_test import factor_test
from wordgeom.linalg.blas import one_thread

RANKS = (2, 5, 10)
_RUNS = 200  # four slow fits per run, three of them of a wrong model
N, P = 1000, 50
SITUATIONS = ("static r", "static 2r, fitted r", "moving r, fitted r", "moving, times on [−1, 1]")


def run(plan: Plan, work: Map, folder: Path) -> None:
    """Print quantiles of the largest and smallest eigenvalue, and draw all of them."""
    short = replace(plan, runs=min(plan.runs, _RUNS))
    found = gather(_eigenvalues, "5.15", len(RANKS), short, work)
    print(f"## Figure 5.15: eigenvalues of MΣ̂⁻¹; n = {N}, p = {P}; {short.runs:,} runs\n")
    for noise, variance in enumerate(NOISES):
        print(f"Noise {variance:g}: median [5 %, 95 %] of the runs\n")
        rows = [[f"r = {r}", SITUATIONS[k], *_ends(found[cell, noise, :, k])]
                for cell, r in enumerate(RANKS) for k in range(len(SITUATIONS))]  # fmt: skip
        table(("", "", "largest", "smallest", "T, Bartlett"), rows)
    table(("Kolmogorov–Smirnov distance, moving r to static 2r", *(f"noise {x:g}" for x in NOISES)),
          [[f"r = {r}, {what}", *(_distance(found[cell, noise], end) for noise in range(3))]
           for cell, r in enumerate(RANKS)
           for what, end in (("largest", -2), ("smallest", 0))])  # fmt: skip
    carrington_5_plots.eigenvalues(found[..., :-1], RANKS, SITUATIONS[:3], folder)


def _eigenvalues(job: Job) -> Float64:
    """Return (runs × situations × p + 1) eigenvalues, ascending, and T."""
    r, noise = RANKS[job.cell], NOISES[job.noise]
    rows = []
    with one_thread():
        for _, rng in job.generators():
            A, B = rng.normal(size=(N, 2 * r)), rng.normal(size=(2 * r, P))
            Z = noise**0.5 * rng.normal(size=(N, P))
            static = A[:, :r] @ B[:r]
            ends = np.linspace(-1.0, 1.0, N)[:, None]
            moved = A[:, :r] @ B[r:]
            tables = (static, A @ B, static + ends / ends.std() * moved, static + ends * moved)
            tests = [factor_test(table + Z, r) for table in tables]
            rows.append([np.append(test.eigenvalues, test.statistic) for test in tests])
    return np.array(rows)


def _ends(values: Float64) -> list[str]:
    """Return quantiles of the largest and smallest eigenvalue and of T; values (runs × p + 1)."""
    shown = []
    for column, form in ((-2, ".3g"), (0, ".3g"), (-1, ",.0f")):
        low, middle, high = np.quantile(values[:, column], (0.05, 0.5, 0.95))
        shown.append(f"{middle:{form}} [{low:{form}}, {high:{form}}]")
    return shown


def _distance(values: Float64, column: int) -> str:
    """Return the distance of the two situations and its p; values (runs × 4 × p + 1)."""
    from scipy.stats import ks_2samp

    found = ks_2samp(values[:, 2, column], values[:, 1, column])
    return f"{found.statistic:.3f} (p {found.pvalue:.2g})"

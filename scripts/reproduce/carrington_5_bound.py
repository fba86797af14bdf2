"""The effect of factanal's bound on uniquenesses with the true r and without change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from carrington_5_cells import FIGURES, NOISES, simulate
from carrington_5_runs import Job, Map, Plan, gather
from carrington_5_tables import LEVEL, table

from wordgeom.core.types import Float64
from wordgeom.drift.factor_analysis import FACTANAL, LOWER_BOUND, fit
from wordgeom.drift.factor_test import degrees_of_freedom
from wordgeom.linalg.blas import one_thread

_CELLS = (("5.3", 2), ("5.4", 2), ("5.13", 2))  # null cells with the largest n
_RUNS = 200
_PLACE = "5.99"  # not a figure: gives this table its own seeds


def run(plan: Plan, work: Map) -> None:
    """Print the rejection rates of T with Bartlett's correction, for both bounds."""
    from scipy.stats import chi2

    short = replace(plan, runs=min(plan.runs, _RUNS))
    found = gather(_statistics, _PLACE, len(_CELLS), short, work)
    print(f"## factanal's bound: H₀, T Bartlett-corrected, {short.runs:,} runs\n")
    rows = []
    for place, (name, number) in enumerate(_CELLS):
        cell = FIGURES[name].cells[number]
        limit = chi2.isf(LEVEL, degrees_of_freedom(cell.p, cell.fitted))
        shares = np.mean(found[place] > limit, axis=1)  # noises × bounds
        uniqueness = [noise / (cell.r + noise) for noise in NOISES]
        rows.append([
            f"n = {cell.n}, p = {cell.p}, r = {cell.r}",
            " · ".join(f"{value:.4f}" for value in uniqueness),
            *(" · ".join(f"{x:.3f}" for x in shares[:, bound]) for bound in (0, 1)),
        ])  # fmt: skip
    table(("setting", "uniqueness of a typical word", f"bound {LOWER_BOUND:g}",
           f"bound {FACTANAL:g}"), rows)  # fmt: skip


def _statistics(job: Job) -> Float64:
    """Return T (runs × 2), Bartlett-corrected, with the bounds LOWER_BOUND and FACTANAL."""
    name, number = _CELLS[job.cell]
    cell = FIGURES[name].cells[number]
    factor = cell.n - 1 - (2 * cell.p + 5) / 6 - 2 * cell.fitted / 3
    rows = []
    with one_thread():
        for _, rng in job.generators():
            X = simulate(cell, NOISES[job.noise], rng)[0]
            R = np.asarray(np.corrcoef(X.T))
            rows.append([factor * fit(R, cell.fitted, least).discrepancy
                         for least in (LOWER_BOUND, FACTANAL)])  # fmt: skip
    return np.array(rows)

"""Carrington (2021), "Mathematical Aspects of Word Embeddings", ch. 5: tests of change over time.

    scripts/reproduce/carrington-5 [--out DIR] [--figures 5.3,5.13] [--runs 1000] [--permuted 200]
        [--shuffles 99] [--seed 1] [--processes 2] [--quick]

Data sets are simulated as the thesis describes. Two tests are applied to each: T of eq. 5.14, which
tests whether r static factors explain the covariances of the words (plain, and with Bartlett's
correction as in R's factanal), and the permutation test of `wordgeom drift` at the same r.

Figures 5.3, 5.4   T without change, by n; 5.5 – 5.8: its power; 5.13, 5.14: wrong r
Figure 5.15        eigenvalues of r moving and of 2r static dimensions (Proposition 5)
bound              the effect of factanal's lower bound on uniquenesses, .005, at small noise

The thesis does not state the noise: each cell has three values, for variances .01 · .1 · 1. --runs
is the number of runs per cell; the permutation test is applied to --permuted of them, with
--shuffles permutations each. A rate of .05 has a standard error of .007 over 1,000 runs and of .015
over 200. --quick gives a preview with 20 runs. Plots are written to the directory --out.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import carrington_5_bound
import carrington_5_eigenvalues
import carrington_5_plots
import carrington_5_tables
from carrington_5_cells import FIGURES, NOISES, Figure
from carrington_5_runs import Map, Plan, gather, outcomes, working
from tables_report import parser_of, report

from wordgeom.core.errors import OptionError
from wordgeom.core.types import Float64
from wordgeom.plot.figure import check

EIGENVALUES, BOUND = "5.15", "bound"
PARTS = (*FIGURES, EIGENVALUES, BOUND)
_QUICK = 20  # runs


def main() -> None:
    """Run the simulations."""
    report(make, parse())


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--out", type=Path, default=Path(), help="directory for the plots")
    parser.add_argument("--figures", default=",".join(PARTS), help="some of " + ", ".join(PARTS))
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--permuted", type=int, default=200)
    parser.add_argument("--shuffles", type=int, default=99)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help=f"{_QUICK} runs of each cell")
    return parser.parse_args()


def make(args: argparse.Namespace) -> None:
    """Print the tables and draw the plots; raises OptionError for invalid arguments."""
    names = args.figures.split(",")
    for name in names:
        if name not in PARTS:
            do = "choose from " + ", ".join(PARTS)
            raise OptionError("unknown figure", found=repr(name), do=do)
    for name, least in (("runs", 1), ("permuted", 0), ("shuffles", 1), ("processes", 1)):
        if getattr(args, name) < least:
            raise OptionError(f"--{name} must be at least {least}", found=getattr(args, name))
    runs = min(args.runs, _QUICK) if args.quick else args.runs
    plan = Plan(runs, min(args.permuted, runs), args.shuffles, args.seed)
    check(args.out / "power.png", force=True)
    start = time.perf_counter()
    print(
        f"# Carrington 2021, chapter 5, {time.strftime('%F')}\n\n{description(plan)}\n", flush=True
    )
    with working(args.processes) as work:
        figures({name: FIGURES[name] for name in FIGURES if name in names}, plan, work, args.out)
        if EIGENVALUES in names:
            carrington_5_eigenvalues.run(plan, work, args.out)
        if BOUND in names:
            carrington_5_bound.run(plan, work)
    print(f"{time.perf_counter() - start:.0f} s")


def figures(chosen: dict[str, Figure], plan: Plan, work: Map, folder: Path) -> None:
    """Print and draw Figures 5.3 – 5.14, and draw the power for those that vary ϕ²."""
    found: dict[str, Float64] = {}
    for name, figure in chosen.items():
        found[name] = gather(outcomes, name, len(figure.cells), plan, work)
        carrington_5_tables.show(name, figure, found[name])
        carrington_5_plots.histograms(name, figure, found[name], folder)
    carrington_5_plots.power(
        {name: found[name] for name in found if name in ("5.5", "5.6")}, folder
    )


def description(plan: Plan) -> str:
    """Return a description of the tables."""
    noises = " · ".join(f"{noise:g}" for noise in NOISES)
    permuted = (
        f"permutation and mixture: the first {plan.permuted:,}, {plan.shuffles:,} permutations each"
        if plan.permuted
        else "no permutation tests"
    )
    return (
        f"Rejection rates at 5 % over {plan.runs:,} runs ({permuted}); seed {plan.seed}. Three "
        f"values in a cell are for noise variances {noises}."
    )


if __name__ == "__main__":
    main()

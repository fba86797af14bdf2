"""Carrington 2021, "Mathematical aspects of word embeddings", ch. 5: tests of change over time.

    scripts/reproduce/carrington-5 [--out DIR] [--figures 5.3,5.13] [--runs 1000] [--permuted 200]
        [--shuffles 99] [--seed 1] [--processes 2] [--quick]

Tables are simulated as the thesis says, and two tests done on each: T of eq. 5.14, which asks
whether r static factors explain the words' covariances (plain, and Bartlett-corrected as R's
factanal has it), and the permutation test of `wordgeom drift` at the same r.

Figures 5.3, 5.4   T where nothing changes, by n; 5.5 – 5.8 its power; 5.13, 5.14 a wrong r
Figure 5.15        eigenvalues: r dimensions that move against 2r that do not (Proposition 5)
bound              what factanal's lower bound of uniquenesses, .005, does at small noise

The thesis does not state the noise: each cell has three figures, at variances .01 · .1 · 1. --runs
are those of a cell, --permuted those of them that are permuted too, --shuffles times each; a share
of .05 has a standard error of .007 over 1,000 runs and .015 over 200. --quick is for a look: 20
runs. Pictures are written into the folder --out.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import carrington_5_bound
import carrington_5_eigenvalues
import carrington_5_pictures
import carrington_5_tables
from carrington_5_cells import FIGURES, NOISES, Figure
from carrington_5_runs import Map, Plan, gather, outcomes, working

from wordgeom.core.errors import OptionError, WordgeomError
from wordgeom.core.types import Float64
from wordgeom.plot.figure import check

EIGENVALUES, BOUND = "5.15", "bound"
PARTS = (*FIGURES, EIGENVALUES, BOUND)
_QUICK = 20  # runs


def main() -> None:
    """Make what is asked for."""
    args = parse()
    try:
        make(args)
    except WordgeomError as error:
        raise SystemExit(f"error: {error}") from None


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path(), help="folder for the pictures")
    parser.add_argument("--figures", default=",".join(PARTS), help="some of " + ", ".join(PARTS))
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--permuted", type=int, default=200)
    parser.add_argument("--shuffles", type=int, default=99)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help=f"{_QUICK} runs of each cell")
    return parser.parse_args()


def make(args: argparse.Namespace) -> None:
    """Print what is asked for. Raises a WordgeomError that says what is wrong in one line."""
    asked = args.figures.split(",")
    for name in asked:
        if name not in PARTS:
            do = "take some of " + ", ".join(PARTS)
            raise OptionError("no such figure", found=repr(name), do=do)
    for name, least in (("runs", 1), ("permuted", 0), ("shuffles", 1), ("processes", 1)):
        if getattr(args, name) < least:
            raise OptionError(f"--{name} must be at least {least}", found=getattr(args, name))
    runs = min(args.runs, _QUICK) if args.quick else args.runs
    plan = Plan(runs, min(args.permuted, runs), args.shuffles, args.seed)
    check(args.out / "power.png", force=True)
    start = time.perf_counter()
    print(f"# Carrington 2021, chapter 5, {time.strftime('%F')}\n\n{told(plan)}\n", flush=True)
    with working(args.processes) as work:
        figures({name: FIGURES[name] for name in FIGURES if name in asked}, plan, work, args.out)
        if EIGENVALUES in asked:
            carrington_5_eigenvalues.run(plan, work, args.out)
        if BOUND in asked:
            carrington_5_bound.run(plan, work)
    print(f"{time.perf_counter() - start:.0f} s")


def figures(chosen: dict[str, Figure], plan: Plan, work: Map, folder: Path) -> None:
    """Print and draw figures 5.3 – 5.14, and the power of those that vary ϕ²."""
    found: dict[str, Float64] = {}
    for name, figure in chosen.items():
        found[name] = gather(outcomes, name, len(figure.cells), plan, work)
        carrington_5_tables.show(name, figure, found[name])
        carrington_5_pictures.histograms(name, figure, found[name], folder)
    carrington_5_pictures.power(
        {name: found[name] for name in found if name in ("5.5", "5.6")}, folder
    )


def told(plan: Plan) -> str:
    """Return what the tables hold."""
    noises = " · ".join(f"{noise:g}" for noise in NOISES)
    permuted = (
        f"permutation and mixture: of the first {plan.permuted:,}, {plan.shuffles:,} shuffles each"
        if plan.permuted
        else "none of them permuted"
    )
    return (
        f"Shares of {plan.runs:,} runs that reject at 5 % ({permuted}); seed {plan.seed}. Three "
        f"figures in a field are those at noise variances {noises}."
    )


if __name__ == "__main__":
    main()

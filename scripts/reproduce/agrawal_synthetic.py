"""Table 7.1, Figures 7.3 and 7.4: problems of random pairs."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
from carrington_24_plots import lines
from mde_problems import (
    ANCHORED,
    CENTERED,
    SIZES,
    STANDARDIZED,
    STEPS,
    Case,
    Rivals,
    Run,
    distortion,
    halves,
    least,
    normal,
    ours,
    placed,
    quadratic_case,
    random_pairs,
)
from tables_report import Claim, conclude, judge, show, timed

from wordgeom.core.types import Array
from wordgeom.methods.mde.problem import Problem
from wordgeom.methods.mde.stochastic import Proximal, batches
from wordgeom.runtime.context import Context

DIMS = (2, 10, 100)
MEDIUM, MOST, ENOUGH = SIZES[-1], 300, 1e-5
SMALL, ROUNDS = (1000, 10_000, 10), 300
# (n, m): the book's seconds on a CPU, E after 40 steps, and the optimum of another random problem
PUBLISHED = {
    (1000, 2): (0.1, 1.432, 1.432), (1000, 10): (0.2, 7.797, 7.795),
    (1000, 100): (0.8, 104.5, 104.5), (10_000, 2): (0.4, 1.007, 1.007),
    (10_000, 10): (0.7, 6.066, 6.065), (10_000, 100): (20.8, 81.12, 81.08),
    (100_000, 2): (2.5, 0.935, 0.931), (100_000, 10): (10.5, 5.152, 5.137),
    (100_000, 100): (334.7, 63.61, 63.51),
}  # fmt: skip


def table_7_1(full: bool, rivals: Rivals, context: Context) -> None:
    """Print Table 7.1."""
    rows, gaps, times = [], [], {}
    for items, number in SIZES:
        for m in DIMS:
            if (items, m) == (SIZES[-1][0], 100) and not full:
                continue
            case = quadratic_case(items, number, m, context)
            run, theirs = ours(case, context, STEPS), rivals.pymde(case, STEPS)
            value, best = distortion(case, run.vectors, context.pool), least(case, m, context)
            gaps.append((f"n = {items:,}, m = {m}: {_percent(value, best)}", value <= 1.005 * best))
            if m == 2:
                times[number] = run.seconds
            other = ["", ""]
            if theirs is not None:
                reached = distortion(case, theirs.vectors, context.pool)
                other = [f"{theirs.seconds:.2f}", _percent(reached, best)]
            took, reached, bound = PUBLISHED[items, m]
            rows.append([f"{items:,}", f"{number:,}", f"{m}", f"{run.seconds:.2f}", f"{value:.4f}",
                         f"{best:.4f}", _percent(value, best), *other, f"{took:g}",
                         _percent(reached, bound)])  # fmt: skip
    head = ["n", "pairs", "m", "s", "E", "optimum", "gap", "PyMDE: s", "gap", "book: s", "gap"]
    show("## Table 7.1: quadratic problems, 40 steps", head, rows)
    growth = math.log(times[SIZES[-1][1]] / times[SIZES[0][1]]) / math.log(
        SIZES[-1][1] / SIZES[0][1]
    )
    conclude([judge("Table 7.1, gap", gaps),
              judge("Table 7.1, growth", [(f"exponent {growth:.2f}", growth <= 1.2)])])  # fmt: skip


def figure_7_3(rivals: Rivals, folder: Path, context: Context) -> None:
    """Print the steps that the medium problems take, and draw their residual norms."""
    items, number = MEDIUM
    similar, other = halves(random_pairs(items, number, 1), 1)
    rng = np.random.default_rng(2)
    anchors = np.sort(rng.permutation(items)[: items // 10])
    base = Case(similar, normal(items, 2, 1), other, anchors=anchors,
                values=rng.standard_normal((len(anchors), 2), np.float32))  # fmt: skip
    rows, panels, found = [], {}, {}
    for constraint in (CENTERED, ANCHORED, STANDARDIZED):
        case = placed(replace(base, constraint=constraint), context)
        found[constraint] = run = ours(case, context, MOST, enough=ENOUGH)
        theirs = rivals.pymde(case, MOST, ENOUGH)
        runs = [("wordgeom", run)] if theirs is None else [("wordgeom", run), ("PyMDE", theirs)]
        for name, each in runs:
            value = distortion(case, each.vectors, context.pool)
            rows.append([constraint, name, f"{each.steps}", f"{each.seconds:.1f}",
                         f"{value:.5f}", f"{each.norms[-1]:.1e}"])  # fmt: skip
        panels[constraint] = {name: _curve(each.norms) for name, each in runs}
    show("## Figure 7.3: log1p and log on 1,000,000 pairs, m = 2",
         ["constraint", "program", "steps", "s", "E", "residual norm"], rows)  # fmt: skip
    lines(panels, "step", "log₁₀ residual norm", folder / "figure-7.3.png")
    conclude(criteria_7_3(found))


def criteria_7_3(found: dict[str, Run]) -> list[Claim]:
    """Return the criteria of Figure 7.3."""
    norms = [(f"{name}: {run.norms[-1]:.1e}", run.norms[-1] <= ENOUGH)
             for name, run in found.items()]  # fmt: skip
    pace = {name: run.seconds / max(1, run.steps) for name, run in found.items()}
    ratio = pace[STANDARDIZED] / pace[CENTERED]
    return [judge("Figure 7.3, norm", norms),
            judge("Figure 7.3, overhead", [(f"ratio {ratio:.2f}", ratio <= 1.5)])]  # fmt: skip


def figure_7_4(starts: int, folder: Path, context: Context) -> None:
    """Print what the stochastic method reaches from several starts, and draw one course."""
    items, number, m = SMALL
    case = quadratic_case(items, number, m, context)
    best, courses, took = least(case, m, context), [], []
    for seed in range(1, starts + 1):
        own = placed(replace(case, start=normal(items, m, seed)), context)
        course, spent = timed(lambda own=own, seed=seed: _course(own, number // 10, seed, context))  # type: ignore[misc]
        courses.append(course)
        took.append(spent.elapsed)
    found = [course[-1] for course in courses]
    mean = statistics.mean(found)
    rows = [
        [f"wordgeom, {starts} starts", f"{mean:.3f}", f"{statistics.pstdev(found):.3f}",
         f"{min(found):.3f}", f"{max(found):.3f}", f"{best:.3f}", _percent(mean, best),
         f"{statistics.median(took):.1f}"],
        ["book, 100 starts", "7.89", "0.03", "7.84", "7.97", "7.80", _percent(7.89, 7.80), ""],
    ]  # fmt: skip
    head = ["", "mean E", "standard deviation", "min", "max", "optimum", "mean gap", "median s"]
    show(f"## Figure 7.4: the stochastic method after {ROUNDS} rounds", head, rows)
    conclude([
        judge("Figure 7.4, mean", [(_percent(mean, best), mean <= 1.02 * best)]),
        judge("Figure 7.4, range", [(_percent(max(found), best), max(found) <= 1.03 * best)]),
    ])  # fmt: skip
    ends = {"median": 0.5, "largest": 1.0, "smallest": 0.0}
    curves = {name: [(float(k), x) for k, x in enumerate(np.quantile(courses, q, axis=0).tolist())]
              for name, q in ends.items()}  # fmt: skip
    curves["optimum"] = [(0.0, best), (ROUNDS - 1.0, best)]
    lines({f"{starts} starts": curves}, "round", "average distortion", folder / "figure-7.4.png")


def _course(case: Case, batch: int, seed: int, context: Context) -> list[float]:
    """Return the average distortion of all pairs after each round."""
    problem = Problem(len(case.start), case.terms, context.pool)
    parts = [Problem(len(case.start), part, context.pool)
             for part in batches(case.terms, batch, np.random.default_rng(seed))]  # fmt: skip
    descent = Proximal(problem, parts, context.ops, rounds=ROUNDS, constraint=case.bound(context),
                       seed=seed)  # fmt: skip
    state = descent.start(case.start.copy())
    return [problem(state.x)[0] for _ in descent.iterations(state)]


def _curve(norms: Array) -> list[tuple[float, float]]:
    return [(float(k), math.log10(max(norm, 1e-12))) for k, norm in enumerate(norms.tolist())]


def _percent(value: float, best: float) -> str:
    return f"{100 * (value / best - 1):.2f} %"

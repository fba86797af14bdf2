r"""Optimisers of semi-supervised MDS on the simulated problems of Carrington (2021), §4.5.1.

    scripts/bench ssmds                     p = 100, r = 2: ten starts, a grid of learning rates
    scripts/bench ssmds --words 10000 --dim 100 --width 200 --pairs 10000 --starts 1 \
        --steps 100 --epochs 10 --rates 2.5e-7 5e-7 1e-6

X = DDᵀ, with D (p × width) uniform in [0, 1). The thesis states neither width, nor start, nor
λ: with a width of r, objectives have the published size; the start is normal with entries of the
size of X; λ = ½ weighs plain sums. The objective is case 2. Rates are those of Table 4.2: with sums
over i < j and batches of 50 of 100 words scaled by 2, gradients are those of the thesis.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import OptionError
from wordgeom.core.types import Csr, Float64
from wordgeom.linalg.device import get_ops
from wordgeom.methods.ssmds import sources, terms
from wordgeom.methods.ssmds.descents import Majorised, Quasi, Run, State, Stochastic
from wordgeom.methods.ssmds.majorise import InnerStep
from wordgeom.methods.ssmds.objective import InnerFit, Objective
from wordgeom.methods.ssmds.supervision import Supervision
from wordgeom.runtime.pool import Pool

_RATES = (0.0005, 0.001, 0.002, 0.005, 0.010, 0.015, 0.020)  # Table 4.2, and a lower one
_ROUNDING = 1e-6  # of objectives that count as equal
_BATCH, _MORE = 50, 5  # L-BFGS may take five times as many steps


@dataclass(frozen=True)
class Outcome:
    """A finished run: its objective, seconds, and steps."""

    objective: float
    seconds: float
    steps: int


def simulated(p: int, width: int, pairs: int, pool: Pool, seed: int) -> Objective:
    """Return the objective of a simulated problem."""
    rng = np.random.default_rng(seed)
    D = rng.random((p, width))
    indices = np.tile(np.arange(width, dtype=np.int32), p)
    rows = Csr(np.arange(p + 1) * width, indices, D.ravel(), width)
    chosen = set[tuple[int, int]]()
    while len(chosen) < pairs:
        i = int(rng.integers(0, p - 1))
        chosen.add((i, int(rng.integers(i + 1, p))))
    words, places = np.unique(np.array(sorted(chosen)), return_inverse=True)
    ends = places.reshape(-1, 2)
    judged = Supervision(words, ends[:, 0], ends[:, 1], rng.random(pairs), (), {})
    cpu = get_ops("cpu", pool)
    fit = InnerFit(sources.Gram(rows), cpu, cpu, pool)
    square = float(np.mean(fit.source.at(*judged.rows) ** 2))
    term = terms.Order(judged.scores, square, True)
    return Objective(fit, terms.Supervised(judged, terms.products, term), 0.5)


def finished(make: Callable[[], Run], until: float = -np.inf) -> Outcome:
    """Run an optimiser to its end, or to an objective of `until`."""
    began = time.perf_counter()
    try:
        run = make()
        for _ in run.iterations():
            if run.values[-1] <= until:
                break
    except OptionError:  # the rate diverges
        return Outcome(np.inf, time.perf_counter() - began, 0)
    return Outcome(run.values[-1], time.perf_counter() - began, len(run.values) - 1)


def optimisers(
    objective: Objective, start: Float64, options: argparse.Namespace, pool: Pool
) -> dict[str, Callable[[], Run]]:
    """Return the optimisers by name, each from the same start."""
    fit = objective.fit
    assert isinstance(fit, InnerFit)
    step = InnerStep(objective, fit, get_ops("cpu", pool))
    made: dict[str, Callable[[], Run]] = {
        "majorise": lambda: Majorised(objective, State(start), step, most=options.steps, tol=1e-9),
        "lbfgs": lambda: Quasi(
            objective, start, None, get_ops("cpu", pool), most=_MORE * options.steps, tol=1e-9
        ),
    }  # fmt: skip

    def descent(rate: float) -> Callable[[], Run]:
        return lambda: Stochastic(
            objective, State(start), most=options.epochs, tol=0.0, rate=rate, decay=0.0,
            batch=_BATCH, seed=1,
        )  # fmt: skip

    made["sgd, computed rate"] = descent(0.0)
    for rate in options.rates:
        made[f"sgd {rate:.3g}"] = descent(rate)
    return made


def compare(options: argparse.Namespace, pool: Pool) -> None:
    """Print a row for each optimiser: objectives and times over the starts."""
    p, r = options.words, options.dim
    objective = simulated(p, options.width, options.pairs, pool, options.seed)
    typical = (objective.fit.largest / (0.5 * p * (p - 1)) / r) ** 0.25
    found: dict[str, list[Outcome]] = {}
    reached: list[Outcome] = []
    for k in range(options.starts):
        start = typical * np.random.default_rng((options.seed, k)).standard_normal((p, r))
        for name, make in optimisers(objective, start, options, pool).items():
            found.setdefault(name, []).append(finished(make))
        goal = (1.0 + _ROUNDING) * found["majorise"][-1].objective
        again = optimisers(objective, start, options, pool)["lbfgs"]
        reached.append(finished(again, goal))
    print(f"p = {p:,}, r = {r}, X of rank {options.width}, {options.pairs:,} pairs, λ = ½")
    print(f"{'optimiser':20} {'min L':>14} {'mean L':>14} {'steps':>7} {'mean s':>8}")
    for name, runs in found.items():
        values = [run.objective for run in runs]
        steps, seconds = (
            np.mean([getattr(run, at) for run in runs]) for at in ("steps", "seconds")
        )
        print(f"{name:20} {min(values):14.6g} {np.mean(values):14.6g} {steps:7.0f} {seconds:8.2f}")
    slow = np.mean([run.seconds for run in found["majorise"]])
    fast = np.mean([run.seconds for run in reached])
    goals = [(1.0 + _ROUNDING) * run.objective for run in found["majorise"]]
    met = sum(run.objective <= goal for run, goal in zip(reached, goals, strict=True))
    print(f"L-BFGS reached the objective of majorisation from {met} of {len(goals)} starts, in")
    print(f"{fast:.3g} s instead of {slow:.3g} s: ratio {slow / fast:.3g}")
    best = min(run.objective for name, runs in found.items() if name[:3] == "sgd" for run in runs)
    own = min(run.objective for run in found["majorise"])
    print(f"majorisation at or below the best of SGD: {own <= best} ({own:.8g}, {best:.8g})")


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--words", type=int, default=100, help="p")
    parser.add_argument("--dim", type=int, default=2, help="r")
    parser.add_argument("--width", type=int, default=2, help="columns of D")
    parser.add_argument("--pairs", type=int, default=50, help="judged pairs")
    parser.add_argument("--starts", type=int, default=10, help="random starts")
    parser.add_argument("--steps", type=int, default=1000, help="of majorisation and L-BFGS")
    parser.add_argument("--epochs", type=int, default=500, help="of SGD")
    parser.add_argument("--rates", type=float, nargs="*", default=_RATES, help="of SGD")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with Pool(options.threads) as pool:
        compare(options, pool)


if __name__ == "__main__":
    main()

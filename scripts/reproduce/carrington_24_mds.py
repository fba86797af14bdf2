"""Tables 4.2 and 4.3, Figures 4.2 to 4.4: semi-supervised MDS, simulated and of documents."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from carrington_24_plots import lines
from carrington_24_spaces import Judges
from tables_report import conclude, judge, show, timed

import wordgeom as wg
from wordgeom.core.errors import OptionError
from wordgeom.core.types import Float64
from wordgeom.methods.ssmds.descents import Majorised, Run, State, Stochastic
from wordgeom.methods.ssmds.majorise import InnerStep
from wordgeom.methods.ssmds.objective import InnerFit, Objective
from wordgeom.runtime.context import Context

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench_ssmds import simulated

_P, _R, _WIDTH, _PAIRS, _BATCH = 100, 2, 2, 50, 50
_EPOCHS = 500  # 1,000 iterations of batches of half of the words
_STARTS = 10
RATES = (0.001, 0.002, 0.005, 0.010, 0.015, 0.020)
DECAYS = (0.0, 0.01, 0.02, 0.05, 0.1)
# rate: the thesis's minimum and mean objective
PUBLISHED = {0.001: (6.56, 17.21), 0.002: (3.05, 4.51), 0.005: (3.05, 3.06), 0.010: (3.03, 3.08),
             0.015: (32.93, 122.97), 0.020: (14.47, 922.07)}  # fmt: skip
WEIGHTS = (1.0, 0.9, 0.5, 0.2, 0.05, 0.01)
_WORDSIM = "WordSim-353"


@dataclass(frozen=True)
class Trial:
    """The objective before the first step and after each epoch, seconds, and the rate of SGD."""

    values: Sequence[float]
    seconds: float
    cpu: float = 0.0
    rate: float = 0.0

    @property
    def last(self) -> float:
        """The objective at the end."""
        return self.values[-1]


def simulation(judges: Judges, folder: Path) -> None:
    """Print Table 4.2 and draw Figures 4.2 to 4.4."""
    context = judges.context
    objective = simulated(_P, _WIDTH, _PAIRS, context.pool, 1)
    starts = [start_of(objective, _P, _R, k) for k in range(_STARTS)]
    found = {rate: [descended(objective, start, rate, 0.0, _EPOCHS, 0.0) for start in starts]
             for rate in RATES}  # fmt: skip
    exact = [majorised(objective, start, context, 1000) for start in starts]
    rows = [[f"SGD, rate {rate:g}", *_figures(trials), *(f"{value:g}" for value in PUBLISHED[rate])]
            for rate, trials in found.items()]  # fmt: skip
    rows.append(["majorisation", *_figures(exact), "2.998", ""])
    head = [f"{_STARTS} starts", "min s", "mean s", "min L", "mean L", "thesis: min", "mean"]
    show(f"### Table 4.2: p = {_P}, r = {_R}, case 2", head, rows)
    best = min(trial.last for trials in found.values() for trial in trials)
    own = min(trial.last for trial in exact)
    means = [float(np.mean([trial.last for trial in trials])) for trials in found.values()]
    middle = int(np.argmin(means))
    conclude([
        judge("Table 4.2, majorisation", [(f"{own:.6g} against {best:.6g}", own <= best)]),
        judge("Table 4.2, rate", [(f"{RATES[middle]:g} is best", 0 < middle < len(RATES) - 1)]),
    ])  # fmt: skip
    draw(found, objective, starts, folder)


def draw(
    found: Mapping[float, Sequence[Trial]], objective: Objective, starts: Sequence[Float64],
    folder: Path,
) -> None:  # fmt: skip
    """Draw Figures 4.2 to 4.4; objectives of runs that diverged are left out."""
    ends = {rate: [one.last for one in trials if np.isfinite(one.last)]
            for rate, trials in found.items()}  # fmt: skip
    panel = {name: [(rate, np.log10(of(values))) for rate, values in ends.items() if values]
             for name, of in (("minimum", min), ("mean", np.mean), ("maximum", max))}  # fmt: skip
    lines({"after 1,000 iterations": panel}, "rate", "log₁₀ L", folder / "figure-4.2.png")
    curves = {f"rate {rate:g}": list(enumerate(np.log10(trials[0].values)))
              for rate, trials in found.items() if np.isfinite(trials[0].last)}  # fmt: skip
    lines({"one start": curves}, "epoch", "log₁₀ L", folder / "figure-4.3.png")

    def mean_of(rate: float, decay: float) -> float:
        ends = [descended(objective, start, rate, decay, _EPOCHS, 0.0).last for start in starts[:3]]
        return float(np.mean(ends))

    decays = {f"rate {rate:g}": [(decay, mean_of(rate, decay)) for decay in DECAYS]
              for rate in (0.002, 0.005, 0.010)}  # fmt: skip
    lines({"final L": decays}, "decay", "mean L of 3 starts", folder / "figure-4.4.png")


def documents(store: Path, r: int, threads: int, judges: Judges) -> None:
    """Print Table 4.3: case 3 on documents, supervised by WordSim-353."""
    found = {weight: _supervised(store, r, weight, threads, judges) for weight in WEIGHTS}
    names = [_WORDSIM, *(name for name in judges.sets if name != _WORDSIM)]
    rows = [[f"{weight:g}", *(f"{scores[name][0]:.3f}" for name in names)]
            for weight, scores in found.items()]  # fmt: skip
    show(f"### Table 4.3: case 3, Pearson, r = {r}", ["λ", *names], rows)
    own = [scores[_WORDSIM][0] for scores in found.values()]
    plain = found[WEIGHTS[0]]
    moved = max(abs(scores[name][0] - plain[name][0]) for scores in found.values()
                for name in names[1:])  # fmt: skip
    rising = all(low < high for low, high in pairwise(own))
    conclude([
        judge("Table 4.3, own", [("WordSim-353 rises with every step", rising)]),
        judge("Table 4.3, level", [(f"{own[-1]:.3f} > .9", own[-1] > 0.9)]),
        judge("Table 4.3, others", [(f"other sets move by at most {moved:.3f}", moved < 0.05)]),
    ])  # fmt: skip


def _supervised(
    store: Path, r: int, weight: float, threads: int, judges: Judges
) -> Mapping[str, tuple[float, float]]:
    """Return the scores of vectors that fit documents and WordSim-353."""
    model = wg.train(
        store, "ssmds", dim=r, pairs=judges.files[_WORDSIM], objective="correlation",
        data_weight=weight, weight="rows", threads=threads,
    )  # fmt: skip
    return judges.correlations(model.read)


def start_of(objective: Objective, p: int, r: int, seed: int) -> Float64:
    """Return random vectors (p × r) whose inner products have the size of the data."""
    typical = (objective.fit.largest / (0.5 * p * (p - 1)) / r) ** 0.25
    return np.asarray(typical * np.random.default_rng((1, seed)).standard_normal((p, r)))


def descended(
    objective: Objective, start: Float64, rate: float, decay: float, epochs: int, tol: float
) -> Trial:
    """Return a run of stochastic gradient descent."""
    return _run(
        lambda: Stochastic(objective, State(start), most=epochs, tol=tol, rate=rate, decay=decay,
                           batch=_BATCH, seed=1)
    )  # fmt: skip


def majorised(objective: Objective, start: Float64, context: Context, steps: int) -> Trial:
    """Return a run of majorisation."""
    fit = objective.fit
    assert isinstance(fit, InnerFit)
    step = InnerStep(objective, fit, context.ops)
    return _run(lambda: Majorised(objective, State(start), step, most=steps, tol=1e-9))


def _run(make: Callable[[], Run]) -> Trial:
    def work() -> tuple[list[float], float]:
        try:
            run = make()
            for _ in run.iterations():
                pass
        except OptionError:  # the rate diverges
            return [float("inf")], 0.0
        return list(run.values), run.rate if isinstance(run, Stochastic) else 0.0

    (values, rate), took = timed(work)
    return Trial(values, took.elapsed, took.cpu, rate)


def _figures(trials: Sequence[Trial]) -> list[str]:
    seconds, ends = ([getattr(one, name) for one in trials] for name in ("seconds", "last"))
    return [
        f"{min(seconds):.2f}",
        f"{np.mean(seconds):.2f}",
        f"{min(ends):.4g}",
        f"{np.mean(ends):.4g}",
    ]

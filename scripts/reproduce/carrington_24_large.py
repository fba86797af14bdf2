"""Figures 4.5 to 4.7: the larger simulation of semi-supervised MDS, by default a tenth of its size.

Rates are relative to the one that ssmds computes. The width of D is 2 r, so that rank r leaves an
error, as the published objectives do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from carrington_24_mds import DECAYS, Trial, descended, majorised, simulated, start_of
from carrington_24_plots import lines, scattered
from carrington_24_spaces import Judges
from tables_report import conclude, judge, show

from wordgeom.core.errors import OptionError

_RATES = (0.125, 0.25, 0.5, 1.0, 2.0)
_STARTS, _EPOCHS, _STEPS, _TOL, _SEED = 3, 300, 100, 1e-2, 2
_LEAST = 200  # words
Found = Mapping[tuple[float, float], Sequence[Trial]]  # by rate and decay


def simulation(words: int, judges: Judges, folder: Path) -> None:
    """Print the ends of all runs and draw the figures; raises OptionError for too few words."""
    if words < _LEAST:
        raise OptionError(f"--simulated must be at least {_LEAST}", found=words)
    r, pairs = words // 100, words // 20
    objective = simulated(words, 2 * r, pairs, judges.context.pool, _SEED)
    starts = [start_of(objective, words, r, k) for k in range(_STARTS)]
    safe = descended(objective, starts[0], 0.0, 0.0, 1, 0.0).rate
    found = {
        (rate, decay): [descended(objective, start, rate * safe, decay, _EPOCHS, _TOL)
                        for start in starts]
        for rate in _RATES for decay in DECAYS
    }  # fmt: skip
    exact = [majorised(objective, start, judges.context, _STEPS) for start in starts]
    _table(found, exact, f"p = {words:,}, r = {r}, {pairs} pairs")
    _draw(found, exact, folder)
    _criteria(found, exact)


def _mean(trials: Sequence[Trial], name: str) -> float:
    return float(np.mean([getattr(trial, name) for trial in trials]))


def _table(found: Found, exact: Sequence[Trial], size: str) -> None:
    def cell(trials: Sequence[Trial]) -> str:
        return f"{_mean(trials, 'last'):.4g} ({_mean(trials, 'cpu'):.1f})"

    rows = [[f"SGD, rate {rate:g}", *(cell(found[rate, decay]) for decay in DECAYS)]
            for rate in _RATES]  # fmt: skip
    rows.append([f"majorisation, {_STEPS} steps", cell(exact), *[""] * (len(DECAYS) - 1)])
    head = ["mean L (CPU s)", *(f"decay {decay:g}" for decay in DECAYS)]
    show(f"### Figures 4.5 to 4.7: {size}, case 2, {_STARTS} starts", head, rows)


def _draw(found: Found, exact: Sequence[Trial], folder: Path) -> None:
    """Draw the figures without runs that diverged."""
    ended = {key: trials for key, trials in found.items() if np.isfinite(_mean(trials, "last"))}
    by_rate = {
        f"rate {rate:g}": [(decay, np.log10(_mean(ended[rate, decay], "last")))
                           for decay in DECAYS if (rate, decay) in ended]
        for rate in _RATES
    }  # fmt: skip
    by_decay = {
        f"decay {decay:g}": [(np.log2(rate), np.log10(_mean(ended[rate, decay], "cpu")))
                             for rate in _RATES if (rate, decay) in ended]
        for decay in DECAYS
    }  # fmt: skip
    curves = {name: curve for name, curve in by_rate.items() if curve}
    lines({"final L": curves}, "decay", "log₁₀ mean L", folder / "figure-4.5.png", best=min)
    lines({"time to convergence": by_decay}, "log₂ rate", "log₁₀ CPU s",
          folder / "figure-4.6.png", best=min)  # fmt: skip
    points = {
        f"rate {rate:g}": [(one.cpu, np.log10(one.last)) for (own, _), trials in ended.items()
                           if own == rate for one in trials]
        for rate in _RATES
    }  # fmt: skip
    points["majorisation"] = [(one.cpu, np.log10(one.last)) for one in exact]
    scattered(points, "CPU s", "log₁₀ L", folder / "figure-4.7.png")


def _criteria(found: Found, exact: Sequence[Trial]) -> None:
    none, most = DECAYS[0], DECAYS[-1]
    slow, fast = _RATES[0], _RATES[-1]
    ends, times = (
        {key: _mean(trials, name) for key, trials in found.items()} for name in ("last", "cpu")
    )
    higher = [(f"rate {rate:g}", ends[rate, most] > ends[rate, none]) for rate in _RATES]
    sooner = [(f"rate {rate:g}", times[rate, most] < times[rate, none]) for rate in _RATES]
    faster = [(f"decay {d:g}", times[fast, d] < times[slow, d]) for d in DECAYS]
    best, soonest = min(ends.values()), min(times.values())
    own, took = _mean(exact, "last"), _mean(exact, "cpu")
    conclude([
        judge("Figure 4.5, decay raises the final L", higher),
        judge("Figure 4.6, decay shortens the time", sooner),
        judge("Figure 4.6, a higher rate is faster", faster),
        judge("Figure 4.7, majorisation is lower", [(f"{own:.4g} against {best:.4g}", own < best)]),
        judge("Figure 4.7, and slower", [(f"{took:.1f} s against {soonest:.1f}", took > soonest)]),
    ])  # fmt: skip

"""Figure 4: how accuracy after imputation depends on δ and on the stopping rule η."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from yao_firms import NAMES, Firms, anchors, known
from yao_imputing import EXACT, PUBLISHED, Way, impute, varied
from yao_knn import PLAIN, judge
from yao_table1 import told

from wordgeom.plot.figure import INK, PALE, log_ticks, saved_figure, thin_grid
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DELTAS = (2, 3, 5, 8, 10, 12, 15, 20, 25, 30)
ETAS = (1e-1, 1e-2, 1e-3, 1e-4)
KS = (5, 10)
FLAT = (5, 20)  # between these δ accuracy may move by RANGE at most
RANGE = 0.1
WAYS = {
    "power, η = 1e-2": Way(eta=1e-2),
    "exact": EXACT,
    "authors' settings": PUBLISHED,
}
_INK = {5: INK, 10: PALE}
_DASH = {"power, η = 1e-2": "-", "exact": ":", "authors' settings": "--"}

Curves = dict[tuple[str, int], list[float]]


@dataclass(frozen=True, eq=False)
class Figure4:
    """What every point of the figure is made of."""

    firms: Firms
    vectors: Vectors
    using: Context

    def accuracies(self, way: Way) -> dict[int, float]:
        """Return the accuracy at each of KS over all firms."""
        chosen = known(self.firms, self.vectors, NAMES)
        given = anchors(self.firms, self.vectors, chosen)
        made = impute(self.firms.correlations, chosen, given, way, self.using).vectors
        items = np.arange(len(chosen))
        answers = (judge(made, self.firms.sectors, items, k, PLAIN) for k in KS)
        return {k: float(np.mean(a.given == a.gold)) for k, a in zip(KS, answers, strict=True)}

    def curves(self, ways: Mapping[str, list[Way]]) -> Curves:
        """Return, for each row of ways and each k, the accuracies."""
        found: Curves = {}
        for name, row in ways.items():
            each = [self.accuracies(way) for way in row]
            for k in KS:
                found[name, k] = [one[k] for one in each]
        return found


def run(firms: Firms, vectors: Vectors, using: Context, picture: Path) -> bool:
    """Print the two tables, draw the picture; return whether the shape is reproduced."""
    figure = Figure4(firms, vectors, using)
    deltas = figure.curves({n: [varied(w, delta=d) for d in DELTAS] for n, w in WAYS.items()})
    etas = figure.curves(
        {"power, δ = 8": [Way(eta=eta) for eta in ETAS],
         "authors' settings, δ = 8": [varied(PUBLISHED, eta=eta) for eta in ETAS]}
    )  # fmt: skip
    print("## Figure 4: sensitivity\n")
    _print("δ", [str(d) for d in DELTAS], deltas)
    _print("η", [f"{eta:g}" for eta in ETAS], etas)
    draw(deltas, etas, picture)
    moves = {key: spread(curve) for key, curve in deltas.items()}
    for (name, k), moved in moves.items():
        print(f"{name}, k = {k}: max − min over δ = {FLAT[0]} … {FLAT[1]} is {moved:.3f}  ")
    flat = all(moves["power, η = 1e-2", k] <= RANGE for k in KS)
    print(f"\nFigure 4: {told(flat)}.\n", flush=True)
    return flat


def spread(curve: list[float]) -> float:
    """Return max − min of accuracies (in order of DELTAS) over the δ of FLAT."""
    inside = [value for delta, value in zip(DELTAS, curve, strict=True)
              if FLAT[0] <= delta <= FLAT[1]]  # fmt: skip
    return max(inside) - min(inside)


def draw(deltas: Curves, etas: Curves, picture: Path) -> None:
    """Draw both panels: black k = 5, grey k = 10."""
    with saved_figure(picture, 6.8, 2.9) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        _panel(left, DELTAS, deltas)
        left.set_xlabel("δ")
        left.set_ylabel("accuracy")
        _panel(right, ETAS, {key: etas[key] for key in etas if key[0].startswith("power")})
        right.set_xlabel("η, at δ = 8 (power)")
        right.set_xscale("log")
        log_ticks(right.xaxis)
        left.legend(frameon=False, fontsize="small", loc="lower right")


def _panel(axes: Axes, places: tuple[float, ...], curves: Curves) -> None:
    for (name, k), values in curves.items():
        style = _DASH.get(name, "-")
        axes.plot(places, values, style, color=_INK[k], marker=".", label=f"{name}, k = {k}")
    axes.set_ylim(0, 1)
    thin_grid(axes)


def _print(sign: str, places: list[str], curves: Curves) -> None:
    print(f"| accuracy, by {sign} | " + " | ".join(places) + " |")
    print("|---|" + "---|" * len(places))
    for (name, k), values in curves.items():
        print(f"| {name}, k = {k} | " + " | ".join(f"{value:.3f}" for value in values) + " |")
    print(flush=True)

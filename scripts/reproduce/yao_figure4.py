"""Figure 4: accuracy after imputation as a function of δ and of the stopping criterion η."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from yao_firms import NAMES, Firms, anchors, known
from yao_imputing import EXACT, PUBLISHED, Method, impute, varied
from yao_knn import PLAIN, classify
from yao_table1 import shape

from wordgeom.plot.figure import INK, PALE, log_ticks, saved_figure, thin_grid
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DELTAS = (2, 3, 5, 8, 10, 12, 15, 20, 25, 30)
ETAS = (1e-1, 1e-2, 1e-3, 1e-4)
KS = (5, 10)
FLAT = (5, 20)  # between these δ, accuracy may vary by at most RANGE
RANGE = 0.1
METHODS = {
    "power, η = 1e-2": Method(eta=1e-2),
    "exact": EXACT,
    "authors' settings": PUBLISHED,
}
_INK = {5: INK, 10: PALE}
_DASH = {"power, η = 1e-2": "-", "exact": ":", "authors' settings": "--"}

Curves = dict[tuple[str, int], list[float]]


@dataclass(frozen=True, eq=False)
class Figure4:
    """The data of every point of the figure."""

    firms: Firms
    vectors: Vectors
    context: Context

    def accuracies(self, method: Method) -> dict[int, float]:
        """Return the accuracy over all firms at each of KS."""
        chosen = known(self.firms, self.vectors, NAMES)
        given = anchors(self.firms, self.vectors, chosen)
        made = impute(self.firms.correlations, chosen, given, method, self.context).vectors
        items = np.arange(len(chosen))
        answers = (classify(made, self.firms.sectors, items, k, PLAIN) for k in KS)
        return {k: float(np.mean(a.given == a.gold)) for k, a in zip(KS, answers, strict=True)}

    def curves(self, methods: Mapping[str, list[Method]]) -> Curves:
        """Return the accuracies of each row of methods, for each k."""
        found: Curves = {}
        for name, row in methods.items():
            each = [self.accuracies(method) for method in row]
            for k in KS:
                found[name, k] = [one[k] for one in each]
        return found


def run(firms: Firms, vectors: Vectors, context: Context, plot: Path) -> bool:
    """Print the two tables and draw the plot; return whether the shape is reproduced."""
    figure = Figure4(firms, vectors, context)
    deltas = figure.curves({n: [varied(w, delta=d) for d in DELTAS] for n, w in METHODS.items()})
    etas = figure.curves(
        {"power, δ = 8": [Method(eta=eta) for eta in ETAS],
         "authors' settings, δ = 8": [varied(PUBLISHED, eta=eta) for eta in ETAS]}
    )  # fmt: skip
    print("## Figure 4: sensitivity\n")
    _print("δ", [str(d) for d in DELTAS], deltas)
    _print("η", [f"{eta:g}" for eta in ETAS], etas)
    draw(deltas, etas, plot)
    ranges = {key: variation(curve) for key, curve in deltas.items()}
    for (name, k), value in ranges.items():
        print(f"{name}, k = {k}: max − min over δ = {FLAT[0]} … {FLAT[1]} is {value:.3f}  ")
    flat = all(ranges["power, η = 1e-2", k] <= RANGE for k in KS)
    print(f"\nFigure 4: {shape(flat)}.\n", flush=True)
    return flat


def variation(curve: list[float]) -> float:
    """Return max − min of the accuracies, in order of DELTAS, over the δ in FLAT."""
    inside = [value for delta, value in zip(DELTAS, curve, strict=True)
              if FLAT[0] <= delta <= FLAT[1]]  # fmt: skip
    return max(inside) - min(inside)


def draw(deltas: Curves, etas: Curves, plot: Path) -> None:
    """Draw both panels, k = 5 in black and k = 10 in grey."""
    with saved_figure(plot, 6.8, 2.9) as figure:
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

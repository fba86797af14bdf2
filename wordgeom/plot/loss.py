"""Loss curves from run cards: mean squared residuals by epoch, objectives by other units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Float64
from wordgeom.plot.cards import line_style, numbers, read_statistics
from wordgeom.plot.figure import legend_above, log_ticks, plain_ticks, saved_figure, thin_grid
from wordgeom.plot.labels import printable
from wordgeom.plot.options import PlotOptions

_NAME = 36  # characters of a name in the legend
_WIDTH, _HEIGHT = 4.2, 3.3  # inches of a panel
_FALL = 3.0  # ratio of a curve's ends from which its axis is logarithmic
_DO = "train with a method that records its loss, such as sgd or ssmds"
_SCALES = ((" (billions)", 1e9), (" (millions)", 1e6))  # for readable numbers on an axis
_TITLES = {"epoch": "mean squared residual", "step": "objective L of ssmds",
           "update": "objective of tsm", "half sweep": "objective of weighted sweeps"}  # fmt: skip


@dataclass(frozen=True)
class Curve:
    """Losses (n) at the given units (n), ascending."""

    name: str
    at: Float64
    losses: Float64
    unit: str

    @property
    def total(self) -> int:
        """The number of units."""
        return int(self.at[-1])


def read_curve(path: str | Path) -> Curve:
    """Return the loss curve in the run card of a vectors file.

    Raises MissingInputError for a missing file, InputError if the card or the curve is missing.
    """
    path = Path(path)
    facts = read_statistics(path, _DO)
    unit = next((unit for unit in _TITLES if f"loss_{unit}s" in facts), "epoch")
    losses, at = numbers(facts.get("losses")), numbers(facts.get(f"loss_{unit}s"))
    if not len(losses):
        losses, unit = numbers(facts.get("objective")), "half sweep"
        at = np.arange(1.0, len(losses) + 1)
    ascending = len(at) == len(losses) and bool((np.diff(at, prepend=-1.0) > 0.0).all())
    if not len(losses) or not ascending or losses.min() < 0.0:
        raise InputError("no loss curve in its run card", where=path, do=_DO)
    return Curve(path.name, at, losses, unit)


def draw(curves: Sequence[Curve], path: str | Path, options: PlotOptions | None = None) -> None:
    """Draw curves into `path`, a panel for each unit; raises what `figure.saved_figure` raises."""
    units = list(dict.fromkeys(curve.unit for curve in curves))
    names = [printable(curve.name, _NAME) for curve in curves]
    with saved_figure(path, _WIDTH * len(units), _HEIGHT, options, names) as figure:
        panels = dict(zip(units, figure.subplots(1, len(units), squeeze=False)[0], strict=True))
        lines = []
        scales = {unit: _scale(curves, unit) for unit in units}
        for number, curve in enumerate(curves):
            style, (_, scale) = line_style(number, len(curve.losses)), scales[curve.unit]
            lines += panels[curve.unit].plot(curve.at, curve.losses / scale, **style)
        for unit, axes in panels.items():
            axes.set_title(_TITLES[unit] + scales[unit][0])
            axes.set_xlabel(unit)
            thin_grid(axes)
            plain_ticks(axes.xaxis)
            own = np.concatenate([curve.losses for curve in curves if curve.unit == unit])
            if own.min() > 0.0 and own.max() > _FALL * own.min():
                axes.set_yscale("log")
                log_ticks(axes.yaxis)
            else:
                plain_ticks(axes.yaxis)
        for line, name in zip(lines, names, strict=True):
            line.set_label(f" {name}")  # matplotlib hides names with a leading _
        legend_above(figure, lines)


def _scale(curves: Sequence[Curve], unit: str) -> tuple[str, float]:
    """Return what to add to a panel's title, and the number by which its losses are divided."""
    largest = max(curve.losses.max() for curve in curves if curve.unit == unit)
    return next((scale for scale in _SCALES if largest >= scale[1]), ("", 1.0))

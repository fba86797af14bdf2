"""Quality against time: a panel per test set, a marker per candidate, bars for 95 % intervals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.comparison.entries import FILE, METHOD, PEER
from wordgeom.comparison.result import Comparison, Evaluation
from wordgeom.core.errors import InputError
from wordgeom.plot.figure import INK, PALE, log_ticks, saved_figure, thin_grid
from wordgeom.plot.labels import fix_layout, place_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

_ACROSS = 3  # panels in a row
_WIDTH, _HEIGHT = 3.3, 2.7  # inches of a panel
_MARKS: dict[str, dict[str, Any]] = {
    METHOD: {"marker": "o", "markerfacecolor": INK},
    PEER: {"marker": "s", "markerfacecolor": "white"},
    FILE: {"marker": "D", "markerfacecolor": PALE},
}
_SIGNS = {METHOD: "● method", PEER: "□ baseline", FILE: "◆ file"}
_NEAR = 4.0  # pixels between a marker or a bar and a name


def draw(comparison: Comparison, path: str | Path) -> list[str]:
    """Draw a comparison into `path`; returns the names of candidates of unknown training time.

    Raises InputError if no training time is known, and what `figure.saved_figure` raises.
    """
    timed = [one for one in comparison.evaluations if one.candidate.seconds and one.scores]
    if not timed:
        do = "compare methods, or files with run cards"
        raise InputError("nothing to plot: no training time is known", where=path, do=do)
    across = min(_ACROSS, len(comparison.sets))
    down = -(-len(comparison.sets) // across)
    with saved_figure(path, _WIDTH * across, _HEIGHT * down + 0.3) as figure:
        grid = figure.subplots(down, across, squeeze=False, sharex=True).ravel().tolist()
        for axes, name in zip(grid, comparison.sets, strict=False):
            _panel(axes, name, comparison.measure(name), timed)
        for axes in grid[len(comparison.sets) :]:
            axes.remove()
        log_ticks(grid[0].xaxis)  # shared by all panels
        figure.supxlabel(_caption(timed, comparison.sets), fontsize="medium")
        fix_layout(figure)
        for axes, name in zip(grid, comparison.sets, strict=False):
            _label(axes, name, timed)
    return [one.candidate.name for one in comparison.evaluations if one.scores and one not in timed]


def _panel(axes: Axes, name: str, measure: str, timed: list[Evaluation]) -> None:
    axes.set_title(name)
    axes.set_ylabel(measure)
    axes.set_xscale("log")
    thin_grid(axes)
    for one in timed:
        x, y, low, high = _figures(one, name)
        if not math.isnan(low):
            axes.plot([x, x], [low, high], color=PALE, linewidth=1.2, solid_capstyle="butt")
        axes.plot([x], [y], color=INK, markersize=5.5, linestyle="", **_MARKS[one.candidate.kind])
    axes.margins(x=0.36, y=0.14)
    axes.tick_params(axis="x", labelbottom=True)


def _label(axes: Axes, name: str, timed: list[Evaluation]) -> None:
    """Write the candidates' names into a panel of fixed layout."""
    scored = [one for one in timed if not math.isnan(_figures(one, name)[1])]
    points = np.array([_figures(one, name)[:2] for one in scored]).reshape(-1, 2)
    occupied = [_around(axes, _figures(one, name)) for one in scored]
    place_labels(axes, points, [one.candidate.name for one in scored], occupied)


def _around(axes: Axes, figures: tuple[float, float, float, float]) -> Bbox:
    """Return the box, in pixels, of a marker and its bar."""
    from matplotlib.transforms import Bbox

    x, y, low, high = figures
    ends = (y, y) if math.isnan(low) else (low, high)
    box = Bbox(axes.transData.transform([(x, min(y, *ends)), (x, max(y, *ends))]))
    return box.padded(_NEAR)


def _figures(one: Evaluation, name: str) -> tuple[float, float, float, float]:
    """Return seconds, the score on a set and its interval; nan for a missing one."""
    seconds = one.candidate.seconds or math.nan
    if name not in one.scores:
        return seconds, math.nan, math.nan, math.nan
    score = one.scores[name][0]
    return seconds, score.value, score.low, score.high


def _caption(timed: list[Evaluation], sets: tuple[str, ...]) -> str:
    kinds = [kind for kind in _MARKS if any(one.candidate.kind == kind for one in timed)]
    signs = f" ({', '.join(_SIGNS[kind] for kind in kinds)})" if len(kinds) > 1 else ""
    bounded = any(not math.isnan(_figures(one, name)[2]) for one in timed for name in sets)
    bars = "\nbars: 95 % intervals" if bounded else ""
    return f"seconds{signs}{bars}"

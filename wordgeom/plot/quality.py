"""Quality against time: a panel per test set, a marker per candidate, bars for 95 % intervals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.comparison.entries import FILE, METHOD, PEER
from wordgeom.comparison.result import Comparison, Evaluation
from wordgeom.core.errors import InputError
from wordgeom.plot.colours import BLUE, GREEN, VERMILION
from wordgeom.plot.figure import (
    PALE,
    fix_layout,
    legend_above,
    log_ticks,
    panel_title,
    saved_figure,
    thin_grid,
    write_caption,
)
from wordgeom.plot.labels import Labels, omission
from wordgeom.plot.options import PlotOptions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ACROSS = 3  # panels in a row
_WIDTH, _HEIGHT, _AROUND = 3.3, 2.7, 0.5  # inches of a panel, and of the text around all
_MARKS: dict[str, dict[str, Any]] = {
    METHOD: {"marker": "o", "color": BLUE},
    PEER: {"marker": "s", "color": VERMILION, "markerfacecolor": "white"},
    FILE: {"marker": "D", "color": GREEN},
}
_NAMES = {METHOD: "method", PEER: "baseline", FILE: "file"}
_NEAR = 5.0  # points between the centre of a marker and a name
_BAR = 2.0  # points between a bar and a name


def draw(comparison: Comparison, path: str | Path, options: PlotOptions | None = None) -> list[str]:
    """Draw a comparison into `path`; returns the names of candidates of unknown training time.

    Raises InputError if no training time is known, and what `figure.saved_figure` raises.
    """
    timed = [one for one in comparison.evaluations if one.candidate.seconds and one.scores]
    if not timed:
        do = "compare methods, or files with run cards"
        raise InputError("nothing to plot: no training time is known", where=path, do=do)
    across = min(_ACROSS, len(comparison.sets))
    down = -(-len(comparison.sets) // across)
    names = [one.candidate.name for one in timed]
    caption = _caption(timed, comparison.sets)
    size = _WIDTH * across, _HEIGHT * down + _AROUND
    with saved_figure(path, *size, options, [*names, *comparison.sets]) as figure:
        grid = figure.subplots(down, across, squeeze=False, sharex=True).ravel().tolist()
        for axes, name in zip(grid, comparison.sets, strict=False):
            _panel(axes, name, comparison.measure(name), timed)
        for axes in grid[len(comparison.sets) :]:
            axes.remove()
        log_ticks(grid[0].xaxis)  # shared by all panels
        _legend(figure, grid[0], timed)
        most = len(names) * len(comparison.sets)
        write_caption(figure, (caption + omission(most)).removeprefix(", "), options)
        fix_layout(figure)
        panels = zip(grid, comparison.sets, strict=False)
        caption += omission(sum(_label(axes, name, timed) for axes, name in panels))
        write_caption(figure, caption.removeprefix(", "), options)
    return [one.candidate.name for one in comparison.evaluations if one.scores and one not in timed]


def _legend(figure: Figure, axes: Axes, timed: list[Evaluation]) -> None:
    """Draw a legend of the kinds of candidates, if there are several."""
    kinds = [kind for kind in _MARKS if any(one.candidate.kind == kind for one in timed)]
    handles = [axes.plot([], [], linestyle="", label=_NAMES[kind], **_MARKS[kind])[0]
               for kind in kinds]  # fmt: skip
    if len(kinds) > 1:
        legend_above(figure, handles)


def _panel(axes: Axes, name: str, measure: str, timed: list[Evaluation]) -> None:
    panel_title(axes, name)
    axes.set_ylabel(measure)
    axes.set_xscale("log")
    thin_grid(axes)
    for one in timed:
        x, y, low, high = _figures(one, name)
        if not math.isnan(low):
            axes.plot([x, x], [low, high], color=PALE, linewidth=1.2, solid_capstyle="butt")
        axes.plot([x], [y], markersize=5.5, linestyle="", **_MARKS[one.candidate.kind])
    axes.set_xlabel("seconds")
    axes.margins(x=0.36, y=0.14)
    axes.tick_params(axis="x", labelbottom=True)


def _label(axes: Axes, name: str, timed: list[Evaluation]) -> int:
    """Write the candidates' names into a panel of fixed layout; return the number omitted."""
    panel_title(axes, name)
    scored = [one for one in timed if not math.isnan(_figures(one, name)[1])]
    points = np.array([_figures(one, name)[:2] for one in scored]).reshape(-1, 2)
    bars = np.array([_bar(axes, _figures(one, name)) for one in scored]).reshape(-1, 4)
    labels = Labels(axes, points, points[:0], _NEAR, bars)
    labels.place(points, [one.candidate.name for one in scored])
    return labels.omitted


def _bar(axes: Axes, figures: tuple[float, float, float, float]) -> tuple[float, ...]:
    """Return the box of a bar in pixels: left, bottom, right, top."""
    x, y, low, high = figures
    ends = (y, y) if math.isnan(low) else (low, high)
    (left, bottom), (right, top) = axes.transData.transform(
        [(x, min(y, *ends)), (x, max(y, *ends))]
    )
    apart = _BAR * axes.figure.dpi / 72
    return left - apart, bottom, right + apart, top


def _figures(one: Evaluation, name: str) -> tuple[float, float, float, float]:
    """Return seconds, the score on a set and its interval; nan for a missing one."""
    seconds = one.candidate.seconds or math.nan
    if name not in one.scores:
        return seconds, math.nan, math.nan, math.nan
    score = one.scores[name][0]
    return seconds, score.value, score.low, score.high


def _caption(timed: list[Evaluation], sets: tuple[str, ...]) -> str:
    bounded = any(not math.isnan(_figures(one, name)[2]) for one in timed for name in sets)
    return "bars: 95 % intervals" if bounded else ""

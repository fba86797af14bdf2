"""Quality against seconds: a panel for each set, a mark for each contender, bars 95 % intervals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordgeom.comparison.entries import FILE, METHOD, PEER
from wordgeom.comparison.result import Comparison, Judgement
from wordgeom.core.errors import InputError
from wordgeom.plot.figure import INK, PALE, drawn, log_ticks, thin_grid
from wordgeom.plot.labels import place, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

_ACROSS = 3  # panels beside each other
_WIDTH, _HEIGHT = 3.3, 2.7  # inches of a panel
_MARKS: dict[str, dict[str, Any]] = {
    METHOD: {"marker": "o", "markerfacecolor": INK},
    PEER: {"marker": "s", "markerfacecolor": "white"},
    FILE: {"marker": "D", "markerfacecolor": PALE},
}
_SIGNS = {METHOD: "● method", PEER: "□ peer", FILE: "◆ file"}
_NEAR = 4.0  # pixels around a mark or a bar that a name keeps off


def draw(comparison: Comparison, path: str | Path) -> list[str]:
    """Draw a comparison into `path`; returns the names of those whose seconds nobody knows.

    Raises InputError where no seconds are known, and what `figure.drawn` raises.
    """
    timed = [one for one in comparison.judgements if one.contender.seconds and one.scores]
    if not timed:
        do = "compare methods, or files with their run cards"
        raise InputError("nothing to draw: no seconds are known", where=path, do=do)
    across = min(_ACROSS, len(comparison.sets))
    down = -(-len(comparison.sets) // across)
    with drawn(path, _WIDTH * across, _HEIGHT * down + 0.3) as figure:
        grid = figure.subplots(down, across, squeeze=False, sharex=True).ravel().tolist()
        for axes, name in zip(grid, comparison.sets, strict=False):
            _panel(axes, name, comparison.measure(name), timed)
        for axes in grid[len(comparison.sets) :]:
            axes.remove()
        log_ticks(grid[0].xaxis)  # which all panels share
        figure.supxlabel(_caption(timed, comparison.sets), fontsize="medium")
        settle(figure)
        for axes, name in zip(grid, comparison.sets, strict=False):
            _names(axes, name, timed)
    return [one.contender.name for one in comparison.judgements if one.scores and one not in timed]


def _panel(axes: Axes, name: str, measure: str, timed: list[Judgement]) -> None:
    axes.set_title(name)
    axes.set_ylabel(measure)
    axes.set_xscale("log")
    thin_grid(axes)
    for one in timed:
        x, y, low, high = _figures(one, name)
        if not math.isnan(low):
            axes.plot([x, x], [low, high], color=PALE, linewidth=1.2, solid_capstyle="butt")
        axes.plot([x], [y], color=INK, markersize=5.5, linestyle="", **_MARKS[one.contender.kind])
    axes.margins(x=0.36, y=0.14)
    axes.tick_params(axis="x", labelbottom=True)


def _names(axes: Axes, name: str, timed: list[Judgement]) -> None:
    """Write the contenders' names into a panel whose place is settled."""
    whole = [one for one in timed if not math.isnan(_figures(one, name)[1])]
    points = [_figures(one, name)[:2] for one in whole]
    taken = [_around(axes, _figures(one, name)) for one in whole]
    place(axes, points, [one.contender.name for one in whole], taken)


def _around(axes: Axes, figures: tuple[float, float, float, float]) -> Bbox:
    """Return the box, in pixels, of a mark and its bar."""
    from matplotlib.transforms import Bbox

    x, y, low, high = figures
    ends = (y, y) if math.isnan(low) else (low, high)
    box = Bbox(axes.transData.transform([(x, min(y, *ends)), (x, max(y, *ends))]))
    return box.padded(_NEAR)


def _figures(one: Judgement, name: str) -> tuple[float, float, float, float]:
    """Return seconds, score and its interval in a set; nan where there is none."""
    seconds = one.contender.seconds or math.nan
    if name not in one.scores:
        return seconds, math.nan, math.nan, math.nan
    score = one.scores[name][0]
    return seconds, score.value, score.low, score.high


def _caption(timed: list[Judgement], sets: tuple[str, ...]) -> str:
    kinds = [kind for kind in _MARKS if any(one.contender.kind == kind for one in timed)]
    signs = f" ({', '.join(_SIGNS[kind] for kind in kinds)})" if len(kinds) > 1 else ""
    bounded = any(not math.isnan(_figures(one, name)[2]) for one in timed for name in sets)
    bars = "\nbars: 95 % intervals" if bounded else ""
    return f"seconds{signs}{bars}"

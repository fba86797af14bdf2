"""Word trajectories among their nearest neighbours, one panel per word.

Each panel has its own plane and scale; the neighbours show how far a word moved. Neighbours at the
first time are hollow, those at the last time filled, each at its position at that time. A line
joins the two positions of a word that is a neighbour at both times.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.plot.colours import BLUE, VERMILION, Painted, painted
from wordgeom.plot.figure import (
    INK,
    fix_layout,
    legend_above,
    panel_title,
    saved_figure,
    write_caption,
)
from wordgeom.plot.labels import Labels, boxes, omission
from wordgeom.plot.neighbourhoods import Trajectory
from wordgeom.plot.options import ColourOptions, PlotOptions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ACROSS = 3  # panels in a row
_WIDTH, _ALONE = 3.4, 5.6  # inches of a panel in a row, and alone
_LOWEST = 0.6  # smallest height of a panel, relative to its width
_HEAD_ROOM, _FOOT = 0.4, 0.45  # inches of the legend, and of the text around a panel
_MARGIN = 0.17  # margin for names, relative to the range of the points
_DOT, _NEIGHBOUR = 3.5, 5.0  # size of a marker, points
_RING = 1.5  # increase for hollow ones, so that one around a filled one can be seen
_HEAD = 11.0  # size of an arrowhead, points
_NEAR = 4.0  # points between the centre of a marker and a name
_SHORT = 4.0  # points; shorter steps have no arrowhead
_PIECES = 8  # points along a step that names avoid
_FIRST, _LAST = VERMILION, BLUE  # hollow and filled neighbours
_TIE, _GREY = "#cfcfcf", "#4d4d4d"  # lines that join neighbours, names of neighbours


def draw(
    paths: Sequence[Trajectory],
    path: str | Path,
    options: PlotOptions | None = None,
    colours: ColourOptions | None = None,
) -> str:
    """Draw trajectories into `path`, return the caption.

    Raises what `figure.saved_figure` and `colours.read_colouring` raise.
    """
    words = [name for one in paths for name in (one.word, *one.first, *one.last)]
    paint = painted(None if colours is None else colours.colour_by, list(dict.fromkeys(words)))
    ends = f"{paths[0].times[0]} to {paths[0].times[-1]}"
    caption = f"{', '.join(one.word for one in paths)}, {ends}"
    caption += f", {paint.caption}" if paint is not None and paint.caption else ""
    across = min(_ACROSS if len(paths) != 4 else 2, len(paths))
    down = -(-len(paths) // across)
    width = _ALONE if len(paths) == 1 else _WIDTH
    height = down * (width * max(map(_height, paths)) + _FOOT) + _HEAD_ROOM
    with saved_figure(path, across * width, height, options, words) as figure:
        panels = figure.subplots(down, across, squeeze=False).ravel().tolist()
        for axes, one in zip(panels, paths, strict=False):
            _panel(axes, one, paint)
        for axes in panels[len(paths) :]:
            axes.remove()
        both = any(set(one.first) & set(one.last) for one in paths)
        handles = _handles(paths[0], both, paint is None)
        legend_above(figure, handles)
        if paint is not None:
            paint.legend(figure, panels[: len(paths)])
        write_caption(figure, caption + omission(len(words)), options)
        fix_layout(figure)
        panels_of = zip(panels, paths, strict=False)
        caption += omission(sum(_label(axes, one) for axes, one in panels_of))
        write_caption(figure, caption, options)
    return caption


def _height(path: Trajectory) -> float:
    """Return the height of a panel of width 1."""
    points = np.vstack((path.positions, path.first_positions, path.last_positions))
    across, up = np.ptp(points, axis=0)
    return float(np.clip((up + _MARGIN * across) / across, _LOWEST, 1.0)) if across > 0 else 1.0


def _panel(axes: Axes, path: Trajectory, paint: Painted | None) -> None:
    _neighbours(axes, path, paint)
    axes.plot(*path.positions.T, "-", color=INK, linewidth=1.2, zorder=3)
    axes.plot(*path.positions.T, "o", color=INK, markersize=_DOT, zorder=3.5)
    panel_title(axes, path.word, "bold")
    figures = f"displacement {path.displacement:.2g}, cosine {path.cosine:.2f}".replace("-", "−")
    axes.set_xlabel(f"{figures}\n{path.explained:.0%} of variance shown", fontsize="small")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xticks([])
    axes.set_yticks([])
    for side in ("right", "top"):
        axes.spines[side].set_visible(True)
    axes.margins(_MARGIN)


def _neighbours(axes: Axes, path: Trajectory, paint: Painted | None) -> None:
    """Draw the neighbours, and a line for each that is one at both times."""
    for k, name in enumerate(path.first):
        if name in path.last:
            ends = path.first_positions[k], path.last_positions[path.last.index(name)]
            axes.plot(*np.transpose(ends), "-", color=_TIE, linewidth=0.8, zorder=1)
    for names, points, ink, filled in (
        (path.first, path.first_positions, _FIRST, False),
        (path.last, path.last_positions, _LAST, True),
    ):
        for name, (x, y) in zip(names, points, strict=True):
            colour, marker = (ink, "o") if paint is None else paint.look(name)
            size = _NEIGHBOUR + (0 if filled else _RING)
            axes.plot([x], [y], marker, color=colour, markersize=size, zorder=2,
                      markerfacecolor=colour if filled else "white")  # fmt: skip


def _handles(path: Trajectory, both: bool, coloured: bool) -> list[Any]:
    """Return the handles of the legend."""
    from matplotlib.lines import Line2D

    dots = []
    for time, ink, filled in ((path.times[0], _FIRST, False), (path.times[-1], _LAST, True)):
        ink = ink if coloured else _GREY
        dots.append(Line2D([], [], color=ink, marker="o", markersize=_NEIGHBOUR, linestyle="",
                           markerfacecolor=ink if filled else "white",
                           label=f"nearest in {time}"))  # fmt: skip
    tie = Line2D([], [], color=_TIE, linewidth=0.8, label="nearest in both")
    word = Line2D([], [], color=INK, marker="o", markersize=_DOT, label="word")
    return [word, *dots, tie] if both else [word, *dots]


def _label(axes: Axes, path: Trajectory) -> int:
    """Draw arrows, write times and names; return the number omitted for lack of space.

    The layout must be fixed.
    """
    points = np.vstack((path.positions, path.first_positions, path.last_positions))
    steps = axes.transData.transform(path.positions)
    pixel = axes.figure.dpi / 72
    _arrows(axes, path.positions, steps, _SHORT * pixel)
    panel_title(axes, path.word, "bold")
    line = boxes(_along(steps), _NEAR * pixel / 2)
    labels = Labels(axes, points, points[:0], _NEAR, line)
    labels.place(path.positions[[-1, 0]], [path.times[-1], path.times[0]], weight="bold")
    for points, names, ink in _named(path):
        labels.place(points, names, colour=ink)
    return labels.omitted


def _named(path: Trajectory) -> list[tuple[Float64, list[str], str]]:
    """Return points, their names and ink, in order of priority."""
    alone = [k for k, name in enumerate(path.first) if name not in path.last]  # each name once
    return [
        (path.positions[1:-1], path.times[1:-1], INK),
        (path.last_positions, path.last, _GREY),
        (path.first_positions[alone], [path.first[k] for k in alone], _GREY),
    ]


def _arrows(axes: Axes, positions: Float64, pixels: Float64, shortest: float) -> None:
    """Draw an arrowhead on each step that is long enough."""
    from matplotlib.patches import FancyArrowPatch

    lengths = np.linalg.norm(np.diff(pixels, axis=0), axis=1)
    for k in np.flatnonzero(lengths >= shortest).tolist():
        axes.add_patch(FancyArrowPatch(
            positions[k], positions[k + 1], arrowstyle="-|>", color=INK, linewidth=0,
            mutation_scale=_HEAD, shrinkA=0, shrinkB=_DOT / 2, zorder=3.2,
        ))  # fmt: skip


def _along(pixels: Float64) -> Float64:
    """Return closely spaced points (· × 2) along the line through `pixels`."""
    fractions = np.linspace(0, 1, _PIECES, endpoint=False)[:, None, None]
    return np.asarray((pixels[:-1] + fractions * np.diff(pixels, axis=0)).reshape(-1, 2))

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

from wordgeom.core.formatting import several
from wordgeom.core.types import Float64
from wordgeom.plot.figure import INK, PALE, saved_figure
from wordgeom.plot.labels import boxes, fix_layout, outline, place_labels
from wordgeom.plot.neighbourhoods import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ACROSS = 3  # panels in a row
_WIDTH, _ALONE = 3.4, 5.6  # inches of a panel in a row, and alone
_LOWEST = 0.6  # smallest height of a panel, relative to its width
_HEAD_ROOM, _FOOT = 0.4, 0.45  # inches of the legend, and of the text around a panel
_MARGIN = 0.17  # margin for names, relative to the range of the points
_DOT, _NEIGHBOUR = 3.5, 5.0  # size of a marker, points
_HEAD = 11.0  # size of an arrowhead, points
_NEAR = 3.0  # pixels between a marker and a name
_SHORT = 6.0  # pixels; shorter steps have no arrowhead
_PIECES = 8  # boxes along a step that names avoid
_FIRST, _LAST = "white", PALE  # fill of neighbours at the first and the last time
_TIE, _GREY = "#cfcfcf", "#5c5c5c"  # lines that join neighbours, names of neighbours


def draw(paths: Sequence[Trajectory], path: str | Path) -> str:
    """Draw trajectories into `path`, return the caption; raises as `figure.saved_figure`."""
    across = min(_ACROSS if len(paths) != 4 else 2, len(paths))
    down = -(-len(paths) // across)
    width = _ALONE if len(paths) == 1 else _WIDTH
    height = width * max(map(_height, paths)) + _FOOT
    with saved_figure(path, across * width, down * height + _HEAD_ROOM) as figure:
        panels = figure.subplots(down, across, squeeze=False).ravel().tolist()
        for axes, one in zip(panels, paths, strict=False):
            _panel(axes, one)
        for axes in panels[len(paths) :]:
            axes.remove()
        handles = _handles(paths[0], any(set(one.first) & set(one.last) for one in paths))
        figure.legend(handles=handles, loc="outside upper left", ncols=len(handles), frameon=False,
                      fontsize="small", handletextpad=0.4, columnspacing=1.4)  # fmt: skip
        fix_layout(figure)
        omitted = sum(_label(axes, one) for axes, one in zip(panels, paths, strict=False))
    caption = f"{', '.join(one.word for one in paths)}, {paths[0].times[0]} to {paths[0].times[-1]}"
    return caption + (f", {several(omitted, 'name', 'names')} omitted" if omitted else "")


def _height(path: Trajectory) -> float:
    """Return the height of a panel of width 1."""
    points = np.vstack((path.positions, path.first_positions, path.last_positions))
    across, up = np.ptp(points, axis=0)
    return float(np.clip((up + _MARGIN * across) / across, _LOWEST, 1.0)) if across > 0 else 1.0


def _panel(axes: Axes, path: Trajectory) -> None:
    _neighbours(axes, path)
    axes.plot(*path.positions.T, "-", color=INK, linewidth=1.2, zorder=3)
    axes.plot(*path.positions.T, "o", color=INK, markersize=_DOT, zorder=3.5)
    axes.set_title(path.word, fontweight="bold")
    figures = f"displacement {path.displacement:.2g}, cosine {path.cosine:.2f}"
    axes.set_xlabel(f"{figures}; {path.explained:.0%} of variance shown", fontsize="small")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xticks([])
    axes.set_yticks([])
    for side in ("right", "top"):
        axes.spines[side].set_visible(True)
    axes.margins(_MARGIN)


def _neighbours(axes: Axes, path: Trajectory) -> None:
    """Draw the neighbours, and a line for each that is one at both times."""
    for k, name in enumerate(path.first):
        if name in path.last:
            ends = path.first_positions[k], path.last_positions[path.last.index(name)]
            axes.plot(*np.transpose(ends), "-", color=_TIE, linewidth=0.8, zorder=1)
    for points, fill in ((path.first_positions, _FIRST), (path.last_positions, _LAST)):
        axes.plot(*points.T, "o", color=PALE, markerfacecolor=fill, markersize=_NEIGHBOUR, zorder=2)


def _handles(path: Trajectory, both: bool) -> list[Any]:
    """Return the handles of the legend."""
    from matplotlib.lines import Line2D

    dots = [
        Line2D([], [], color=PALE, marker="o", markerfacecolor=fill, markersize=_NEIGHBOUR,
               linestyle="", label=f"nearest in {time}")
        for time, fill in ((path.times[0], _FIRST), (path.times[-1], _LAST))
    ]  # fmt: skip
    tie = Line2D([], [], color=_TIE, linewidth=0.8, label="nearest in both")
    word = Line2D([], [], color=INK, marker="o", markersize=_DOT, label="word")
    return [word, *dots, tie] if both else [word, *dots]


def _label(axes: Axes, path: Trajectory) -> int:
    """Draw arrows, write times and names; return the number omitted for lack of space.

    The layout must be fixed.
    """
    from matplotlib.text import Annotation

    points = np.vstack((path.positions, path.first_positions, path.last_positions))
    pixels = axes.transData.transform(points)
    steps = pixels[: len(path.times)]
    _arrows(axes, path.positions, steps)
    occupied, line = boxes(pixels, _NEAR), boxes(_along(steps), _NEAR / 2)
    for k in (0, len(path.times) - 1):
        end, time = path.positions[[k]], path.times[k]
        place_labels(axes, end, [time], occupied, marks=line, weight="bold")
    omitted = 0
    for points, names, ink in _named(path):
        before = len(axes.texts)
        omitted += place_labels(axes, points, names, occupied, marks=line, drop=True, leaders=True)
        for text in axes.texts[before:]:
            text.set_color(ink)
    for text in axes.texts:  # names are in front of leader lines
        outline(text)
        led = isinstance(text, Annotation) and text.arrow_patch is not None
        text.set_zorder(4 if led else 5)
    return omitted


def _named(path: Trajectory) -> list[tuple[Float64, list[str], str]]:
    """Return points, their names and ink, in order of priority."""
    alone = [k for k, name in enumerate(path.first) if name not in path.last]  # each name once
    return [
        (path.last_positions, path.last, _GREY),
        (path.first_positions[alone], [path.first[k] for k in alone], _GREY),
        (path.positions[1:-1], path.times[1:-1], INK),
    ]


def _arrows(axes: Axes, positions: Float64, pixels: Float64) -> None:
    """Draw an arrowhead on each step that is long enough."""
    from matplotlib.patches import FancyArrowPatch

    lengths = np.linalg.norm(np.diff(pixels, axis=0), axis=1)
    for k in np.flatnonzero(lengths >= _SHORT).tolist():
        axes.add_patch(FancyArrowPatch(
            positions[k], positions[k + 1], arrowstyle="-|>", color=INK, linewidth=0,
            mutation_scale=_HEAD, shrinkA=0, shrinkB=_DOT / 2, zorder=3.2,
        ))  # fmt: skip


def _along(pixels: Float64) -> Float64:
    """Return closely spaced points (· × 2) along the line through `pixels`."""
    fractions = np.linspace(0, 1, _PIECES, endpoint=False)[:, None, None]
    return np.asarray((pixels[:-1] + fractions * np.diff(pixels, axis=0)).reshape(-1, 2))

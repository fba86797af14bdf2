"""The ways of words through time among their neighbours, a panel a word.

A panel's plane and scale are its own: neighbours tell how far the way is. Those of the first time
are hollow, those of the last filled, each where it was at that time; who is both has a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.plot.figure import INK, PALE, drawn
from wordgeom.plot.labels import place, settle
from wordgeom.plot.neighbourhoods import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

_ACROSS = 3  # panels beside each other
_WIDTH, _ALONE = 3.4, 5.6  # inches of a panel beside others, and alone
_LOWEST = 0.6  # of a panel's width: its least height
_HEAD_ROOM, _FOOT = 0.4, 0.45  # inches of the key, and of the words around a panel
_MARGIN = 0.17  # of the points' range, for names
_DOT, _NEIGHBOUR = 3.5, 5.0  # points of a mark
_HEAD = 11.0  # points of an arrow's head
_NEAR = 3.0  # pixels around a mark that a name keeps off
_SHORT = 6.0  # pixels of a step from which it has an arrow's head
_PIECES = 8  # boxes along a step that names keep off
_THEN, _NOW = "white", PALE  # what marks are filled with
_TIE, _GREY = "#cfcfcf", "#5c5c5c"  # lines from then to now, names of neighbours


def draw(ways: Sequence[Trajectory], path: str | Path) -> str:
    """Draw ways (one at least) into `path`, return the caption; raises as `figure.drawn`."""
    across = min(_ACROSS if len(ways) != 4 else 2, len(ways))
    down = -(-len(ways) // across)
    width = _ALONE if len(ways) == 1 else _WIDTH
    height = width * max(map(_height, ways)) + _FOOT
    with drawn(path, across * width, down * height + _HEAD_ROOM) as figure:
        panels = figure.subplots(down, across, squeeze=False).ravel().tolist()
        for axes, way in zip(panels, ways, strict=False):
            _panel(axes, way)
        for axes in panels[len(ways) :]:
            axes.remove()
        key = _key(ways[0], any(set(way.then) & set(way.now) for way in ways))
        figure.legend(handles=key, loc="outside upper left", ncols=len(key), frameon=False,
                      fontsize="small", handletextpad=0.4, columnspacing=1.4)  # fmt: skip
        settle(figure)
        left = sum(_write_names(axes, way) for axes, way in zip(panels, ways, strict=False))
    caption = f"{', '.join(way.word for way in ways)}, {ways[0].times[0]} to {ways[0].times[-1]}"
    return caption + (f", names without room: {left:,}" if left else "")


def _height(way: Trajectory) -> float:
    """Return the height of a panel whose width is 1."""
    across, up = np.ptp(np.vstack((way.places, way.then_places, way.now_places)), axis=0)
    return float(np.clip((up + _MARGIN * across) / across, _LOWEST, 1.0)) if across > 0 else 1.0


def _panel(axes: Axes, way: Trajectory) -> None:
    _neighbours(axes, way)
    axes.plot(*way.places.T, "-", color=INK, linewidth=1.2, zorder=3)
    axes.plot(*way.places.T, "o", color=INK, markersize=_DOT, zorder=3.5)
    axes.set_title(way.word, fontweight="bold")
    told = f"displacement {way.displacement:.2g}, cosine {way.cosine:.2f}"
    axes.set_xlabel(f"{told}; {way.kept:.0%} of the spread is shown", fontsize="small")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xticks([])
    axes.set_yticks([])
    for side in ("right", "top"):
        axes.spines[side].set_visible(True)
    axes.margins(_MARGIN)


def _neighbours(axes: Axes, way: Trajectory) -> None:
    """Draw who is near, and a line where somebody is so at both ends."""
    for name in way.then:
        if name in way.now:
            ends = way.then_places[way.then.index(name)], way.now_places[way.now.index(name)]
            axes.plot(*np.transpose(ends), "-", color=_TIE, linewidth=0.8, zorder=1)
    for places, fill in ((way.then_places, _THEN), (way.now_places, _NOW)):
        axes.plot(*places.T, "o", color=PALE, markerfacecolor=fill, markersize=_NEIGHBOUR, zorder=2)


def _key(way: Trajectory, both: bool) -> list[Any]:
    """Return the legend's lines: what the marks mean."""
    from matplotlib.lines import Line2D

    dots = [
        Line2D([], [], color=PALE, marker="o", markerfacecolor=fill, markersize=_NEIGHBOUR,
               linestyle="", label=f"nearest in {time}")
        for time, fill in ((way.times[0], _THEN), (way.times[-1], _NOW))
    ]  # fmt: skip
    tie = Line2D([], [], color=_TIE, linewidth=0.8, label="in both")
    word = Line2D([], [], color=INK, marker="o", markersize=_DOT, label="the word")
    return [word, *dots, tie] if both else [word, *dots]


def _write_names(axes: Axes, way: Trajectory) -> int:
    """Draw arrows, write times and names that find room; return how many do not.

    The figure must be settled.
    """
    from matplotlib.patheffects import withStroke
    from matplotlib.text import Annotation

    pixels = axes.transData.transform(np.vstack((way.places, way.then_places, way.now_places)))
    steps = pixels[: len(way.times)]
    _arrows(axes, way.places, steps)
    taken, line = _boxes(pixels, _NEAR), _boxes(_along(steps), _NEAR / 2)
    for k in (0, len(way.times) - 1):
        place(axes, [_point(way.places[k])], [way.times[k]], taken, marks=line, weight="bold")
    left = 0
    for places, names, ink in _named(way):
        points, before = [_point(there) for there in places], len(axes.texts)
        left += place(axes, points, names, taken, marks=line, drop=True, lines=True)
        for text in axes.texts[before:]:
            text.set_color(ink)
    for text in axes.texts:  # to be read where a line is behind, also one that leads to another
        depth = 4 if isinstance(text, Annotation) and text.arrow_patch is not None else 5
        text.set(path_effects=[withStroke(linewidth=2.0, foreground="white")], zorder=depth)
    return left


def _named(way: Trajectory) -> list[tuple[Float64, list[str], str]]:
    """Return what is named beside the ends, and its ink; the first is likeliest to find room."""
    alone = [k for k, name in enumerate(way.then) if name not in way.now]  # who is both, once
    return [
        (way.now_places, way.now, _GREY),
        (way.then_places[alone], [way.then[k] for k in alone], _GREY),
        (way.places[1:-1], way.times[1:-1], INK),
    ]


def _boxes(pixels: Float64, near: float) -> list[Bbox]:
    from matplotlib.transforms import Bbox

    return [Bbox([point, point]).padded(near) for point in pixels]


def _arrows(axes: Axes, places: Float64, pixels: Float64) -> None:
    """Put a head on each step that is long enough to have one."""
    from matplotlib.patches import FancyArrowPatch

    lengths = np.linalg.norm(np.diff(pixels, axis=0), axis=1)
    for k in np.flatnonzero(lengths >= _SHORT).tolist():
        axes.add_patch(FancyArrowPatch(
            _point(places[k]), _point(places[k + 1]), arrowstyle="-|>", color=INK, linewidth=0,
            mutation_scale=_HEAD, shrinkA=0, shrinkB=_DOT / 2, zorder=3.2,
        ))  # fmt: skip


def _along(pixels: Float64) -> Float64:
    """Return points (· × 2) close together on the way through some."""
    shares = np.linspace(0, 1, _PIECES, endpoint=False)[:, None, None]
    return np.asarray((pixels[:-1] + shares * np.diff(pixels, axis=0)).reshape(-1, 2))


def _point(place: Float64) -> tuple[float, float]:
    return float(place[0]), float(place[1])

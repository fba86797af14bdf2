"""A map as a picture: a dot for each word, and the names of the first ones that do not overlap."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wordgeom.core.formatting import several
from wordgeom.plot.colours import BLUE, MARKERS, Colouring, Painted
from wordgeom.plot.figure import INK, fix_layout, saved_figure, write_caption
from wordgeom.plot.fonts import lacking_characters
from wordgeom.plot.labels import Labels, omission
from wordgeom.plot.map.words import WordMap
from wordgeom.plot.options import PlotOptions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 2000  # words drawn by default
_FEW = 60  # words that may all have names
_TRIED = 3000  # words whose names are tried
_WIDTH, _HEIGHT = 9.0, 7.5  # inches
_AREA, _SMALLEST, _LARGEST = 14000.0, 2.0, 26.0  # square points of all dots, and of one
_NEAR, _APART = 3.0, 6.0  # points between a dot and its name, and between names
_RING = 22.0  # area of the ring around a chosen word, square points
_ABOVE = 16  # categories of a legend above the map; more are beside it
_POINTS = 2  # code points of a name in a label
_log = logging.getLogger("wordgeom")


def draw(chart: WordMap, path: str | Path, options: PlotOptions | None = None) -> str:
    """Draw a map into `path`, return its caption; raises what `figure.saved_figure` raises."""
    names, replaced = _names(chart)
    colouring = None if chart.colouring is None else _legible(chart.colouring)
    paint = None if colouring is None else Painted(colouring, chart.words)
    caption = chart.caption
    if chart.colouring is not None:
        caption += f", colours: {chart.colouring.name}"
    if paint is not None and paint.caption:
        caption += f", {paint.caption}"
    legend = [] if colouring is None else [*colouring.categories, colouring.name]
    with saved_figure(path, _WIDTH, _HEIGHT, options, [*names, *legend]) as figure:
        axes = figure.subplots()
        _dots(axes, chart, paint)
        if paint is not None:
            paint.legend(figure, axes, above=len(paint.colouring.categories) <= _ABOVE)
        write_caption(figure, caption + omission(chart.named), options)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_axis_off()
        axes.margins(0.02)
        fix_layout(figure)
        shown, omitted = _label(axes, chart, names)
        caption += omission(omitted)
        write_caption(figure, caption, options)
    if spelt := len(replaced & shown):
        what = several(spelt, "label is", "labels are")
        do = "install a font such as Noto Sans or Noto Sans CJK"
        _log.warning("note: %s written as code points, which no font here has; %s", what, do)
    return caption


def _names(chart: WordMap) -> tuple[list[str], set[int]]:
    """Return the names of the words that may get a label, and which are code points.

    A word with a character that no font has is named by its code points: U+A66E.
    """
    words = chart.words[: max(_TRIED, chart.named)]
    lacking = lacking_characters(words)
    replaced = {n for n, word in enumerate(words) if not lacking.isdisjoint(word)}
    return [_codes(word) if n in replaced else word for n, word in enumerate(words)], replaced


def _legible(colouring: Colouring) -> Colouring:
    """Return a colouring whose categories are named as words are, if they stay distinct."""
    lacking = lacking_characters(colouring.categories)
    names = {
        category: ", ".join(
            part if lacking.isdisjoint(part) else _codes(part) for part in category.split(", ")
        )
        for category in colouring.categories
    }
    if not lacking or len(set(names.values())) < len(names):
        return colouring
    values = {word: names[str(value)] for word, value in colouring.values.items()}
    return replace(colouring, values=values, categories=tuple(names.values()))


def _codes(word: str) -> str:
    more = "…" if len(word) > _POINTS else ""
    return " ".join(f"U+{ord(char):04X}" for char in word[:_POINTS]) + more


def _dots(axes: Axes, chart: WordMap, paint: Painted | None) -> None:
    """Draw the words: those without a value behind, the first ones in front, chosen ones ringed."""
    n = len(chart.words)
    area = min(_LARGEST, max(_SMALLEST, _AREA / n))
    inks = np.array([BLUE] * n if paint is None else paint.colours)
    markers = np.array(["o"] * n if paint is None else paint.markers)
    known = np.ones(n, bool) if paint is None else paint.known
    for marker in MARKERS:
        for grey in (True, False):
            rows = np.flatnonzero((markers == marker) & (known != grey))[::-1]
            x, y = chart.positions[rows].T
            axes.scatter(x, y, s=area, c=inks[rows].tolist(), marker=marker, linewidths=0,
                         alpha=0.6 if grey else 0.8, zorder=2 - grey)  # fmt: skip
    if chart.named < n:  # a ring around chosen words
        x, y = chart.positions[: chart.named].T
        axes.scatter(x, y, s=_RING, c="none", edgecolors=INK, linewidths=1.2, zorder=4)


def _label(axes: Axes, chart: WordMap, names: list[str]) -> tuple[set[int], int]:
    """Label words; return which have a label, and how many chosen ones have none."""
    first = len(names) if len(names) <= _FEW else chart.named  # these may have leader lines
    # Names of chosen words may cover dots of others: they are then next to their own.
    avoided = chart.positions[: first or None]
    labels = Labels(axes, chart.positions[:first], avoided, _NEAR)
    shown: set[int] = set()
    omitted = 0
    for n, name in enumerate(names):
        if n == first:
            labels.crowd(_APART)
        before = labels.omitted
        weight = "bold" if n < chart.named < len(chart.words) else "normal"
        labels.place(chart.positions[[n]], [name], colour=INK, weight=weight)
        if labels.omitted == before:
            shown.add(n)
        elif n < chart.named:
            omitted += 1
    return shown, omitted

"""A volcano plot of change: the displacement of each word against −log₁₀ of its p.

Words with q ≤ .05 are blue, others grey. A permutation test has a smallest possible p, which many
words share: all are on its line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import several
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.drift.options import LEVEL
from wordgeom.plot.colours import BLUE, MARKERS, UNKNOWN, Painted, painted
from wordgeom.plot.drift_results import DriftResults
from wordgeom.plot.figure import (
    INK,
    fix_layout,
    legend_above,
    log_ticks,
    plain_ticks,
    saved_figure,
    thin_grid,
    write_caption,
)
from wordgeom.plot.labels import Labels, coinciding, omission
from wordgeom.plot.options import ColourOptions, PlotOptions
from wordgeom.vectors.nearest import spelling_advice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH, _HEIGHT = 7.2, 5.4  # inches
_FLAGGED, _OTHERS = 24, 6  # words labelled besides those that the user names
_MANY, _SMALL, _LARGE = 1000, 2.2, 3.6  # words from which markers are small; marker sizes, points
_MARK = 4.5  # size of a marker in the legend, points
_RAISED = 4.6  # size of the marker of a labelled word, with its edge, points
_RING = 7.0  # size of the ring around a word that the user names, points
_SPAN = 30.0  # ratio of the maximum to the 1 % quantile from which the axis is logarithmic
_NOTHING = 1e-12  # relative to the largest displacement; not on a logarithmic axis
_TIED = 1.5  # times the smallest p: it differs slightly between pools, the next p is twice it
_ROOM = 0.25  # height for names above the line at the smallest p, relative to the height below it
_GREY = "#595959"
_LEAST = np.finfo(np.float64).tiny  # stands for a p of 0
_ASIDE = 0.02  # margin of a linear axis below 0, relative to the largest displacement
_NEAR = 4.0  # points between the centre of a marker and a name


@dataclass(frozen=True, eq=False)
class _Volcano:
    """The m words in the plot.

    x: displacements, y: heights, flagged: q ≤ .05, floor: at the smallest p (m); top: height of
    that p, 0 if there is none; cut: largest p with q ≤ .05, or None; log: logarithmic x axis;
    unmoved: words with displacement 0, which such an axis cannot show.
    """

    words: list[str]
    x: Float64
    y: Float64
    flagged: Array
    floor: Array
    top: float
    cut: float | None
    log: bool
    unmoved: int

    @property
    def points(self) -> Float64:
        """Positions (m × 2)."""
        return np.column_stack((self.x, self.y))

    @property
    def cut_height(self) -> float:
        """The height of `cut`, 0 if there is none."""
        return float(-np.log10(max(self.cut or 1.0, _LEAST)))


def draw(
    results: DriftResults,
    path: str | Path,
    named: Sequence[str] = (),
    options: PlotOptions | None = None,
    colours: ColourOptions | None = None,
) -> str:
    """Draw results into `path`, labelling `named` and the strongest words; returns the caption.

    Raises InputError for a word that is not in the plot, and what `figure.saved_figure` and
    `colours.read_colouring` raise.
    """
    volcano = _volcano(results)
    chosen = [_number(name, volcano.words) for name in named]
    paint = painted(None if colours is None else colours.colour_by, volcano.words)
    caption = _caption(volcano, results, paint)
    strongest = list(dict.fromkeys([*chosen, *_strongest(volcano).tolist()]))
    texts = [volcano.words[number] for number in strongest]
    with saved_figure(path, _WIDTH, _HEIGHT, options, texts) as figure:
        axes = figure.subplots()
        _lines(axes, volcano, results.smallest_p)
        _marks(axes, volcano, paint)
        axes.plot(volcano.x[chosen], volcano.y[chosen], "o", color=INK, markerfacecolor="none",
                  markersize=_RING)  # fmt: skip
        _describe(axes, volcano)
        legend_above(figure, _handles(axes))
        if paint is not None:
            paint.legend(figure, axes)
        write_caption(figure, _below(caption + omission(len(strongest)), results), options)
        fix_layout(figure)
        caption += omission(_label(axes, volcano, strongest, set(chosen), paint))
        write_caption(figure, _below(caption, results), options)
    return caption


def _volcano(results: DriftResults) -> _Volcano:
    largest = results.displacement.max()
    moved = results.displacement > _NOTHING * largest
    log = bool(moved.any()) and largest >= _SPAN * np.quantile(results.displacement[moved], 0.01)
    shown = moved if log else np.ones(len(moved), bool)
    p, q = results.p[shown], results.q[shown]
    floor = (p <= results.smallest_p * _TIED) & (results.smallest_p > 0)
    y = -np.log10(np.maximum(p, _LEAST))
    top = float(-np.log10(results.smallest_p)) if results.smallest_p > 0 else 0.0
    y[floor] = top
    flagged = q <= LEVEL
    return _Volcano(
        [word for word, visible in zip(results.words, shown, strict=True) if visible],
        results.displacement[shown], y, flagged, floor, top,
        float(p[flagged].max()) if flagged.any() else None, log, int(np.sum(~shown)),
    )  # fmt: skip


def _number(name: str, words: list[str]) -> int:
    if name not in words:
        do = spelling_advice(name, words)
        raise InputError(f"the word {name!r} is not in the plot", do=do)
    return words.index(name)


def _caption(volcano: _Volcano, results: DriftResults, paint: Painted | None) -> str:
    """Return the numbers of words in the plot, of words on others, and of words left out."""
    total = len(volcano.words) + results.without_p + volcano.unmoved
    subset = f" of the model's {results.model_words:,}" if results.model_words > total else ""
    parts = [several(len(volcano.words), "word", "words") + subset]
    parts.append(f"{np.sum(volcano.flagged):,} with q ≤ {_probability(LEVEL)}")
    if volcano.floor.sum() > 1:
        parts.append(f"{np.sum(volcano.floor):,} at the smallest p")
    if hidden := coinciding(volcano.points):
        parts.append(f"{several(hidden, 'word is', 'words are')} at the position of another")
    if results.without_p:
        parts.append(f"{results.without_p:,} without p not shown")
    if volcano.unmoved:
        parts.append(f"{volcano.unmoved:,} with displacement 0 not shown")
    if paint is not None and paint.caption:
        parts.append(paint.caption)
    return ", ".join(parts)


def _below(caption: str, results: DriftResults) -> str:
    """Return the lines below the plot: its caption, and the test in its own words."""
    texts = [f"{caption}."]
    if (results.p == 0).any():
        texts.append(f"A p of 0 is drawn at {_LEAST:.0e}.")
    texts += [f"{name}: {text}" for name, text in (("Test", results.method),
              ("Null", results.null), ("Assumption", results.assumption)) if text]  # fmt: skip
    return "\n".join(texts)


def _lines(axes: Axes, volcano: _Volcano, smallest: float) -> None:
    """Draw the lines at q = .05 and at the smallest p."""
    style: dict[str, Any] = {"color": INK, "linewidth": 0.9, "zorder": 1.5}
    if volcano.cut is not None:
        label = f"q = {_probability(LEVEL)} (p = {_probability(volcano.cut)})"
        axes.axhline(volcano.cut_height, linestyle="--", label=label, **style)
    if smallest > 0:
        label = f"smallest possible p: {_probability(smallest)}"
        axes.axhline(volcano.top, linestyle=":", label=label, **style)


def _marks(axes: Axes, volcano: _Volcano, paint: Painted | None) -> None:
    size = _SMALL if len(volcano.words) > _MANY else _LARGE
    level = _probability(LEVEL)
    if paint is not None:
        inks, markers = np.array(paint.colours), np.array(paint.markers)
        for marker in MARKERS:  # words that the file lacks are behind
            for grey in (True, False):
                chosen = (markers == marker) & (paint.known != grey)
                x, y, own = volcano.x[chosen], volcano.y[chosen], inks[chosen].tolist()
                axes.scatter(x, y, s=(1.5 * size) ** 2, c=own, marker=marker, linewidths=0,
                             zorder=3 - grey)  # fmt: skip
        return
    for chosen, ink, name in ((~volcano.flagged, UNKNOWN, f"q > {level}"),
                              (volcano.flagged, BLUE, f"q ≤ {level}")):  # fmt: skip
        axes.plot(volcano.x[chosen], volcano.y[chosen], "o", color=ink, markersize=size, alpha=0.6,
                  markeredgewidth=0, label=f"{name} ({np.sum(chosen):,})")  # fmt: skip


def _describe(axes: Axes, volcano: _Volcano) -> None:
    axes.set_xlabel("displacement")
    axes.set_ylabel("−log₁₀ p")
    axes.margins(x=0.13, y=0.05)
    crowded = volcano.floor.sum() > 1
    axes.set_ylim(bottom=0, top=volcano.top + _ROOM * max(volcano.top, 1.0) if crowded else None)
    thin_grid(axes)
    plain_ticks(axes.yaxis)
    if volcano.floor.any():  # no ticks above the smallest possible p
        axes.set_yticks([tick for tick in axes.get_yticks() if tick <= volcano.top])
    if volcano.log:
        axes.set_xscale("log")
        log_ticks(axes.xaxis)
    else:
        plain_ticks(axes.xaxis)
        axes.set_xlim(left=-_ASIDE * volcano.x.max() or None)


def _handles(axes: Any) -> list[Any]:
    """Return the handles of the legend, with larger markers."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], color=line.get_color(), linestyle=line.get_linestyle(),
                   marker=line.get_marker(), markersize=_MARK, label=label)
            for line, label in zip(*axes.get_legend_handles_labels(), strict=True)]  # fmt: skip


def _label(
    axes: Axes, volcano: _Volcano, numbers: list[int], named: set[int], paint: Painted | None
) -> int:
    """Label words, the most important first; return the number omitted for lack of room."""
    points, shown = volcano.points, []
    labels = Labels(axes, points[numbers], points, _NEAR, _strips(axes, volcano))
    cut = float(axes.transData.transform((volcano.x.max(), volcano.cut_height))[1])
    for number in numbers:
        colour = INK if volcano.flagged[number] else _GREY
        weight = "bold" if number in named else "normal"
        name = [volcano.words[number]]
        omitted = labels.omitted
        above = volcano.y[number] >= volcano.cut_height  # names stay on their side of the line
        between = (cut, np.inf) if above else (-np.inf, cut)
        labels.place(points[[number]], name, colour=colour, weight=weight, between=between)
        shown += [number] if labels.omitted == omitted else []
    _raise(axes, volcano, shown, paint)
    return labels.omitted


def _raise(axes: Axes, volcano: _Volcano, numbers: list[int], paint: Painted | None) -> None:
    """Draw labelled words again, with a white edge: lines and other markers may hide them."""
    for number in numbers:
        plain = BLUE if volcano.flagged[number] else _GREY
        ink, marker = (
            (plain, "o") if paint is None else (paint.colours[number], paint.markers[number])
        )
        axes.plot(volcano.x[number], volcano.y[number], marker, color=ink, markersize=_RAISED,
                  markeredgecolor="white", markeredgewidth=0.6, zorder=4)  # fmt: skip


def _strips(axes: Axes, volcano: _Volcano) -> Float64:
    """Return boxes (n × 4, pixels) around the lines, which no name covers."""
    heights = [volcano.cut_height] if volcano.cut is not None else []
    heights += [volcano.top] if volcano.top > 0 else []
    ends = [[(x, height) for x in axes.get_xlim()] for height in heights]
    pixels = axes.transData.transform(np.reshape(ends, (-1, 2))).reshape(-1, 4)
    return np.asarray(pixels + np.array([0, -1, 0, 1]), np.float64)


def _strongest(volcano: _Volcano) -> Int64:
    """Return the words that moved most, those with q ≤ .05 first."""
    order = np.argsort(-volcano.x, kind="stable")
    flagged = volcano.flagged[order]
    return np.concatenate((order[flagged][:_FLAGGED], order[~flagged][:_OTHERS]))


def _probability(number: float) -> str:
    """Format a probability without its leading zero, .05 instead of 0.05."""
    return f"{number:.3g}".removeprefix("0") or "0"

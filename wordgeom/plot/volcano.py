"""A volcano plot of change: the displacement of each word against −log₁₀ of its p.

Words with q ≤ .05 are dark, others pale. A permutation test has a smallest possible p, which many
words share: they are jittered in a band above it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import several
from wordgeom.core.options import suggestion
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.drift.options import LEVEL
from wordgeom.plot.drift_results import DriftResults
from wordgeom.plot.figure import INK, PALE, log_ticks, plain_ticks, saved_figure, thin_grid
from wordgeom.plot.labels import boxes, fix_layout, outline, place_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_WIDTH, _HEIGHT = 7.2, 5.4  # inches
_FLAGGED, _OTHERS = 24, 6  # words labelled besides those that the user names
_MANY, _SMALL, _LARGE = 1000, 2.2, 3.6  # words from which markers are small; marker sizes, points
_RING = 7.0  # size of the ring around a word that the user names, points
_SPAN = 30.0  # ratio of the maximum to the 1 % quantile from which the axis is logarithmic
_NOTHING = 1e-12  # relative to the largest displacement; not on a logarithmic axis
_TIED = 1.5  # times the smallest p: it differs slightly between pools, the next p is twice it
_BAND = 0.1  # height of the band, relative to the height below it
_BAND_INK, _GREY = "#f2f2f2", "#666666"
_LEAST = np.finfo(np.float64).tiny  # stands for a p of 0
_LINE = 108  # characters of a line below the plot
_ASIDE = 0.02  # margin of a linear axis below 0, relative to the largest displacement
_NEAR = 2.0  # pixels between a marker and a name
_REACH = (160.0, 30.0)  # extent of a name from its point in pixels, across and up


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


def draw(results: DriftResults, path: str | Path, named: Sequence[str] = ()) -> str:
    """Draw results into `path`, labelling `named` and the strongest words; returns the caption.

    Raises InputError for a word that is not in the plot, and what `figure.saved_figure` raises.
    """
    volcano = _volcano(results)
    chosen = [_number(name, volcano.words) for name in named]
    caption = _caption(volcano, results)
    with saved_figure(path, _WIDTH, _HEIGHT) as figure:
        axes = figure.subplots()
        rules = _lines(axes, volcano, results.smallest_p)
        _marks(axes, volcano)
        axes.plot(volcano.x[chosen], volcano.y[chosen], "o", color=INK, markerfacecolor="none",
                  markersize=_RING)  # fmt: skip
        _describe(axes, volcano)
        below = _below(caption, results, volcano.floor.sum() > 1)
        figure.supxlabel(below, fontsize="small", x=0.02, horizontalalignment="left")
        fix_layout(figure)
        _label(axes, volcano, chosen, rules)
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
    if floor.sum() > 1:
        jitter = np.random.default_rng(0).uniform(0.1, 0.9, int(floor.sum()))
        y[floor] = top + (_ceiling(top) - top) * jitter
    flagged = q <= LEVEL
    return _Volcano(
        [word for word, visible in zip(results.words, shown, strict=True) if visible],
        results.displacement[shown], y, flagged, floor, top,
        float(p[flagged].max()) if flagged.any() else None, log, int(np.sum(~shown)),
    )  # fmt: skip


def _ceiling(top: float) -> float:
    """Return the upper end of the band above the smallest p."""
    return top + _BAND * max(top, 1.0)


def _number(name: str, words: list[str]) -> int:
    if name not in words:
        do = suggestion(name, words)
        raise InputError(f"the word {name!r} is not in the plot", do=do)
    return words.index(name)


def _caption(volcano: _Volcano, results: DriftResults) -> str:
    """Return the numbers of words in the plot and of words that are left out."""
    total = len(volcano.words) + results.without_p + volcano.unmoved
    subset = f" of the model's {results.model_words:,}" if results.model_words > total else ""
    parts = [several(len(volcano.words), "word", "words") + subset]
    parts.append(f"{np.sum(volcano.flagged):,} with q ≤ {_probability(LEVEL)}")
    if volcano.floor.sum() > 1:
        parts.append(f"{np.sum(volcano.floor):,} at the smallest p")
    if results.without_p:
        parts.append(f"{results.without_p:,} without p not shown")
    if volcano.unmoved:
        parts.append(f"{volcano.unmoved:,} with displacement 0 not shown")
    return ", ".join(parts)


def _below(caption: str, results: DriftResults, band: bool) -> str:
    """Return the lines below the plot: its caption, and the test in its own words."""
    texts = [f"{caption}."]
    if band:
        texts.append(
            "Words in the grey band share the smallest p; their height within it is random."
        )
    if (results.p == 0).any():
        texts.append(f"A p of 0 is drawn at {_LEAST:.0e}.")
    texts += [f"{name}: {text}" for name, text in (("Test", results.method),
              ("Null", results.null), ("Assumption", results.assumption)) if text]  # fmt: skip
    return "\n".join(line for text in texts for line in textwrap.wrap(text, _LINE))


def _lines(axes: Axes, volcano: _Volcano, smallest: float) -> list[Line2D]:
    """Draw and return the lines at q = .05 and at the smallest p, with the band above it."""
    rules = []
    style: dict[str, Any] = {"color": INK, "linewidth": 0.9}
    if volcano.cut is not None:
        height = float(-np.log10(max(volcano.cut, _LEAST)))
        label = f"q = {_probability(LEVEL)} (p = {_probability(volcano.cut)})"
        rules.append(axes.axhline(height, linestyle="--", label=label, **style))
    if smallest > 0:
        label = f"smallest possible p: {_probability(smallest)}"
        rules.append(axes.axhline(volcano.top, linestyle=":", label=label, **style))
    if volcano.floor.sum() > 1:
        axes.axhspan(volcano.top, _ceiling(volcano.top), color=_BAND_INK, linewidth=0, zorder=0)
    return rules


def _marks(axes: Axes, volcano: _Volcano) -> None:
    size = _SMALL if len(volcano.words) > _MANY else _LARGE
    level = _probability(LEVEL)
    for chosen, ink, name in ((~volcano.flagged, PALE, f"q > {level}"),
                              (volcano.flagged, INK, f"q ≤ {level}")):  # fmt: skip
        axes.plot(volcano.x[chosen], volcano.y[chosen], "o", color=ink, markersize=size, alpha=0.6,
                  markeredgewidth=0, label=f"{name} ({np.sum(chosen):,})")  # fmt: skip


def _describe(axes: Axes, volcano: _Volcano) -> None:
    axes.set_xlabel("displacement")
    axes.set_ylabel("−log₁₀ p")
    axes.margins(x=0.13, y=0.05)
    axes.set_ylim(bottom=0)
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
    axes.legend(ncols=2, frameon=False, loc="lower left", bbox_to_anchor=(0, 1),
                borderaxespad=0.3, handlelength=2.4, markerscale=2)  # fmt: skip


def _label(axes: Axes, volcano: _Volcano, named: list[int], rules: Sequence[Line2D]) -> None:
    """Label the words in `named`, then those that moved most, flagged and others."""
    points = np.column_stack((volcano.x, volcano.y))
    pixels = axes.transData.transform(points)
    chosen = list(dict.fromkeys([*named, *_strongest(volcano)]))
    occupied = boxes(pixels[chosen], _NEAR)
    lines = [rule.get_window_extent().padded(_NEAR) for rule in rules]
    for number in chosen:
        close = (np.abs(pixels - pixels[number]) < _REACH).all(axis=1)
        marks = boxes(pixels[close], _NEAR) + lines
        point, name = points[[number]], [volcano.words[number]]
        weight = "bold" if number in named else "normal"
        omitted = place_labels(axes, point, name, occupied, marks=marks, drop=True, weight=weight)
        if omitted and number in named:
            place_labels(axes, point, name, occupied, marks=marks, weight=weight)
    flagged = {volcano.words[number] for number in chosen if volcano.flagged[number]}
    for text in axes.texts:
        outline(text)
        text.set_color(INK if text.get_text() in flagged else _GREY)


def _strongest(volcano: _Volcano) -> Int64:
    """Return the words that moved most, those with q ≤ .05 first."""
    order = np.argsort(-volcano.x, kind="stable")
    flagged = volcano.flagged[order]
    return np.concatenate((order[flagged][:_FLAGGED], order[~flagged][:_OTHERS]))


def _probability(number: float) -> str:
    """Format a probability without its leading zero, .05 instead of 0.05."""
    return f"{number:.3g}".removeprefix("0") or "0"

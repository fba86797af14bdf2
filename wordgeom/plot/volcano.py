"""A volcano: how far each word moved, and how seldom chance alone gives its statistic.

A word with q ≤ .05 is dark, any other pale. A test by permutations gives no p below some bound,
where words pile up: they lie in a band above it, at heights drawn at random.
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
from wordgeom.plot.figure import INK, PALE, drawn, log_ticks, plain_ticks, thin_grid
from wordgeom.plot.labels import place, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_WIDTH, _HEIGHT = 7.2, 5.4  # inches
_FLAGGED, _OTHERS = 24, 6  # words that are named beside those that the user names
_MANY, _SMALL, _LARGE = 1000, 2.2, 3.6  # words that take small marks; points of a mark
_RING = 7.0  # points of that around a word that is asked for
_SPAN = 30.0  # times what all but a hundredth exceed: a largest that needs a logarithmic axis
_NOTHING = 1e-12  # of the largest displacement: what a logarithmic axis leaves out
_TIED = 1.5  # times the smallest p: pools differ a little in it, the next p is twice it
_BAND = 0.1  # of the height below it
_BAND_INK, _GREY = "#f2f2f2", "#666666"
_LEAST = np.finfo(np.float64).tiny  # where a p of 0 is drawn
_LINE = 108  # characters of a line below the picture
_ASIDE = 0.02  # of the largest displacement: where a linear axis begins below 0
_NEAR = 2.0  # pixels around a mark that a name keeps off
_REACH = (160.0, 30.0)  # pixels that a name reaches from its point, across and up


@dataclass(frozen=True, eq=False)
class _Volcano:
    """The words that are drawn, m of them.

    x displacements, y heights, flagged: with q ≤ .05, floor: at the smallest p (m); top: the
    height of that p, 0 where there is none; cut: the largest p with q ≤ .05, None where none has.
    """

    words: list[str]
    x: Float64
    y: Float64
    flagged: Array
    floor: Array
    top: float
    cut: float | None
    log: bool
    still: int


def draw(results: DriftResults, path: str | Path, named: Sequence[str] = ()) -> str:
    """Draw results into `path`, with these words' names and the strongest; returns the caption.

    Raises InputError for a word that is not drawn, and what `figure.drawn` raises.
    """
    volcano = _volcano(results)
    asked = [_number(name, volcano.words) for name in named]
    caption = _caption(volcano, results)
    with drawn(path, _WIDTH, _HEIGHT) as figure:
        axes = figure.subplots()
        rules = _lines(axes, volcano, results.smallest)
        _marks(axes, volcano)
        axes.plot(volcano.x[asked], volcano.y[asked], "o", color=INK, markerfacecolor="none",
                  markersize=_RING)  # fmt: skip
        _describe(axes, volcano)
        below = _below(caption, results, volcano.floor.sum() > 1)
        figure.supxlabel(below, fontsize="small", x=0.02, horizontalalignment="left")
        settle(figure)
        _write_names(axes, volcano, asked, rules)
    return caption


def _volcano(results: DriftResults) -> _Volcano:
    largest = results.displacement.max()
    moved = results.displacement > _NOTHING * largest
    log = bool(moved.any()) and largest >= _SPAN * np.quantile(results.displacement[moved], 0.01)
    shown = moved if log else np.ones(len(moved), bool)
    p, q = results.p[shown], results.q[shown]
    floor = (p <= results.smallest * _TIED) & (results.smallest > 0)
    y = -np.log10(np.maximum(p, _LEAST))
    top = float(-np.log10(results.smallest)) if results.smallest > 0 else 0.0
    if floor.sum() > 1:
        share = np.random.default_rng(0).uniform(0.1, 0.9, int(floor.sum()))
        y[floor] = top + (_ceiling(top) - top) * share
    flagged = q <= LEVEL
    return _Volcano(
        [word for word, there in zip(results.words, shown, strict=True) if there],
        results.displacement[shown], y, flagged, floor, top,
        float(p[flagged].max()) if flagged.any() else None, log, int(np.sum(~shown)),
    )  # fmt: skip


def _ceiling(top: float) -> float:
    """Return where the band above the smallest p ends."""
    return top + _BAND * max(top, 1.0)


def _number(name: str, words: list[str]) -> int:
    if name not in words:
        do = suggestion(name, words)
        raise InputError(f"the word {name!r} is not among those that are drawn", do=do)
    return words.index(name)


def _caption(volcano: _Volcano, results: DriftResults) -> str:
    """Return how many words are drawn, with what, and how many are not."""
    all_ = len(volcano.words) + results.without + volcano.still
    few = f" of the model's {results.of:,}" if results.of > all_ else ""
    parts = [several(len(volcano.words), "word", "words") + few]
    parts.append(f"{np.sum(volcano.flagged):,} with q ≤ {_said(LEVEL)}")
    if volcano.floor.sum() > 1:
        parts.append(f"{np.sum(volcano.floor):,} at the smallest p")
    if results.without:
        parts.append(f"left out, without p: {results.without:,}")
    if volcano.still:
        parts.append(f"left out, without displacement: {volcano.still:,}")
    return ", ".join(parts)


def _below(caption: str, results: DriftResults, piled: bool) -> str:
    """Return the lines below the picture: what is drawn, and what the test says of itself."""
    told = [f"{caption}."]
    if piled:
        told.append("In the grey band heights mean nothing: its words have one p.")
    if (results.p == 0).any():
        told.append(f"A p of 0 is drawn at {_LEAST:.0e}.")
    told += [f"{name}: {text}" for name, text in (("Test", results.method),
             ("A word's p", results.null), ("Assumes", results.assumption)) if text]  # fmt: skip
    return "\n".join(line for text in told for line in textwrap.wrap(text, _LINE))


def _lines(axes: Axes, volcano: _Volcano, smallest: float) -> list[Line2D]:
    """Draw and return the line of q = .05 and that of the smallest p, with the band above it."""
    rules = []
    how: dict[str, Any] = {"color": INK, "linewidth": 0.9}
    if volcano.cut is not None:
        height = float(-np.log10(max(volcano.cut, _LEAST)))
        label = f"q = {_said(LEVEL)}: p = {_said(volcano.cut)}"
        rules.append(axes.axhline(height, linestyle="--", label=label, **how))
    if smallest > 0:
        label = f"smallest p that the test can give: {_said(smallest)}"
        rules.append(axes.axhline(volcano.top, linestyle=":", label=label, **how))
    if volcano.floor.sum() > 1:
        axes.axhspan(volcano.top, _ceiling(volcano.top), color=_BAND_INK, linewidth=0, zorder=0)
    return rules


def _marks(axes: Axes, volcano: _Volcano) -> None:
    size = _SMALL if len(volcano.words) > _MANY else _LARGE
    for chosen, ink, name in ((~volcano.flagged, PALE, f"q > {_said(LEVEL)}"),
                              (volcano.flagged, INK, f"q ≤ {_said(LEVEL)}")):  # fmt: skip
        axes.plot(volcano.x[chosen], volcano.y[chosen], "o", color=ink, markersize=size, alpha=0.6,
                  markeredgewidth=0, label=f"{name} ({np.sum(chosen):,})")  # fmt: skip


def _describe(axes: Axes, volcano: _Volcano) -> None:
    axes.set_xlabel("displacement")
    axes.set_ylabel("−log₁₀ p")
    axes.margins(x=0.13, y=0.05)
    axes.set_ylim(bottom=0)
    thin_grid(axes)
    plain_ticks(axes.yaxis)
    if volcano.floor.any():  # no number where there can be no p
        axes.set_yticks([tick for tick in axes.get_yticks() if tick <= volcano.top])
    if volcano.log:
        axes.set_xscale("log")
        log_ticks(axes.xaxis)
    else:
        plain_ticks(axes.xaxis)
        axes.set_xlim(left=-_ASIDE * volcano.x.max() or None)
    axes.legend(ncols=2, frameon=False, loc="lower left", bbox_to_anchor=(0, 1),
                borderaxespad=0.3, handlelength=2.4, markerscale=2)  # fmt: skip


def _write_names(axes: Axes, volcano: _Volcano, asked: list[int], rules: Sequence[Line2D]) -> None:
    """Name the words asked for, then those that moved most, of the flagged and of the others."""
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import Bbox

    pixels = axes.transData.transform(np.column_stack((volcano.x, volcano.y)))
    chosen = list(dict.fromkeys([*asked, *_strongest(volcano)]))
    taken = [Bbox([point, point]).padded(_NEAR) for point in pixels[chosen]]
    lines = [rule.get_window_extent().padded(_NEAR) for rule in rules]
    for number in chosen:
        close = (np.abs(pixels - pixels[number]) < _REACH).all(axis=1)
        marks = [Bbox([point, point]).padded(_NEAR) for point in pixels[close]] + lines
        point = [(float(volcano.x[number]), float(volcano.y[number]))]
        name, weight = [volcano.words[number]], "bold" if number in asked else "normal"
        left = place(axes, point, name, taken, marks=marks, drop=True, weight=weight)
        if left and number in asked:
            place(axes, point, name, taken, marks=marks, weight=weight)
    flagged = {volcano.words[number] for number in chosen if volcano.flagged[number]}
    for text in axes.texts:  # to be read where marks are behind
        text.set_path_effects([withStroke(linewidth=2.0, foreground="white")])
        text.set_color(INK if text.get_text() in flagged else _GREY)


def _strongest(volcano: _Volcano) -> Int64:
    """Return the words that moved most, those with q ≤ .05 first."""
    order = np.argsort(-volcano.x, kind="stable")
    flagged = volcano.flagged[order]
    return np.concatenate((order[flagged][:_FLAGGED], order[~flagged][:_OTHERS]))


def _said(number: float) -> str:
    """Return a probability as it is written here, .05 and not 0.05."""
    return f"{number:.3g}".removeprefix("0") or "0"

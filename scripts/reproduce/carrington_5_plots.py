"""Plots: T against χ², its power, and eigenvalues. Dashes distinguish the noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from carrington_5_cells import FIGURES, NOISES, Cell, Figure
from carrington_5_runs import field
from carrington_5_tables import rejected

from wordgeom.core.types import Array, Float64
from wordgeom.drift.factor_test import degrees_of_freedom
from wordgeom.plot.figure import INK, PALE, log_ticks, plain_ticks, saved_figure, thin_grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as CanvasFigure

DASHES = (":", "--", "-")  # at NOISES
_BINS = 40
_FAR = 5.0  # T / ν from which the axis is logarithmic
_FAINT = "#d9d9d9"


def histograms(name: str, figure: Figure, found: Float64, folder: Path) -> None:
    """Draw T / ν of each cell over χ² / ν: Bartlett-corrected in black, plain T in grey."""
    rows = -(-len(figure.cells) // figure.columns)
    with saved_figure(folder / f"figure-{name}.png", 7.2, 0.9 + 1.6 * rows) as canvas:
        grid = canvas.subplots(rows, figure.columns, squeeze=False, sharex=True)
        degrees = np.array([degrees_of_freedom(c.p, c.fitted) for c in figure.cells])
        shares = field(found, "statistic") / degrees[:, None, None]
        plain = field(found, "plain")[:, -1] / degrees[:, None]
        edges = _edges(figure.cells, shares, plain)
        for k, cell in enumerate(figure.cells):
            _panel(grid.flat[k], cell, shares[k], plain[k], edges)
        for axes in grid[-1]:
            axes.set_xlabel("T / ν")
        _legend(canvas, grid, 5)


def _edges(cells: Sequence[Cell], shares: Float64, plain: Float64) -> Float64:
    """Return bins that cover all values, on a linear or, for large T, a logarithmic scale."""
    from scipy.stats import chi2

    degrees = np.array([degrees_of_freedom(c.p, c.fitted) for c in cells])
    low = min(shares.min(), plain.min(), float(np.min(chi2.ppf(1e-3, degrees) / degrees)))
    high = max(shares.max(), plain.max(), float(np.max(chi2.isf(1e-3, degrees) / degrees)))
    if high < _FAR:
        return np.linspace(low, high, _BINS + 1)
    return np.geomspace(low, high, 5 * _BINS // 2 + 1)


def _panel(axes: Axes, cell: Cell, shares: Float64, plain: Float64, edges: Float64) -> None:
    from scipy.stats import chi2

    degrees = degrees_of_freedom(cell.p, cell.fitted)
    expected = np.diff(chi2.cdf(edges * degrees, degrees))
    axes.stairs(expected, edges, fill=True, color=_FAINT, label="χ²")
    _bars(axes, plain, edges, color=PALE, linewidth=1.0, label="plain, noise 1")
    for noise, dash, values in zip(NOISES, DASHES, shares, strict=True):
        _bars(axes, values, edges, color=INK, linestyle=dash, linewidth=1.1,
              label=f"Bartlett, noise {noise:g}")  # fmt: skip
    axes.set_title(cell.label, fontsize="small")
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    if edges[-1] >= _FAR:
        axes.set_xscale("log")
        log_ticks(axes.xaxis)
    else:
        plain_ticks(axes.xaxis)


def power(found: Mapping[str, Float64], folder: Path) -> None:
    """Draw rejection rates against ϕ²: T in black, permutation in grey."""
    if not found:
        return
    with saved_figure(folder / "power.png", 7.2, 3.2) as canvas:
        grid = canvas.subplots(1, len(found), squeeze=False, sharey=True)
        for axes, (name, values) in zip(grid.flat, found.items(), strict=True):
            cells = FIGURES[name].cells
            for column, colour, what in (("p", INK, "T"), ("permutation", PALE, "permutation")):
                shares = rejected(field(values, column))
                for noise, dash in enumerate(DASHES):
                    label = f"{what}, noise {NOISES[noise]:g}"
                    axes.plot([c.change for c in cells], shares[:, noise], color=colour,
                              linestyle=dash, marker=".", label=label)  # fmt: skip
            axes.set_xscale("log")
            axes.set_xlabel("ϕ² (variance of B₁)")
            axes.set_title(f"Figure {name}: p = {cells[0].p}, r = {cells[0].r}")
            axes.set_ylim(0, 1.03)
            thin_grid(axes)
            log_ticks(axes.xaxis)
        grid.flat[0].set_ylabel("rejection rate at 5 %")
        _legend(canvas, grid, 2)


def eigenvalues(
    found: Float64, ranks: Sequence[int], situations: Sequence[str], folder: Path
) -> None:
    """Draw medians of the eigenvalues in descending order, with bands for 90 % of the runs."""
    with saved_figure(folder / "figure-5.15.png", 7.2, 6.4) as canvas:
        grid = canvas.subplots(len(NOISES), len(ranks), sharex=True, sharey="row")
        for noise, cell in np.ndindex(grid.shape):
            axes = grid[noise, cell]
            for k, (name, dash) in enumerate(zip(situations, ("-", "-", ":"), strict=True)):
                values = found[cell, noise, :, k, ::-1]
                low, middle, high = np.quantile(values, (0.05, 0.5, 0.95), axis=0)
                places = np.arange(1, len(middle) + 1)
                colour = _FAINT if k == 0 else PALE if k == 1 else INK
                axes.fill_between(places, low, high, color=colour, alpha=0.3, linewidth=0)
                axes.plot(places, middle, dash, color=colour, linewidth=2.0 - 0.3 * k, label=name)
            axes.set_title(f"r = {ranks[cell]}, noise {NOISES[noise]:g}", fontsize="small")
            thin_grid(axes)
        for axes in grid[-1]:
            axes.set_xlabel("k")
        for axes in grid[:, 0]:
            axes.set_ylabel("λₖ")
            axes.set_yscale("log")
            log_ticks(axes.yaxis)
        _legend(canvas, grid, 3)


def _bars(axes: Axes, values: Float64, edges: Float64, **style: Any) -> None:
    """Draw the share of values in each bin, without lines for empty bins."""
    shares = np.histogram(values, edges)[0] / len(values)
    axes.stairs(np.where(shares > 0, shares, np.nan), edges, **style)


def _legend(canvas: CanvasFigure, grid: Array, columns: int) -> None:
    handles, labels = grid.flat[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False,
                  fontsize="small", handlelength=2.6)  # fmt: skip

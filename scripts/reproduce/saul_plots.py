"""Plots of curves by dimension or by update, and of eigenvalues with their signs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.plot.cards import line_style
from wordgeom.plot.colours import BLUE, VERMILION
from wordgeom.plot.figure import legend_above, log_ticks, saved_figure, thin_grid

_WIDTH, _HEIGHT = 3.4, 2.6  # inches of a panel
_LEGEND = 0.4


@dataclass(frozen=True)
class Panel:
    """A title, and curves by name."""

    title: str
    curves: Mapping[str, Sequence[tuple[float, float]]]


def draw(
    rows: Sequence[tuple[str, Sequence[Panel]]], path: Path, ticks: Sequence[int] = ()
) -> None:
    """Draw rows of panels, each with the label of its vertical axis, and one legend above.

    ticks: dimensions, on a logarithmic axis; without them, the axis counts updates and the
    vertical one is logarithmic.
    """
    columns = max(len(panels) for _, panels in rows)
    size = _WIDTH * columns, _HEIGHT * len(rows) + _LEGEND
    with saved_figure(path, *size) as figure:
        grid = figure.subplots(len(rows), columns, squeeze=False, sharex=True, sharey="row")
        for axes_of_row, (label, panels) in zip(grid, rows, strict=True):
            axes_of_row[0].set_ylabel(label)
            for axes, panel in zip(axes_of_row, panels, strict=True):
                handles = [
                    axes.plot(*zip(*points, strict=True), label=name,
                              **line_style(k, len(points)))[0]
                    for k, (name, points) in enumerate(panel.curves.items())
                ]  # fmt: skip
                axes.set_title(panel.title)
                if ticks:
                    axes.set_xscale("log")
                    axes.set_xticks(ticks, [str(d) for d in ticks])
                    axes.minorticks_off()
                else:
                    axes.set_yscale("log")
                    log_ticks(axes.yaxis)
                thin_grid(axes)
            if ticks:
                axes_of_row[0].set_ylim(bottom=0)  # the row shares it; after all its curves
        for axes in grid[-1]:
            axes.set_xlabel("dimension" if ticks else "update")
        legend_above(figure, handles)


def spectra(values: Mapping[str, Sequence[float]], path: Path) -> None:
    """Draw magnitudes of eigenvalues by rank: positive ones as dots, negative ones as crosses."""
    with saved_figure(path, _WIDTH * len(values), _HEIGHT + _LEGEND) as figure:
        grid = figure.subplots(1, len(values), squeeze=False)[0]
        for axes, (name, own) in zip(grid, values.items(), strict=True):
            shown, ranks = np.array(own), np.arange(1, len(own) + 1)
            handles = [
                axes.plot(ranks[at], np.abs(shown[at]), mark, color=colour, markersize=3,
                          label=what)[0]
                for at, mark, colour, what in (
                    (shown >= 0, ".", BLUE, "positive"), (shown < 0, "x", VERMILION, "negative"),
                )
            ]  # fmt: skip
            axes.set(title=name, xlabel="rank by magnitude", yscale="log")
            log_ticks(axes.yaxis)
            thin_grid(axes)
        grid[0].set_ylabel("|eigenvalue|")
        legend_above(figure, handles)

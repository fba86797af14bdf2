"""Plots of curves in panels, and of draws beside an original."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wordgeom.plot.cards import line_style
from wordgeom.plot.figure import INK, PALE, saved_figure, thin_grid

Curves = Mapping[str, Sequence[tuple[float, float]]]


def lines(
    panels: Mapping[str, Curves], across: str, up: str, path: Path, best: Callable[..., Any] = max
) -> None:
    """Draw curves, a panel for each name, with one legend a panel; a cross marks each best."""
    with saved_figure(path, 4.2 * len(panels), 3.4) as canvas:
        grid = canvas.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        for axes, (title, curves) in zip(grid, panels.items(), strict=True):
            for k, (name, points) in enumerate(curves.items()):
                axes.plot(*zip(*points, strict=True), label=name, **line_style(k, len(points)))
                axes.plot(*best(points, key=lambda point: point[1]), "x", color=INK)
            axes.set(xlabel=across, title=title)
            thin_grid(axes)
            axes.legend(frameon=False, fontsize="small")
        grid[0].set_ylabel(up)


def scattered(groups: Curves, across: str, up: str, path: Path) -> None:
    """Draw the points of each group in a colour."""
    with saved_figure(path, 4.8, 3.6) as canvas:
        axes = canvas.subplots()
        for k, (name, points) in enumerate(groups.items()):
            style = line_style(k, 1) | {"linestyle": ""}
            axes.plot([x for x, _ in points], [y for _, y in points], label=name, **style)
        axes.set(xlabel=across, ylabel=up)
        thin_grid(axes)
        axes.legend(frameon=False, fontsize="small")


def strips(groups: Mapping[str, tuple[float, Sequence[float]]], up: str, path: Path) -> None:
    """Draw the values of each group as small points, and its original value as a large one."""
    with saved_figure(path, 7.2, 4.0) as canvas:
        axes = canvas.subplots()
        for k, (original, values) in enumerate(groups.values()):
            axes.plot([k] * len(values), values, ".", color=PALE, markersize=4)
            axes.plot(k, original, "o", color=INK, markersize=6)
        axes.set_xticks(range(len(groups)), list(groups), rotation=45, ha="right", fontsize="small")
        axes.set_ylabel(up)
        thin_grid(axes)

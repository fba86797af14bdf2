"""Angles before and after a reduction: histograms of neighbours and others, and pairs by both.

The left panel is figure 2 of Saul (2022). In the right panel, faithful vectors have their near
pairs on the diagonal, and all other pairs above τ's angle.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.types import Array, Float64
from wordgeom.evaluation.angles import BINS, Angles
from wordgeom.plot.colours import BLUE, VERMILION
from wordgeom.plot.figure import (
    INK,
    PALE,
    legend_above,
    saved_figure,
    thin_grid,
    write_caption,
)
from wordgeom.plot.labels import printable
from wordgeom.plot.options import PlotOptions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 7.6, 3.6  # inches
_NAME = 30  # characters of a file name
_MAP = "cividis"
_SHARE = 1e-5  # of the pairs, at the least, in the outermost bins that are drawn
_EDGES: Float64 = np.linspace(0.0, 180.0, BINS + 1)


def draw(
    angles: Angles, names: tuple[str, str], path: str | Path, options: PlotOptions | None = None
) -> str:
    """Draw angles into `path` and return the caption; names: of the vectors and the reference.

    Raises what `figure.saved_figure` raises.
    """
    ours, theirs = (printable(Path(name).name, _NAME) for name in names)
    caption = _caption(angles)
    with saved_figure(path, _WIDTH, _HEIGHT, options, [ours, theirs]) as figure:
        left, right = figure.subplots(1, 2)
        tau = float(np.degrees(np.arccos(angles.tau)))
        handles = _histograms(left, angles, tau, ours, theirs)
        _pairs(figure, right, angles, tau, ours, theirs)
        legend_above(figure, handles)
        write_caption(figure, caption, options)
    return caption


def _histograms(axes: Axes, angles: Angles, tau: float, ours: str, theirs: str) -> list[Any]:
    """Draw the densities of the angles of nearest neighbours and of other pairs."""
    handles: list[Any] = []
    for counts, colour, what in (
        (angles.nearest, BLUE, "nearest neighbours"),
        (angles.every - angles.nearest, VERMILION, "other pairs"),
    ):
        before, after = _density(counts.sum(axis=1)), _density(counts.sum(axis=0))
        handles += [
            axes.stairs(before, _EDGES, fill=True, color=colour, alpha=0.35, label=what),
        ]
        axes.stairs(after, _EDGES, color=colour, linewidth=1.2, linestyle="--")
    handles.append(axes.plot([], [], color=PALE, linestyle="--", label=f"in {ours}")[0])
    handles.append(axes.axvline(tau, color=INK, linewidth=1.0, label=f"τ: {tau:.1f}°"))
    axes.set_title(f"filled: {theirs}")
    axes.set_xlabel("angle, degrees")
    axes.set_ylabel("density")
    shown = [
        _range(counts.sum(axis=k)) for counts in (angles.every, angles.nearest) for k in (0, 1)
    ]
    axes.set_xlim(min(low for low, _ in shown), max(high for _, high in shown))
    axes.set_ylim(bottom=0)
    thin_grid(axes)
    return handles


def _pairs(figure: Figure, axes: Axes, angles: Angles, tau: float, ours: str, theirs: str) -> None:
    """Draw the number of pairs by their angles in the reference and in the vectors."""
    from matplotlib.colors import LogNorm

    counts = angles.every.T.astype(np.float64)
    shown = np.where(counts > 0, counts, np.nan)
    image = axes.imshow(
        shown, origin="lower", extent=(0, 180, 0, 180), aspect="auto", interpolation="nearest",
        cmap=_MAP, norm=LogNorm(1, max(2.0, float(counts.max()))),
    )  # fmt: skip
    axes.plot([0, 180], [0, 180], color=INK, linewidth=0.8, linestyle=":")
    axes.axvline(tau, color=INK, linewidth=1.0)
    axes.axhline(tau, color=INK, linewidth=1.0)
    axes.set_xlim(*_range(angles.every.sum(axis=1)))
    axes.set_ylim(*_range(angles.every.sum(axis=0)))
    axes.set_title("pairs by both angles")
    axes.set_xlabel(f"angle in {theirs}, degrees")
    axes.set_ylabel(f"angle in {ours}")
    bar = figure.colorbar(image, ax=axes, fraction=0.05, pad=0.02, aspect=30)
    bar.set_label("pairs", fontsize="small")
    bar.ax.tick_params(labelsize="small")
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    bar.outline.set_visible(False)


def _density(counts: Array) -> Float64:
    """Return counts per bin as a density per degree."""
    return np.asarray(counts / max(1, int(counts.sum())) / (_EDGES[1] - _EDGES[0]))


def _range(counts: Array) -> tuple[float, float]:
    """Return the angles between which all but few of the pairs are."""
    share = np.cumsum(counts) / counts.sum()
    first = int(np.searchsorted(share, _SHARE))
    last = int(np.searchsorted(share, 1.0 - _SHARE))
    return float(_EDGES[max(first - 1, 0)]), float(_EDGES[min(last + 2, BINS)])


def _caption(angles: Angles) -> str:
    pairs = int(angles.every.sum())
    near = f"near pairs: cosine above τ = {angles.tau:.4f}"
    of = "" if angles.drawn == angles.words else f", of {angles.drawn:,} words drawn with all"
    return f"{near}; {pairs:,} pairs of {angles.words:,} words{of}"

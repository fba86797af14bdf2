"""Spectra from run cards: eigenvalues λ_k or singular values σ_k, and their cumulative share.

If residuals ‖G u − λ u‖ are known, a band of that width surrounds the curve: it always contains an
eigenvalue of a symmetric G (Parlett 1980, theorem 4.5.1). The same holds for singular values of X
with ‖Xᵀu − σv‖ and X v = σu, since ± σ are the eigenvalues of the block matrix of X and Xᵀ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import several
from wordgeom.core.types import Float64
from wordgeom.plot.cards import line_style, numbers, read_statistics
from wordgeom.plot.figure import (
    legend_above,
    log_ticks,
    plain_ticks,
    saved_figure,
    thin_grid,
    write_caption,
)
from wordgeom.plot.labels import printable
from wordgeom.plot.options import PlotOptions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME = 36  # characters of a name in the legend
_THIN = 2e-3  # relative difference below which two curves coincide
_WIDTH, _HEIGHT = 7.2, 3.5  # inches
_DO = "train with a method that records its spectrum, such as pmi-eigs"
# The marker of each rule of --dim auto, and its name in the caption.
_MARKERS = {
    "parallel": ("o", "○ parallel analysis"), "eigengap": ("s", "□ eigengap"),
    "pip": ("^", "△ PIP loss"),
}  # fmt: skip
SINGULAR = "singular values"  # their name in run cards


@dataclass(frozen=True)
class Spectrum:
    """Values (K) in descending order and their residuals (K), empty if unknown.

    of: "" for eigenvalues, else SINGULAR; chosen: the answers of the rules of --dim auto, by name.
    """

    name: str
    values: Float64
    residuals: Float64
    of: str = ""
    chosen: Mapping[str, int] = field(default_factory=dict)


def read_spectrum(path: str | Path) -> Spectrum:
    """Return the spectrum in the run card of a vectors file.

    Raises MissingInputError for a missing file, InputError if the card or the spectrum is missing.
    """
    path = Path(path)
    facts = read_statistics(path, _DO)
    values, residuals = numbers(facts.get("spectrum")), numbers(facts.get("residuals"))
    searched = facts.get("dimension")
    if isinstance(searched, dict):  # more values than columns
        facts, values = searched, numbers(searched.get("spectrum"))
    if not len(values) or not values[0] > 0:
        raise InputError("no spectrum in its run card", where=path, do=_DO)
    same = len(residuals) == len(values)
    of = SINGULAR if facts.get("spectrum_of") == SINGULAR else ""
    found = {rule: facts.get(rule) for rule in _MARKERS}
    chosen = {rule: k for rule, k in found.items() if type(k) is int and 0 < k <= len(values)}
    return Spectrum(path.name, values, residuals if same else residuals[:0], of, chosen)


def draw(spectra: Sequence[Spectrum], path: str | Path, options: PlotOptions | None = None) -> None:
    """Draw spectra into `path`, superimposed; raises what `figure.saved_figure` raises."""
    names = [f"{printable(s.name, _NAME)}{_same_as(s, spectra[:n])}" for n, s in enumerate(spectra)]
    with saved_figure(path, _WIDTH, _HEIGHT, options, names) as figure:
        left, right = figure.subplots(1, 2)
        lines = []
        for number, spectrum in enumerate(spectra):
            style = line_style(number, len(spectrum.values))
            _values(left, spectrum, style)
            k = np.arange(1, len(spectrum.values) + 1)
            lines += right.plot(k, shares(spectrum.values), **style)
            _mark(left, spectrum.values, spectrum.chosen, style["color"])
            _mark(right, shares(spectrum.values), spectrum.chosen, style["color"])
        _describe(left, right)
        left.set_title(_kinds(spectra))
        # Curves of one matrix coincide, so direct labels do not work. matplotlib hides names with a
        # leading _.
        for line, name in zip(lines, names, strict=True):
            line.set_label(f" {name}")
        legend_above(figure, lines)
        write_caption(figure, _caption(spectra), options)


def _caption(spectra: Sequence[Spectrum]) -> str:
    """Return what the curves do not show."""
    parts = []
    if any(len(spectrum.residuals) for spectrum in spectra):
        parts.append(
            f"band: ± residual, at most {100 * max(map(_widest, spectra)):.2g} % of a value"
        )
    for spectrum in spectra:
        if spectrum.chosen:
            found = [f"{_MARKERS[rule][1]} {k}" for rule, k in spectrum.chosen.items()]
            parts.append(f"{printable(spectrum.name, _NAME)}: {', '.join(found)}")
        if hidden := int(np.sum(spectrum.values <= 0)):
            what = several(hidden, "value", "values")
            parts.append(f"{printable(spectrum.name, _NAME)}: {what} ≤ 0 not drawn")
    return "; ".join(parts)


def _mark(axes: Axes, values: Float64, chosen: Mapping[str, int], color: str) -> None:
    """Mark the dimensions that the rules found on a curve."""
    for rule, k in chosen.items():
        if values[k - 1] > 0:
            axes.plot([k], [values[k - 1]], marker=_MARKERS[rule][0], color=color, fillstyle="none",
                      linestyle="none", clip_on=False)  # fmt: skip


def _widest(spectrum: Spectrum) -> float:
    """Return the largest residual of a positive value, relative to the value; 0 without any."""
    drawn = spectrum.values > 0
    if not len(spectrum.residuals):
        return 0.0
    return float(np.max(spectrum.residuals[drawn] / spectrum.values[drawn]))


def _kinds(spectra: Sequence[Spectrum]) -> str:
    """Return the kinds of the values, for the title."""
    kinds = dict.fromkeys("singular value σ" if s.of else "eigenvalue λ" for s in spectra)
    return " or ".join(kinds)


def shares(values: Float64) -> Float64:
    """Return the cumulative share (K) of the first k values in the sum of the positive ones."""
    positive = np.maximum(values, 0)
    return np.asarray(np.cumsum(positive) / positive.sum())


def _same_as(spectrum: Spectrum, earlier: Sequence[Spectrum]) -> str:
    """Return a remark for the legend if the curve coincides with an earlier one."""
    values = spectrum.values
    for other in earlier:
        if len(other.values) == len(values) and np.allclose(other.values, values, rtol=_THIN):
            return f"\n (same as {printable(other.name, _NAME)})"
    return ""


def _values(axes: Axes, spectrum: Spectrum, style: dict[str, Any]) -> None:
    """Draw the positive values, with a band as wide as the residuals."""
    positive = spectrum.values > 0
    k, values = np.flatnonzero(positive) + 1, spectrum.values[positive]
    axes.plot(k, values, **style)
    if len(spectrum.residuals):
        residuals = spectrum.residuals[positive]
        # A logarithmic axis has no 0: a band that reaches 0 ends far below the curve.
        low = np.maximum(values - residuals, values * 1e-3)
        axes.fill_between(k, low, values + residuals, color=style["color"], alpha=0.2, linewidth=0)


def _describe(left: Axes, right: Axes) -> None:
    left.set_xscale("log")
    left.set_yscale("log")
    right.set_title("cumulative share of the values computed")
    right.set_ylim(0, 1.02)
    right.set_xlim(left=0)
    for axes in (left, right):
        axes.set_xlabel("k")
        thin_grid(axes)
    for axis in (left.xaxis, left.yaxis):
        log_ticks(axis)
    for axis in (right.xaxis, right.yaxis):
        plain_ticks(axis)

"""Spectra of what vectors were made of: λ_k against k, and the share of the sum up to k.

Where residuals ‖G u − λ u‖ are known, a band of that width lies around the curve: an eigenvalue
of a symmetric G is certain to be inside it (Parlett 1980, theorem 4.5.1). So is a singular value of
X where ‖Xᵀu − σv‖ is known and X v = σu: ± σ are eigenvalues of the matrix of X and Xᵀ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.errors import InputError, MissingInputError
from wordgeom.core.types import Float64
from wordgeom.plot.figure import INK, PALE, drawn, log_ticks, plain_ticks, thin_grid
from wordgeom.vectors.run_card import read_card

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES, _INKS = ("-", "--", ":", "-."), (INK, PALE)
_THIN = 2e-3  # what two eigenvalues may differ by, relatively, and be one line
_WIDTH, _HEIGHT = 7.2, 3.2  # inches
_DO = "train with a method that keeps its spectrum, such as pmi-eigs"
SINGULAR = "singular values"  # as run cards call them


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues (K) in descending order and their residuals (K), empty where unknown.

    of: what the values are, where they are no eigenvalues.
    """

    name: str
    values: Float64
    residuals: Float64
    of: str = ""


def read_spectrum(path: str | Path) -> Spectrum:
    """Return the spectrum that the run card of a vectors file holds.

    Raises MissingInputError for a missing file, InputError where there is no such card or spectrum.
    """
    path = Path(path)
    if not path.is_file():
        raise MissingInputError("no such file", where=path, do="check the path")
    card = read_card(path)
    if card is None:
        raise InputError("has no run card that fits it", where=path, do=_DO)
    statistics = card.get("statistics")
    held = statistics if isinstance(statistics, dict) else {}
    values, residuals = _numbers(held.get("spectrum")), _numbers(held.get("residuals"))
    if not len(values) or not values[0] > 0:
        raise InputError("its run card holds no spectrum", where=path, do=_DO)
    same = len(residuals) == len(values)
    of = SINGULAR if held.get("spectrum_of") == SINGULAR else ""
    return Spectrum(path.name, values, residuals if same else residuals[:0], of)


def draw(spectra: Sequence[Spectrum], path: str | Path) -> None:
    """Draw spectra into `path`, one over the other; raises what `figure.drawn` raises."""
    with drawn(path, _WIDTH, _HEIGHT) as figure:
        left, right = figure.subplots(1, 2)
        lines = []
        for number, spectrum in enumerate(spectra):
            dashes, ink = _DASHES[number % 4], _INKS[number // 4 % 2]
            how: dict[str, Any] = {"linestyle": dashes, "color": ink, "linewidth": 1.3}
            _values(left, spectrum, how)
            places = np.arange(1, len(spectrum.values) + 1)
            lines += right.plot(places, shares(spectrum.values), **how)
        _describe(left, right)
        known = any(len(spectrum.residuals) for spectrum in spectra)
        left.set_title(_named(spectra) + (" (band: ± its residual)" if known else ""))
        # Curves of one matrix lie upon each other, where names beside them could not; below the
        # shares, which rise at once, there is room. A name is not hidden by its leading _.
        names = [f" {s.name}{_below(s, spectra[:number])}" for number, s in enumerate(spectra)]
        right.legend(lines, names, loc="lower right", frameon=False, handlelength=3.5)


def _named(spectra: Sequence[Spectrum]) -> str:
    """Return what the values are: of one kind, or of both."""
    kinds = dict.fromkeys("singular value σ" if s.of else "eigenvalue λ" for s in spectra)
    return " or ".join(kinds)


def shares(values: Float64) -> Float64:
    """Return (K) the share of the first k eigenvalues in the sum of the positive ones."""
    positive = np.maximum(values, 0)
    return np.asarray(np.cumsum(positive) / positive.sum())


def _below(spectrum: Spectrum, earlier: Sequence[Spectrum]) -> str:
    """Return what to say of a curve that lies on an earlier one, so that it is not missed."""
    values = spectrum.values
    for other in earlier:
        same = len(other.values) == len(values) and np.allclose(other.values, values, rtol=_THIN)
        if same:
            return f"\n (the same as {other.name})"
    return ""


def _numbers(listed: object) -> Float64:
    """Return a card's list of finite numbers, empty for anything else."""
    try:
        numbers = np.asarray(listed, np.float64)
    except (TypeError, ValueError):
        return np.empty(0)
    fit = numbers.ndim == 1 and bool(np.isfinite(numbers).all())
    return numbers if fit else np.empty(0)


def _values(axes: Axes, spectrum: Spectrum, how: dict[str, Any]) -> None:
    """Draw the positive eigenvalues, with a band as wide as the residuals."""
    positive = spectrum.values > 0
    places, values = np.flatnonzero(positive) + 1, spectrum.values[positive]
    axes.plot(places, values, **how)
    if len(spectrum.residuals):
        residuals = spectrum.residuals[positive]
        # A logarithmic axis has no 0: a band that reaches it ends far below the curve.
        low = np.maximum(values - residuals, values * 1e-3)
        axes.fill_between(places, low, values + residuals, color=PALE, alpha=0.35, linewidth=0)


def _describe(left: Axes, right: Axes) -> None:
    left.set_xscale("log")
    left.set_yscale("log")
    right.set_title("share of the first k in the sum of those kept")
    right.set_ylim(0, 1.02)
    right.set_xlim(left=0)
    for axes in (left, right):
        axes.set_xlabel("k")
        thin_grid(axes)
    for axis in (left.xaxis, left.yaxis):
        log_ticks(axis)
    for axis in (right.xaxis, right.yaxis):
        plain_ticks(axis)

"""Tables of rejection rates at 5 %, and of quantiles where T should follow χ²."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from carrington_5_cells import NOISES, Cell, Figure
from carrington_5_runs import field

from wordgeom.core.types import Float64
from wordgeom.drift.factor_test import degrees_of_freedom

LEVEL = 0.05
TAILS = (0.5, 0.1, 0.05, 0.01)  # upper tail probabilities of χ²
_SHARE = "{:.3f}".format
_HEAD = ("setting", "ν", "critical", "mean T, Bartlett", "T plain", "T Bartlett", "permutation",
         "mixture")  # fmt: skip


def show(name: str, figure: Figure, found: Float64) -> None:
    """Print the rates of a figure, and the quantiles of its null cells."""
    print(f"## Figure {name}: {figure.title}\n")
    rows = [_row(cell, found[k]) for k, cell in enumerate(figure.cells)]
    table(_HEAD, rows)
    nulls = [k for k, cell in enumerate(figure.cells) if cell.null]
    if nulls:
        quantiles([figure.cells[k] for k in nulls], found[nulls])
    failed = np.sum(field(found, "converged") == 0)
    if failed:
        print(f"{int(failed):,} of {field(found, 'converged').size:,} fits did not converge.\n")


def _row(cell: Cell, found: Float64) -> list[str]:
    degrees = degrees_of_freedom(cell.p, cell.fitted)
    shares = [_each(rejected(field(found, name)), _SHARE)
              for name in ("plain_p", "p", "permutation", "mixture")]  # fmt: skip
    means = _each(field(found, "statistic").mean(axis=-1), "{:,.0f}".format)
    return [cell.label, f"{degrees:,}", f"{critical(cell):,.1f}", means, *shares]


def critical(cell: Cell) -> float:
    """Return the 5 % critical value of T at the fitted dimension."""
    from scipy.stats import chi2

    return float(chi2.isf(LEVEL, degrees_of_freedom(cell.p, cell.fitted)))


def rejected(p: Float64) -> Float64:
    """Return the share of runs (last axis) with p ≤ LEVEL, NaN without a test."""
    done = np.isfinite(p)
    # A permutation p is a multiple of 1 / (B + 1); rounding must not lift it over the level.
    share = np.sum(done & (p <= LEVEL + 1e-9), axis=-1) / np.maximum(done.sum(axis=-1), 1)
    return np.where(done.any(axis=-1), share, np.nan)


def quantiles(cells: Iterable[Cell], found: Float64) -> None:
    """Print the shares of p at most each of TAILS, which they equal if the test is exact."""
    rows = []
    for cell, one in zip(cells, found, strict=True):
        for name, what in (
            ("plain_p", "T plain"),
            ("p", "T Bartlett"),
            ("permutation", "permutation"),
        ):
            p = field(one, name)
            known = p[:, np.isfinite(p[0])]
            if known.size:
                rows.append([cell.label, what, *(_each(np.mean(known <= q + 1e-9, axis=1), _SHARE)
                                                 for q in TAILS)])  # fmt: skip
    table(("p ≤", "", *(f"{q:g}" for q in TAILS)), rows)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a Markdown table."""
    head = list(head)
    print("| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def _each(values: Float64, write: Callable[[float], str]) -> str:
    """Return the values at each of NOISES, separated by dots."""
    return " · ".join("–" if np.isnan(value) else write(value) for value in values[: len(NOISES)])

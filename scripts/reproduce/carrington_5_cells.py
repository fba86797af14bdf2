"""The simulations of chapter 5: X = A B₀ + T A B₁ + Z. A figure is a row of cells, one per setting.

As in §5.5.2, A and B₀ are from N(0, 1), the n times are evenly spaced on [−1, 1], and B₁ depends on
the figure. The noise is not stated ("z ~ N(0, Σ_z)"; eq. 5.16 omits it), so every cell is simulated
with three variances, the same for all words.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from wordgeom.core.types import Float64

NOISES = (0.01, 0.1, 1.0)
NORMAL, UNIFORM, EXPONENTIAL = "N(0, 0.01)", "U(0, 0.1)", "Exp(10)"
_CHANGES = (0.0001, 0.0025, 0.01, 0.04, 0.25, 1.0)


@dataclass(frozen=True)
class Cell:
    """One setting: n documents, p words, r true and `fitted` fitted dimensions.

    change: ϕ², the variance of B₁; moving: number of moving words, None for all; law: of B₁.
    """

    label: str
    n: int
    p: int
    r: int
    fitted: int
    change: float = 0.0
    moving: int | None = None
    law: str = NORMAL

    @property
    def null(self) -> bool:
        """Whether r is true and nothing changes, so that T should follow χ²."""
        return self.change == 0.0 and self.fitted == self.r


@dataclass(frozen=True)
class Figure:
    """A figure of the thesis: its title and its cells, in rows of `columns`."""

    title: str
    cells: tuple[Cell, ...]
    columns: int


def _by_documents(p: int, numbers: tuple[int, ...]) -> tuple[Cell, ...]:
    return tuple(Cell(f"n = {n}", n, p, 5, 5) for n in numbers)


def _by_change(p: int, r: int) -> tuple[Cell, ...]:
    return tuple(Cell(f"ϕ² = {x:g}", 1000, p, r, r, x) for x in _CHANGES)


def _subset(moving: int) -> tuple[Cell, ...]:
    cells = _by_change(50, 5)
    return tuple(replace(cells[k], label=f"{moving} words, {cells[k].label}", moving=moving)
                 for k in (0, 2, 4))  # fmt: skip


def _fitted(cell: Cell, ranks: tuple[int, ...]) -> tuple[Cell, ...]:
    return tuple(replace(cell, label=f"{cell.label}fitted r = {r}", fitted=r) for r in ranks)


_LAWS = tuple(Cell(law, 1000, 20, 4, 4, 0.01, law=law) for law in (NORMAL, UNIFORM, EXPONENTIAL))
_STILL, _DYNAMIC = Cell("H₀, ", 1000, 50, 2, 2), Cell("H₁, ", 1000, 50, 2, 2, 0.01)

FIGURES = {
    "5.3": Figure("H₀; p = 20, r = 5", _by_documents(20, (25, 50, 100)), 3),
    "5.4": Figure("H₀; p = 50, r = 5", _by_documents(50, (55, 100, 200)), 3),
    "5.5": Figure("B₁ from N(0, ϕ²); n = 1000, p = 20, r = 4", _by_change(20, 4), 3),
    "5.6": Figure("B₁ from N(0, ϕ²); n = 1000, p = 50, r = 5", _by_change(50, 5), 3),
    "5.7": Figure("three distributions of B₁; n = 1000, p = 20, r = 4, as in Figure 5.5", _LAWS, 3),
    "5.8": Figure("few of 50 words move; n = 1000, r = 5",
                  _subset(2) + _subset(5) + _subset(7), 3),
    "5.13": Figure("H₀; n = 1000, p = 20, true r = 4",
                   _fitted(Cell("", 1000, 20, 4, 4), (2, 3, 4, 5)), 2),
    "5.14": Figure("n = 1000, p = 50, true r = 2; H₁: B₁ from N(0, 0.01)",
                   _fitted(_STILL, (2, 5, 8)) + _fitted(_DYNAMIC, (2, 5, 8)), 3),
}  # fmt: skip


def simulate(cell: Cell, noise: float, rng: np.random.Generator) -> tuple[Float64, Float64]:
    """Return X (n × p) and the times (n)."""
    A, B0 = rng.normal(size=(cell.n, cell.r)), rng.normal(size=(cell.r, cell.p))
    times = np.linspace(-1.0, 1.0, cell.n)
    X = A @ B0
    if cell.change:
        X += times[:, None] * (A @ changes(cell, rng))
    X += noise**0.5 * rng.normal(size=X.shape)
    return X, times


def changes(cell: Cell, rng: np.random.Generator) -> Float64:
    """Return B₁ (r × p); moving words come first."""
    shape = (cell.r, cell.p)
    if cell.law == UNIFORM:
        B1 = rng.uniform(0.0, 0.1, shape)
    elif cell.law == EXPONENTIAL:
        B1 = rng.exponential(0.1, shape)
    else:
        B1 = cell.change**0.5 * rng.normal(size=shape)
    if cell.moving is not None:
        B1[:, cell.moving :] = 0.0
    return B1

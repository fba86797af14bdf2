"""Probes of a converged Krylov space for eigenvectors that it missed.

A space grown from b random columns holds at most b vectors of an eigenvalue, in exact arithmetic
exactly as many as there are up to b. Of an eigenvalue of higher multiplicity the others are missed,
and smaller eigenvalues take their places. A probe is a Krylov space of a fresh random block,
orthogonal to the vectors found. Its Ritz values are lower bounds of the eigenvalues missed.

Two products find eigenvalues far above the last accepted one, or with many vectors missed. Copies
are missed only of values of which b were found. Where b of the values found are nearly equal, the
probe goes on until a copy of them would have shown, or for as many products as finding them took.
With eigenvalues from a to θ, its largest Ritz value, and one λ > θ, the Chebyshev polynomial of
degree d would lift the Ritz value above θ if T_d(1 + 2γ)² γ w ≥ 1, where γ = (λ − θ)/(θ − a) and w
is the squared length of the eigenvector's projection onto the random block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Float64
from wordgeom.linalg.krylov import BLOCK, Krylov

_PRODUCTS = 2  # blocks multiplied between two looks
_SHARE = 8.0  # times 1 / V: a projection onto b = 32 columns is shorter once in 10⁶ draws
_NEAR = 1.0  # values are nearly equal if they differ by this many tolerances


@dataclass
class Probes:
    """The probes of a search and the state of the one that runs.

    number: random blocks drawn; products: columns multiplied; found: Ritz values above the last
    accepted one.
    """

    number: int = 0
    products: int = 0
    found: int = 0
    running: bool = False
    began: int = 0  # products of the space when the probe began
    limit: float = 0.0  # a Ritz value above this was missed
    bound: float = np.inf  # copies of values above this may have been missed
    bottom: float = np.inf  # smallest Ritz value seen

    def needed(self, pairs: int) -> bool:
        """Return whether `pairs` exceed the random columns drawn; else no copies can be missed."""
        return (self.number + 1) * BLOCK < pairs

    def begin(self, space: Krylov, values: Float64, tolerances: Float64, kept: int) -> None:
        """Start a probe of a space whose largest Ritz `values` (k) have converged."""
        self.limit = float(values[-1] + tolerances[-1])
        self.bound = _crowded(values, tolerances, (self.number + 1) * BLOCK)
        self.running, self.began = True, space.products
        self.number += 1
        space.start_probe(kept)

    def look(self, space: Krylov) -> int | None:
        """Extend the probe; return how many missed values it holds, or None if undecided."""
        for _ in range(_PRODUCTS):
            if space.full:
                space.restart_probe()
            space.grow()
        values = space.probe_values()
        found, spent = int(np.count_nonzero(values > self.limit)), space.products - self.began
        self.bottom = min(self.bottom, float(values[-1]))
        excluded = _excluded(self.bound, values[0], self.bottom, spent // BLOCK - 1, space.rows)
        if not (found or excluded or spent >= self.began):
            return None
        self.running = False
        self.products += spent
        self.found += found
        return found

    def statistics(self) -> dict[str, int]:
        """Return the totals for the run card."""
        return {
            "probes": self.number,
            "probe_products": self.products,
            "probe_found": self.found,
        }

    def notes(self, values: str) -> list[str]:
        """Report that the first search missed some of the `values`."""
        reason = f"more than {BLOCK} may be nearly equal"
        note = f"random probes found {values} that the first search had missed ({reason})"
        return [note] if self.found else []

    def state(self) -> Array:
        """Return the state for `restored`."""
        return np.array([float(value) for value in vars(self).values()])

    @classmethod
    def restored(cls, state: Array) -> Probes:
        """Return the probes in a state."""
        fields = zip(vars(cls()).items(), state.tolist(), strict=True)
        return cls(**{name: type(old)(value) for (name, old), value in fields})


def _crowded(values: Float64, tolerances: Float64, width: int) -> float:
    """Return a bound below all runs of `width` nearly equal values, of which copies may be missed.

    A run that begins at the last value, to its tolerance, does not count: its copies are not among
    the largest. Infinite if there is no run.
    """
    first, last = values[: len(values) - width + 1], values[width - 1 :]
    near = _NEAR * tolerances[: len(first)]
    runs = (first - last <= near) & (first > values[-1] + tolerances[-1])
    return float(np.min((last - near)[runs], initial=np.inf))


def _excluded(value: float, top: float, bottom: float, degree: int, rows: int) -> bool:
    """Return whether an eigenvalue ≥ `value` would show in a probe of this degree and range."""
    if value <= top:
        return False
    gap = (value - top) / max(top - bottom, np.finfo(float).tiny)
    if not np.isfinite(gap):
        return True
    growth = 2 * (degree * np.arccosh(1 + 2 * gap) - np.log(2))  # of log T_d², less than 1 below
    return bool(growth + np.log(gap) >= np.log(rows / _SHARE))

"""What a method is: its inputs, its options, and the result that it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from wordgeom.core.types import Array, Float32


class Status(Enum):
    """How a computation ended; each status has its sentence."""

    CONVERGED = "converged"
    RANK_DEFICIENT = "rank_deficient"
    REACHED_BUDGET = "reached_budget"

    @property
    def sentence(self) -> str:
        """Return what the status means, for a user."""
        return _SENTENCES[self]

    @classmethod
    def of(cls, *, missed: bool, deficient: bool) -> Status:
        """Return the most serious status: a missed tolerance, then a missing dimension."""
        if missed:
            return cls.REACHED_BUDGET
        return cls.RANK_DEFICIENT if deficient else cls.CONVERGED


_SENTENCES = {
    Status.CONVERGED: "every tolerance was met",
    Status.RANK_DEFICIENT: "the data carry fewer dimensions than --dim; the other columns are zero",
    Status.REACHED_BUDGET: "the iteration limit was reached before the tolerance",
}


@dataclass
class Result:
    """What a method gives back.

    vectors (V × K) float32, C-order; arrays: named extras; notes: what a user must be told
    (a rank too small, no convergence); statistics: numbers for the run card.
    """

    vectors: Float32
    arrays: Mapping[str, Array] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    statistics: dict[str, Any] = field(default_factory=dict)
    status: Status = Status.CONVERGED

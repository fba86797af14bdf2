"""What every reader of a table gives: numbers, and names where the file holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wordgeom.core.types import Float64


@dataclass(frozen=True, eq=False)
class Table:
    """n entities and their d numbers, as a file has them.

    matrix (n × d) float64, C-order, nan where a number is missing; names (n), None where the file
    holds none; columns (d): what a message calls each, empty for their numbers; repeated: names
    that the reader met again and left out; notes: what was left unread or guessed.
    """

    matrix: Float64
    names: list[str] | None = None
    columns: Sequence[str] = ()
    repeated: int = 0
    notes: tuple[str, ...] = ()

    def column(self, number: int) -> str:
        """Return what a message calls column `number`, from 0."""
        return f"column {self.columns[number] if self.columns else number + 1}"

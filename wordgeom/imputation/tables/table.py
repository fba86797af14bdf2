"""The result of every table reader: numbers, and names if the file has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wordgeom.core.types import Float64


@dataclass(frozen=True, eq=False)
class Table:
    """n entities with d features each, as read from a file.

    matrix (n × d) float64, C-order, nan for missing values; names (n), or None; columns (d): names
    for messages, empty to use numbers; repeated: number of repeated names that the reader dropped;
    notes: what the reader ignored or guessed.
    """

    matrix: Float64
    names: list[str] | None = None
    columns: Sequence[str] = ()
    repeated: int = 0
    notes: tuple[str, ...] = ()

    def column(self, number: int) -> str:
        """Return the name of column `number`, from 0, in messages."""
        return f"column {self.columns[number] if self.columns else number + 1}"

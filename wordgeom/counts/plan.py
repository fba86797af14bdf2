"""What is counted, and how: the words, the window, the type of the counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Int32, Int64
from wordgeom.counts.count_rows import ENTRIES


@dataclass(frozen=True)
class Plan:
    """What to count: V words, weights (2 window + 1); symmetric: store only the upper triangle.

    sliding: count windows of window + 1 tokens; the values of the weights are then ignored, and in
    the stream V is a token without a row and V + 1 is no token. entries: of a block of rows.
    """

    words: int
    weights: Int32 | Int64
    symmetric: bool
    dtype: np.dtype[np.uint32] | np.dtype[np.int64]
    sliding: bool = False
    entries: int = ENTRIES

    @property
    def window(self) -> int:
        """Number of tokens on each side of a window."""
        return len(self.weights) // 2

    @property
    def halo(self) -> int:
        """Number of ids around a position on which its counts depend."""
        return 2 * self.window if self.sliding else self.window

    @property
    def outside(self) -> int:
        """The id outside all documents."""
        return self.words + 1 if self.sliding else self.words

"""Where each word of a chunk occurs, from which any block of rows can be counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Self

from wordgeom.core.types import Array, Int32, Int64
from wordgeom.counts import kernels, window_kernels
from wordgeom.counts.plan import Plan
from wordgeom.counts.sliding_windows import SlidingWindows


@dataclass(frozen=True)
class Occurrences:
    """A chunk, inverted.

    ids: of the chunk and its halo; places: positions in it, grouped by word; starts (V + 1): of the
    groups; sliding: the windows of the chunk, None where pairs are counted.
    """

    ids: Int32
    places: Int32
    starts: Int64
    sliding: SlidingWindows | None = None

    @property
    def arrays(self) -> list[Array]:
        """The arrays, from which `of` makes the occurrences again."""
        sliding = self.sliding
        windows: list[Array] = []
        if sliding is not None:
            windows = [sliding.far, sliding.near, sliding.repeats]
        return [self.ids, self.places, self.starts, *windows]

    @classmethod
    def of(cls, ids: Int32, places: Int32, starts: Int64, *windows: Array) -> Self:
        """Return the occurrences with these arrays."""
        return cls(ids, places, starts, SlidingWindows(ids, *windows) if windows else None)

    def kernel(self, block: tuple[int, int], plan: Plan) -> Callable[..., int]:
        """Return the kernel that counts the rows [first:last), for Workspace.count."""
        words, sliding = (self.ids, self.places, self.starts, *block), self.sliding
        if sliding is None:
            return partial(kernels.count_rows, *words, plan.weights, plan.symmetric)
        windows = plan.window, sliding.far, sliding.near, sliding.repeats
        return partial(window_kernels.count_rows, *words, *windows, plan.symmetric)

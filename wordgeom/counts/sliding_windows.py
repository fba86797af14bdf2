"""Find the sliding windows of a chunk before they are counted (`--count windows`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Int32, Int64
from wordgeom.counts import window_kernels as kernels

_AT_ONCE = 1 << 21  # ids per kernel call, between which Ctrl-C is handled


@dataclass(frozen=True)
class SlidingWindows:
    """The windows that belong to each position, as `window_kernels.find_windows` returns them.

    ids: V for everything but words; far, near (positions) int16; repeats (V) int64.
    """

    ids: Int32
    far: kernels.Int16
    near: kernels.Int16
    repeats: Int64

    @classmethod
    def find(cls, ids: Int32, begin: int, end: int, words: int, window: int) -> SlidingWindows:
        """Find the windows of `window` tokens at ids[begin:end); ids include a halo."""
        far, near = np.empty(len(ids), np.int16), np.empty(len(ids), np.int16)
        repeats = np.zeros(words, np.int64)
        before, rows = np.full(words, -1, np.int32), np.empty(len(ids), np.int32)
        first = 0
        for low in range(0, len(ids), _AT_ONCE):
            high = min(low + _AT_ONCE, len(ids))
            first = kernels.find_windows(
                ids, window, begin, end, low, high, first, before, far, near, repeats
            )
            np.minimum(ids[low:high], np.int32(words), out=rows[low:high])
        return cls(rows, far, near, repeats)

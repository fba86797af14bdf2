"""The windows of a chunk of a stream, found before they are counted (`--count windows`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Int32, Int64
from wordgeom.counts import window_kernels as kernels

_AT_ONCE = 1 << 21  # ids that are looked at before Ctrl-C is heeded


@dataclass(frozen=True)
class Sliding:
    """Which windows belong to each place, as `window_kernels.find_windows` tells.

    ids: V for all that is no word; far, near (places) int16; again (V) int64.
    """

    ids: Int32
    far: kernels.Int16
    near: kernels.Int16
    again: Int64

    @classmethod
    def find(cls, ids: Int32, begin: int, end: int, words: int, window: int) -> Sliding:
        """Find the windows of `window` tokens at ids[begin:end), with a halo around them."""
        far, near = np.empty(len(ids), np.int16), np.empty(len(ids), np.int16)
        again = np.zeros(words, np.int64)
        before, rows = np.full(words, -1, np.int32), np.empty(len(ids), np.int32)
        first = 0
        for low in range(0, len(ids), _AT_ONCE):
            high = min(low + _AT_ONCE, len(ids))
            first = kernels.find_windows(
                ids, window, begin, end, low, high, first, before, far, near, again
            )
            np.minimum(ids[low:high], np.int32(words), out=rows[low:high])
        return cls(rows, far, near, again)

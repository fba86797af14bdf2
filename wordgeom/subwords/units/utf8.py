"""Code points as their bytes in UTF-8, which fastText hashes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wordgeom.subwords.units.unit import BEGIN, END, Cut

_FOLLOWS, _MASK = 0x80, 0xC0  # the upper bits of bytes that continue a code point


class Utf8:
    """Cuts words at each code point, with bytes for symbols."""

    def cut(self, words: Sequence[str]) -> Cut:
        """Return words cut into code points; the symbols are bytes."""
        text = "".join(f"{BEGIN}{word}{END}" for word in words).encode("utf-8", "surrogatepass")
        symbols = np.frombuffer(text, np.uint8)
        units = np.flatnonzero((symbols & _MASK) != _FOLLOWS)
        numbers = np.fromiter((len(word) + 2 for word in words), np.int64, len(words))
        stops = np.cumsum(numbers)
        # Each word's units are followed by a bound where the next word begins.
        bounds = np.insert(units, stops, np.append(units, len(symbols))[stops])
        starts = np.concatenate(([0], stops)) + np.arange(len(words) + 1)
        return Cut(symbols.astype(np.uint32), bounds, starts)

"""Code points of Unicode, which are the characters of fastText."""

from __future__ import annotations

from collections.abc import Sequence

from wordgeom.subwords.units.unit import Cut, cut_at_each


class CodePoints:
    """Cuts words at each code point."""

    def cut(self, words: Sequence[str]) -> Cut:
        """Return words cut into code points."""
        return cut_at_each(words)

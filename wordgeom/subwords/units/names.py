"""The names of units."""

from __future__ import annotations

CODEPOINT, GRAPHEME, JAMO, MORPHS = "codepoint", "grapheme", "jamo", "morphs"
UNITS = (CODEPOINT, GRAPHEME, JAMO, MORPHS)

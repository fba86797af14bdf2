"""The units that words are cut into: one file for each, and the choice among them by name."""

from __future__ import annotations

from wordgeom.subwords.units.codepoints import CodePoints
from wordgeom.subwords.units.graphemes import Graphemes
from wordgeom.subwords.units.jamo import Jamo
from wordgeom.subwords.units.morphs import Morphs
from wordgeom.subwords.units.names import CODEPOINT, GRAPHEME, JAMO, MORPHS
from wordgeom.subwords.units.unit import Unit


def unit_named(name: str, morphs: Morphs | None = None) -> Unit:
    """Return a unit by its name; morphs: what MORPHS stands for."""
    if name == MORPHS:
        assert morphs is not None
        return morphs
    units: dict[str, Unit] = {CODEPOINT: CodePoints(), GRAPHEME: Graphemes(), JAMO: Jamo()}
    return units[name]

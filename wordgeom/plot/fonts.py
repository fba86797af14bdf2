"""Fonts for names in any script: the default, and others of this machine for what it lacks."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Iterable

from wordgeom.core.formatting import several

_DEFAULT = "DejaVu Sans"  # comes with matplotlib
_LISTED = 5  # characters named in a note
_REGULAR = 400
_SHAPED = (3, 11)  # first version of matplotlib that joins and reorders letters
_log = logging.getLogger("wordgeom")


def font_families(texts: Iterable[str]) -> list[str]:
    """Return font families that have the characters of `texts`, as far as this machine has them.

    Notes the characters that no font has, and scripts that this matplotlib cannot set.
    """
    wanted = _printable(texts)
    families, lacking = _covering(wanted)
    if lacking:
        shown = " ".join(map(chr, sorted(lacking)[:_LISTED]))
        shown += " …" if len(lacking) > _LISTED else ""
        what = several(len(lacking), "character", "characters")
        do = "install a font that has them, such as Noto Sans or Noto Sans CJK"
        _log.warning("note: no font has %s (%s), drawn as boxes; %s", what, shown, do)
    if any(unicodedata.bidirectional(chr(code)) in ("R", "AL") for code in wanted) and _unshaped():
        do = "install matplotlib 3.11 or newer"
        _log.warning("note: text from right to left is drawn from left to right; %s", do)
    return families


def lacking_characters(texts: Iterable[str]) -> set[str]:
    """Return the characters of `texts` that no font of this machine has."""
    return set(map(chr, _covering(_printable(texts))[1]))


def _printable(texts: Iterable[str]) -> set[int]:
    return {ord(char) for text in texts for char in text if char.isprintable()}


def _covering(wanted: set[int]) -> tuple[list[str], set[int]]:
    """Return font families that have the wanted characters, and the characters that none has."""
    families = [_DEFAULT]
    lacking = wanted - _characters(_DEFAULT)
    for name in _others() if lacking else ():
        if found := lacking & _characters(name):
            families.append(name)
            lacking -= found
        if not lacking:
            break
    return families, lacking


def _unshaped() -> bool:
    import matplotlib

    return tuple(int(part) for part in matplotlib.__version__.split(".")[:2]) < _SHAPED


def _others() -> list[str]:
    """Return the upright families of this machine: sans-serif ones first, then by name."""
    from matplotlib.font_manager import fontManager

    upright = {f.name for f in fontManager.ttflist
               if f.style == "normal" and f.weight == _REGULAR}  # fmt: skip
    return sorted(upright - {_DEFAULT}, key=lambda name: ("Sans" not in name, name))


def _characters(family: str) -> set[int]:
    """Return the characters of a family's regular font."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    try:
        return set(get_font(findfont(FontProperties(family=family))).get_charmap())
    except (OSError, RuntimeError, ValueError):  # a broken font of this machine
        return set()

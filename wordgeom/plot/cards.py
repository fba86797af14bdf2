"""Series of numbers from run cards, and the lines that distinguish them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.core.errors import InputError, MissingInputError
from wordgeom.core.types import Float64
from wordgeom.plot.colours import OKABE_ITO
from wordgeom.vectors.run_card import read_card

_DASHES = ("-", "--", ":", "-.")
_INKS = tuple(ink for ink in OKABE_ITO if ink != "#F0E442")  # yellow is too pale for a line
_FEW = 20  # values below which they have markers


def read_statistics(path: Path, do: str) -> dict[str, Any]:
    """Return the statistics in the run card of a vectors file; do: the remedy without a card.

    Raises MissingInputError for a missing file, InputError if no card matches it.
    """
    if path.is_dir():
        raise MissingInputError("is a directory", where=path, do="pass a vectors file")
    if not path.is_file():
        raise MissingInputError("no such file", where=path, do="check the path")
    card = read_card(path)
    if card is None:
        raise InputError("no matching run card", where=path, do=do)
    statistics = card.get("statistics")
    return statistics if isinstance(statistics, dict) else {}


def numbers(listed: object) -> Float64:
    """Return a list of finite numbers from a run card, empty for any other value."""
    try:
        found = np.asarray(listed, np.float64)
    except (TypeError, ValueError):
        return np.empty(0)
    valid = found.ndim == 1 and bool(np.isfinite(found).all())
    return found if valid else np.empty(0)


def line_style(number: int, values: int) -> dict[str, Any]:
    """Return dashes and colour of the n-th line, and markers where it has few values."""
    dashes, ink = _DASHES[number % len(_DASHES)], _INKS[number % len(_INKS)]
    style: dict[str, Any] = {"linestyle": dashes, "color": ink, "linewidth": 1.3}
    return style | ({"marker": "o", "markersize": 3} if values < _FEW else {})

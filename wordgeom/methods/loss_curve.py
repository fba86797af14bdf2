"""The loss curve of a run card: losses at some steps, which `plot loss` draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_POINTS = 200


def loss_curve(losses: Sequence[float], unit: str, first: int) -> dict[str, Any]:
    """Return `losses` and `loss_<unit>s`, where they are: all, or 200 at equal ratios.

    losses: at the units first, first + 1, … The first and the last are among those returned.
    """
    chosen = np.arange(1, len(losses) + 1)
    if len(chosen) > _POINTS:
        chosen = np.unique(np.geomspace(1, len(losses), _POINTS).round().astype(int))
    places = (chosen - 1).tolist()
    at = [first + place for place in places]
    return {f"loss_{unit}s": at, "losses": [losses[place] for place in places]}

"""What a window counts: how far it looks, to which side, and what a distance weighs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from wordgeom.options import Options, option
from wordgeom.types import Int32, Int64

_EXACT_HARMONIC = 20  # up to here lcm(1..window) leaves room for 2^31 occurrences in an int64
_FIXED_POINT = 1 << 32


@dataclass(frozen=True)
class WindowOptions(Options):
    """Which pairs of tokens are counted, and with what weight."""

    window: int = option(
        5, "how many tokens to look at on each side", low=1, high=1000, metavar="N"
    )
    window_weight: str = option(
        "harmonic",
        "weight of a pair at distance d: flat 1, harmonic 1/d (GloVe), "
        "dynamic (window − d + 1)/window (word2vec)",
        choices=("flat", "harmonic", "dynamic"),
    )
    context: str = option(
        "both",
        "count tokens on both sides, or on one side only (the matrix is then not symmetric)",
        choices=("both", "left", "right"),
    )


def denominator(options: WindowOptions) -> int:
    """Return what a stored count must be divided by: counts are whole numbers of 1/denominator."""
    if options.window_weight == "flat":
        return 1
    if options.window_weight == "dynamic":
        return options.window
    if options.window <= _EXACT_HARMONIC:
        return math.lcm(*range(1, options.window + 1))
    return _FIXED_POINT


def weights(options: WindowOptions) -> Int32 | Int64:
    """(2 window + 1) weight of the token at each distance, in units of 1/denominator.

    int32 unless the unit is 2⁻³².
    """
    unit = denominator(options)
    distances = range(1, options.window + 1)
    if options.window_weight == "flat":
        side = [1 for _ in distances]
    elif options.window_weight == "dynamic":
        side = [options.window - d + 1 for d in distances]
    else:  # the nearest whole number of units: exact while the unit is 1/lcm
        side = [(2 * unit + d) // (2 * d) for d in distances]
    nothing = [0] * options.window
    left = nothing if options.context == "right" else side[::-1]
    right = nothing if options.context == "left" else side
    both = np.array([*left, 0, *right], np.int64)
    return both if unit == _FIXED_POINT else both.astype(np.int32)

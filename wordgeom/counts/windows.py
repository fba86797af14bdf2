"""What a window counts: how far it looks, to which side, and what a distance weighs.

`--count windows` is the count of Khalife, Gonçalves and Liberti (2022, §1 and §4.1): C_ij is how
many windows of w consecutive tokens hold both words. None reaches across the end of a document, and
one that holds the words many times counts once. Two things the paper leaves open. C_ii is how many
windows hold the word twice or more: as in `pairs`, a token does not occur together with itself. A
document of fewer than w tokens is one window, so that none is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, flag, option
from wordgeom.core.types import Int32, Int64

_EXACT_HARMONIC = 20  # up to here lcm(1..window) leaves room for 2^31 occurrences in an int64
_FIXED_POINT = 1 << 32
PAIRS, WINDOWS = "pairs", "windows"


@dataclass(frozen=True)
class WindowOptions(Options):
    """Which pairs of tokens are counted, and with what weight."""

    window: int = option(
        5, "how many tokens to look at on each side; with --count windows, a window's length",
        low=1, high=1000, metavar="N",
    )  # fmt: skip
    count: str = option(
        PAIRS,
        "pairs: each pair of tokens near each other; windows: each window of --window tokens "
        "that holds both words, once; a shorter document is one window",
        choices=(PAIRS, WINDOWS),
    )
    window_weight: str | None = option(
        None,
        "weight of a pair at distance d: flat 1, harmonic 1/d (GloVe), "
        "dynamic (window − d + 1)/window (word2vec)  [harmonic, with --count windows flat]",
        choices=("flat", "harmonic", "dynamic"),
    )
    context: str = option(
        "both",
        "count tokens on both sides, or on one side only (the matrix is then not symmetric)",
        choices=("both", "left", "right"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.count == PAIRS:
            return
        if self.window < 2:
            do = "pass --window 2 or more"
            raise OptionError("a window of one token holds no two words", found="--window 1", do=do)
        _refuse_with_windows("window_weight", self.weight, "flat")
        _refuse_with_windows("context", self.context, "both")

    @property
    def weight(self) -> str:
        """The weight that was asked for, else the one that goes with the way of counting."""
        return self.window_weight or ("harmonic" if self.count == PAIRS else "flat")

    def result_options(self) -> dict[str, Any]:
        """Return the options that decide the counts, by name; the weight is the one in use."""
        return {**super().result_options(), "window_weight": self.weight}


def _refuse_with_windows(name: str, value: str, only: str) -> None:
    if value != only:
        do = f"pass {flag(name)} {only}, or --count pairs"
        raise OptionError("--count windows counts every window as 1, for both words",
                          found=f"{flag(name)} {value}", do=do)  # fmt: skip


def reach(options: WindowOptions) -> int:
    """Return how far apart two tokens can be and count."""
    return options.window - 1 if options.count == WINDOWS else options.window


def denominator(options: WindowOptions) -> int:
    """Return what a stored count must be divided by: counts are whole numbers of 1/denominator."""
    if options.weight == "flat":
        return 1
    if options.weight == "dynamic":
        return options.window
    if options.window <= _EXACT_HARMONIC:
        return math.lcm(*range(1, options.window + 1))
    return _FIXED_POINT


def weights(options: WindowOptions) -> Int32 | Int64:
    """(2 reach + 1) weight of the token at each distance, in units of 1/denominator.

    int32 unless the unit is 2⁻³².
    """
    unit = denominator(options)
    distances = range(1, reach(options) + 1)
    if options.weight == "flat":
        side = [1 for _ in distances]
    elif options.weight == "dynamic":
        side = [options.window - d + 1 for d in distances]
    else:  # the nearest whole number of units: exact while the unit is 1/lcm
        side = [(2 * unit + d) // (2 * d) for d in distances]
    nothing = [0] * len(side)
    left = nothing if options.context == "right" else side[::-1]
    right = nothing if options.context == "left" else side
    both = np.array([*left, 0, *right], np.int64)
    return both if unit == _FIXED_POINT else both.astype(np.int32)

"""Window options: width, side, and the weight of each distance.

`--count windows` is the count of Khalife, Gonçalves and Liberti (2022, §1 and §4.1): C_ij is the
number of windows of w consecutive tokens that contain both words. A window lies within one document
and counts once, however often it contains the words. The paper leaves two cases open. Here C_ii is
the number of windows that contain the word at least twice: as in `pairs`, a token does not
co-occur with itself. A document of fewer than w tokens is one window, so that it is counted too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, flag, option
from wordgeom.core.types import Int32, Int64

_EXACT_HARMONIC = 20  # largest window for which 2^31 occurrences of lcm(1..window) fit an int64
_FIXED_POINT = 1 << 32
PAIRS, WINDOWS = "pairs", "windows"


@dataclass(frozen=True)
class WindowOptions(Options):
    """Which pairs of tokens are counted, and their weights."""

    window: int = option(
        10, "context tokens on each side; with --count windows, the window length",
        low=1, high=1000, metavar="N",
    )  # fmt: skip
    count: str = option(
        PAIRS,
        "count pairs of nearby tokens, or windows that contain both words",
        choices=(PAIRS, WINDOWS),
    )
    window_weight: str | None = option(
        None,
        "weight at distance d: flat 1, harmonic 1/d (GloVe), "
        "dynamic (window − d + 1)/window (word2vec)  [harmonic; --count windows: flat]",
        choices=("flat", "harmonic", "dynamic"),
    )
    context: str = option(
        "both",
        "side of the context; left and right give asymmetric counts",
        choices=("both", "left", "right"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.count == PAIRS:
            return
        if self.window < 2:
            do = "pass --window 2 or more"
            raise OptionError("--window 1 is one token, which contains no pair", do=do)
        _require_with_windows("window_weight", self.weight, "flat")
        _require_with_windows("context", self.context, "both")

    @property
    def weight(self) -> str:
        """The weight: --window-weight, or the default of the --count."""
        return self.window_weight or ("harmonic" if self.count == PAIRS else "flat")

    def result_options(self) -> dict[str, Any]:
        """Return the options that determine the counts, by name, with the actual weight."""
        return {**super().result_options(), "window_weight": self.weight}


def _require_with_windows(name: str, value: str, only: str) -> None:
    if value != only:
        do = f"pass {flag(name)} {only}, or --count pairs"
        raise OptionError(f"--count windows does not support {flag(name)} {value}", do=do)


def reach(options: WindowOptions) -> int:
    """Return the largest distance of two tokens that are counted together."""
    return options.window - 1 if options.count == WINDOWS else options.window


def denominator(options: WindowOptions) -> int:
    """Return the divisor of stored counts, which are whole multiples of 1/denominator."""
    if options.weight == "flat":
        return 1
    if options.weight == "dynamic":
        return options.window
    if options.window <= _EXACT_HARMONIC:
        return math.lcm(*range(1, options.window + 1))
    return _FIXED_POINT


def weights(options: WindowOptions) -> Int32 | Int64:
    """(2 reach + 1) weight of the token at each distance, in units of 1/denominator.

    int32, or int64 if the unit is 2⁻³².
    """
    unit = denominator(options)
    distances = range(1, reach(options) + 1)
    if options.weight == "flat":
        side = [1 for _ in distances]
    elif options.weight == "dynamic":
        side = [options.window - d + 1 for d in distances]
    else:  # rounded to whole units; exact if the unit is 1/lcm
        side = [(2 * unit + d) // (2 * d) for d in distances]
    zeros = [0] * len(side)
    left = zeros if options.context == "right" else side[::-1]
    right = zeros if options.context == "left" else side
    both = np.array([*left, 0, *right], np.int64)
    return both if unit == _FIXED_POINT else both.astype(np.int32)

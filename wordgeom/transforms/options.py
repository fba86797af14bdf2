"""Options of `wordgeom transform`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, flag, option

BEST = "best"
DIAGONAL, TRIANGULAR, LOW_RANK = "diagonal", "triangular", "low-rank"
_LARGEST_POWER = 10.0
_OF_FIT = ("map", "map_rank", "penalty", "folds")


@dataclass(frozen=True)
class TransformOptions(Options):
    """The steps, in the order in which they are applied, and the options of --fit."""

    normalise: bool = option(False, "scale each vector to length 1")
    center: bool = option(False, "subtract the mean of the vectors")
    remove_top: int = option(
        0, "subtract the mean and remove the D leading principal components", low=0, metavar="D"
    )
    dim: int | None = option(
        None, "keep the K leading singular directions", low=1, metavar="K"
    )  # fmt: skip
    canonical: bool = option(False, "rotate to the SVD-canonical form UΣ, with fixed signs")
    power: str | None = option(
        None, "raise the singular values to this power; best: chosen on word pairs", metavar="X"
    )  # fmt: skip
    orthonormal: bool = option(False, "replace V by Q of V = QR: orthonormal columns")
    map: str = option(
        DIAGONAL,
        "linear map of --fit: weights of singular directions, upper triangular, or I + UVᵀ",
        choices=(DIAGONAL, TRIANGULAR, LOW_RANK),
    )  # fmt: skip
    map_rank: int = option(5, "rank of UVᵀ with --map low-rank", low=1, metavar="N")
    penalty: float | None = option(
        None, "penalty of --fit on the log weights, or the displacement  [cross-validated]",
        low=1e-9, high=1e9,
    )  # fmt: skip
    folds: int = option(5, "folds of words that choose the penalty of --fit", low=2, high=1000)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.power is not None:
            _check_power(self.power)
            if self.orthonormal:
                what = "--power has no effect with --orthonormal, which makes all of them 1"
                raise OptionError(what, do="omit one of the two")

    def check_inputs(self, fit: Path | None, align: Path | None, pairs: Path | None) -> None:
        """Raise OptionError where an option lacks its file or a file its option, or for no step."""
        if fit is None and (given := [name for name in _OF_FIT if self.is_set(name)]):
            raise OptionError(f"{flag(given[0])} has no effect without --fit", do="omit it")
        if fit is not None and self.map == DIAGONAL and (self.orthonormal or self.exponent == 0):
            after = "--orthonormal" if self.orthonormal else "--power 0"
            what = f"--map diagonal weights singular directions; after {after} all are equal"
            raise OptionError(what, do=f"pass --map triangular or low-rank, or omit {after}")
        if self.map != LOW_RANK and self.is_set("map_rank"):
            raise OptionError("--map-rank needs --map low-rank", do="omit one of the two")
        if self.penalty is not None and self.is_set("folds"):
            raise OptionError("--folds has no effect with --penalty", do="omit one of the two")
        if self.power == BEST and pairs is None and fit is None:
            do = "name a file of word pairs: --power-pairs FILE"
            raise OptionError("--power best needs word pairs", do=do)
        if self.power != BEST and pairs is not None:
            raise OptionError("--power-pairs needs --power best", do="omit one of the two")
        steps = ("normalise", "center", "remove_top", "dim", "canonical", "power", "orthonormal")
        if not (fit or align or any(getattr(self, name) for name in steps)):
            do = "pass one, such as --canonical"
            raise OptionError("transform needs a step", do=do)

    @property
    def exponent(self) -> float | None:
        """The power as a number, None for none or the best."""
        return None if self.power in (None, BEST) else float(str(self.power))


def _check_power(power: str) -> None:
    """Raise OptionError for a power that is neither a number in range nor `best`."""
    try:
        fine = power == BEST or abs(float(power)) <= _LARGEST_POWER  # not for nan
    except ValueError:
        fine = False
    if not fine or (power != BEST and not math.isfinite(float(power))):
        most = f"{_LARGEST_POWER:g}"
        what = f"--power must be {BEST} or a number between -{most} and {most}"
        raise OptionError(what, found=repr(power))

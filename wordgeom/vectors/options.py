"""Options of `wordgeom compress`, `similar` and `analogy`."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, option

BEST, TSM = "best", "tsm"
REDUCERS = ("svd", "svd-unit", TSM)  # of stages/reducers.py
BITS = (4, 8)  # of a number


@dataclass(frozen=True)
class CompressOptions(Options):
    """How vectors are reduced, and how their numbers are quantised."""

    dim: int | None = option(
        None, "dimension of the reduced vectors  [128, or all columns of fewer]", low=1, metavar="K"
    )
    reducer: str = option(
        BEST, "reduction; best: the one with the highest neighbour recall",
        choices=(BEST, *REDUCERS),
    )  # fmt: skip
    bits: int = option(4, "bits of a number, 4 or 8", metavar="N")
    pq: int | None = option(
        None, "quantise products instead: M bytes per vector", low=1, metavar="M"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bits not in BITS:
            raise OptionError("--bits must be 4 or 8", found=self.bits)
        if self.pq is not None and self.is_set("bits"):
            raise OptionError("--pq and --bits exclude each other", do="pass one of them")


@dataclass(frozen=True)
class NeighbourOptions(Options):
    """How many neighbours are listed."""

    top: int = option(10, "number of words to list", low=1, metavar="N")

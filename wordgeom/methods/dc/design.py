"""What the options of divide and conquer stand for: sizes of blocks, and how they are merged."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.errors import OptionError
from wordgeom.methods.dc.plan import CHAIN, CORE

FREQUENCY, CORENESS = "frequency", "coreness"
EIGS, GBU = "eigs", "gbu"
RIGID, ROTATION = "rigid", "rotation"
_ANCHORS = 4  # times K: words that realise a block by the build-up (§5)


@dataclass(frozen=True)
class Design:
    """The design of a run; an overlap of 0 stands for its default."""

    dim: int
    first_block: int
    block: int
    overlap: int
    sweeps: int = 0
    order: str = CORENESS
    merge: str = CHAIN
    block_solver: str = EIGS
    alignment: str = RIGID
    tol: float = 1e-3

    def __post_init__(self) -> None:
        overlap = self.overlap or (self.first_block if self.least_squares else self.dim + 1)
        object.__setattr__(self, "overlap", overlap)
        self._check()

    @property
    def least_squares(self) -> bool:
        """Whether later words are solved against the vectors of a common core."""
        return self.merge == CORE and self.block_solver == GBU

    @property
    def rigid(self) -> bool:
        """Whether blocks are aligned with a translation."""
        return self.alignment == RIGID and not self.least_squares

    @property
    def own(self) -> int:
        """The own words of a later block; a common core comes on top of them."""
        return self.block if self.merge == CORE else self.block - self.overlap

    @property
    def anchors(self) -> int:
        """The number of words that realise a later block by the build-up; 0: all of them."""
        return max(self.overlap, _ANCHORS * self.dim) if self.block_solver == GBU else 0

    def _check(self) -> None:
        """Raise OptionError for blocks that cannot be aligned."""
        least = self.dim + 1
        if self.first_block < least:
            do = f"raise --first-block to {least} or lower --dim"
            raise OptionError(f"--first-block {self.first_block} is below --dim + 1", do=do)
        if self.overlap < least:
            do = f"raise --overlap to {least} or lower --dim"
            raise OptionError(f"--overlap {self.overlap} is below --dim + 1", do=do)
        if self.overlap > self.first_block:
            what = f"--overlap {self.overlap} exceeds the first block of {self.first_block} words"
            raise OptionError(what, do="lower --overlap or raise --first-block")
        if self.merge != CORE and self.own < self.overlap:
            what = f"--block {self.block} is less than twice the overlap of {self.overlap} words"
            raise OptionError(what, do=f"raise --block to {2 * self.overlap} or lower --overlap")

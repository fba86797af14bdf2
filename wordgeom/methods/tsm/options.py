"""The options of thresholded similarity matching, and which of them exclude one another."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core import options as base
from wordgeom.core.errors import OptionError
from wordgeom.core.options import flag, option

FREQUENCY, RANDOM, FARTHEST = "frequency", "random", "farthest"
_OF_LANDMARKS = ("landmark_choice", "neighbours", "weight_penalty", "tol")


@dataclass(frozen=True)
class Options(base.Options):
    """Options of thresholded similarity matching."""

    dim: int = option(32, "dimension of the vectors", low=1, metavar="K")
    tau: float = option(
        0.0, "cosine above which items are similar; 0: chosen by --sparsity", low=0.0, high=1.0
    )
    sparsity: float = option(
        0.99, "share of the pairs that are not similar", low=0.0, high=1.0, metavar="SHARE"
    )
    updates: int = option(250, "alternating updates", low=1, high=10**6, metavar="N")
    momentum: float = option(0.9, "momentum of the updates; 0: none", low=0.0, high=0.999)
    sum_constraint: str = option(
        "off", "constraint on the sum of Z: at least that of the inputs, at most, or none",
        choices=("off", "paper", "reversed"),
    )  # fmt: skip
    low_memory: bool = option(False, "recompute Z for each product, without n × n arrays")
    landmarks: int = option(
        0, "items to embed first; the others by local reconstruction; 0: all", low=0, metavar="N"
    )
    landmark_choice: str = option(
        FREQUENCY, "landmarks: the first items, random ones, or those farthest from one another",
        choices=(FREQUENCY, RANDOM, FARTHEST),
    )  # fmt: skip
    neighbours: int = option(
        0, "neighbours that reconstruct an item; 0: 2 for each dimension", low=0, metavar="N"
    )
    weight_penalty: float = option(
        0.01, "penalty on reconstruction weights, relative to squared lengths", low=0.0, high=1.0
    )
    tol: float = option(1e-3, "relative residual of the reconstruction", low=0.0, high=1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tau and self.is_set("sparsity"):
            raise OptionError("--tau excludes --sparsity", do="pass one of the two")
        if (self.tau == 0.0 and "tau" in self.given) or self.tau == 1.0:
            what = "--tau must be above 0 and below 1"
            raise OptionError(what, found=self.tau, do="see the cosines of similar items")
        if not 0.0 < self.sparsity < 1.0:
            raise OptionError("--sparsity must be above 0 and below 1", found=self.sparsity)
        if self.weight_penalty <= 0.0:
            raise OptionError("--weight-penalty must be above 0", found=self.weight_penalty)
        for name in _OF_LANDMARKS:
            if self.is_set(name) and not self.landmarks:
                what = f"{flag(name)} has no effect without --landmarks"
                raise OptionError(what, do=f"omit {flag(name)}")
        if self.landmarks and self.landmarks < self.reconstructing:
            what = f"--landmarks {self.landmarks} are fewer than {self.reconstructing} neighbours"
            raise OptionError(what, do="raise --landmarks, or lower --neighbours")

    @property
    def reconstructing(self) -> int:
        """The number of neighbours that reconstruct an item."""
        return self.neighbours or 2 * self.dim

"""The options of imputation, the domain's aside."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, option

SIMPLEX, NNLS = "simplex", "nnls"
EXACT, POWER = "exact", "power"
AUTO, ALL = "auto", "exact"


@dataclass(frozen=True)
class ImputeOptions(Options):
    """How entities without a vector get one (Yao et al. 2019, §4; the defaults are theirs)."""

    delta: int = option(8, "neighbours of an entity, at least", low=1)
    weights: str = option(
        SIMPLEX, "weights of neighbours: best of sum 1, or the paper's, best and then scaled",
        choices=(SIMPLEX, NNLS),
    )  # fmt: skip
    weight_epsilon: float = option(
        0.0, "add this much of the least positive weight to each weight", low=0.0, high=1.0
    )
    neighbours: str = option(
        AUTO, "auto: all true neighbours, or nearly all by an index where that costs less",
        choices=(AUTO, ALL),
    )  # fmt: skip
    solver: str = option(
        EXACT, "solve the sparse system, or iterate as the paper does", choices=(EXACT, POWER)
    )
    eta: float = option(
        1e-2, "end of power's iterations: relative change, a sum of absolute values", low=0.0
    )
    max_iterations: int = option(10_000, "the most iterations", low=1)
    only_entities: bool = option(False, "write the entities alone, in the domain's order")
    validate: int = option(
        0, "also hide known vectors in so many folds, and judge what is imputed for them", low=0,
        metavar="FOLDS", result=False,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.validate == 1:
            raise OptionError("--validate must be 0 or at least 2", found=1)

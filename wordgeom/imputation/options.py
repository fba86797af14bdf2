"""Options of `wordgeom impute`, except those of the domain."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, flag, option

SIMPLEX, NNLS = "simplex", "nnls"
EXACT, POWER = "exact", "power"
AUTO, ALL = "auto", "exact"


@dataclass(frozen=True)
class ImputeOptions(Options):
    """Hyperparameters of latent semantic imputation (Yao et al. 2019, §4; its defaults)."""

    delta: int = option(8, "minimum number of neighbours per entity", low=1)
    weights: str = option(
        SIMPLEX, "neighbour weights: sum constrained to 1, or NNLS then normalised",
        choices=(SIMPLEX, NNLS),
    )  # fmt: skip
    weight_epsilon: float = option(
        0.0, "add this multiple of the smallest positive weight to each", low=0.0, high=1.0
    )
    neighbours: str = option(
        AUTO, "nearest neighbours: exact, or approximate when faster (auto)", choices=(AUTO, ALL)
    )
    solver: str = option(
        EXACT, "solve the sparse system, or use the power iteration", choices=(EXACT, POWER)
    )
    eta: float = option(1e-2, "power iteration: tolerance, relative l1 change", low=0.0)
    max_iterations: int = option(10_000, "power iteration: maximum number of iterations", low=1)
    drop_zero: bool = option(False, "drop zero vectors; their entities are imputed")
    only_entities: bool = option(False, "write only the entities, in the domain's order")
    validate: int = option(
        0, "cross-validate on known vectors with FOLDS folds", low=0, metavar="FOLDS", result=False
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.validate == 1:
            raise OptionError("--validate must be 0 or at least 2", found=1)
        for name in ("eta", "max_iterations"):
            if self.is_set(name) and self.solver != POWER:
                do = "add --solver power, or omit it"
                raise OptionError(f"{flag(name)} has no effect with --solver {EXACT}", do=do)

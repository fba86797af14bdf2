"""The option --dim of methods that can choose it: a number, or a rule that finds one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from wordgeom.core.options import Options, option
from wordgeom.methods.contract import Result

if TYPE_CHECKING:
    from wordgeom.linalg.dimension.choice import Choice

AUTO, _DEFAULT = "auto", "parallel"
_RULES = (_DEFAULT, "eigengap", "pip")


@dataclass(frozen=True)
class DimOptions(Options):
    """The option --dim; `auto` stands for `auto:parallel`."""

    dim: int | str = option(
        100, "dimension of the vectors; auto: chosen by parallel analysis, or as named",
        low=1, metavar="K", words=(AUTO, *(f"{AUTO}:{rule}" for rule in _RULES)),
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dim == AUTO:
            object.__setattr__(self, "dim", f"{AUTO}:{_DEFAULT}")

    @property
    def size(self) -> int:
        """The dimension; 0 as long as a rule is to choose it."""
        return 0 if isinstance(self.dim, str) else self.dim

    @property
    def rule(self) -> str:
        """The rule that is to choose the dimension, "" where that is a number."""
        return self.dim.removeprefix(f"{AUTO}:") if isinstance(self.dim, str) else ""


_Options = TypeVar("_Options", bound=DimOptions)


def fit_with(
    options: _Options, choose: Callable[[], Choice], fit: Callable[[_Options], Result]
) -> Result:
    """Return fit(options), after `choose` where --dim is to be chosen: the result of --dim K."""
    if not options.rule:
        return fit(options)
    choice = choose()
    made = fit(options.but(dim=choice.dim))
    return replace(made, notes=[*choice.notes, *made.notes],
                   statistics={**made.statistics, **choice.statistics})  # fmt: skip

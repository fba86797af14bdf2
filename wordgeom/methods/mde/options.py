"""The options of minimum-distortion embedding, and which of them exclude one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from wordgeom.core import options as base
from wordgeom.core.errors import OptionError
from wordgeom.core.options import flag, option, specs
from wordgeom.methods.mde.recipes import SETTINGS, SPECTRAL

NEIGHBOURS, WEIGHTS, DEVIATIONS, DISTANCES, PATHS = (
    "neighbours", "weights", "deviations", "distances", "paths",
)  # fmt: skip
CENTERED, ANCHORED, STANDARDIZED = "centered", "anchored", "standardized"
COSINE, EUCLIDEAN = "cosine", "euclidean"
WEIGHTED, COUNTS = "weighted", "counts"
QUADRATIC, RANDOM, NONE = "quadratic", "random", "none"
OF_DEVIATIONS = (DEVIATIONS, DISTANCES, PATHS)  # the graphs whose pairs have deviations
_OF_FILE = {DISTANCES: DEVIATIONS}  # a recipe's graph, and what --pairs makes of it
# The options that have an effect only with some graphs.
_OF_GRAPHS = {
    "neighbours": (NEIGHBOURS, PATHS), "similarity": (NEIGHBOURS,),
    "metric": (NEIGHBOURS, DISTANCES, PATHS),
    "dissimilar": (NEIGHBOURS, WEIGHTS), "attraction": (NEIGHBOURS, WEIGHTS),
    "repulsion": (NEIGHBOURS, WEIGHTS), "repulsion_exponent": (NEIGHBOURS, WEIGHTS),
    "nearby": (NEIGHBOURS, WEIGHTS), "repulsion_weight": (NEIGHBOURS, WEIGHTS),
    "loss": OF_DEVIATIONS, "samples": (DISTANCES, PATHS), "longest": (PATHS,),
}  # fmt: skip
# The parameters of each function of `distortions`, which `--help` does not import.
ATTRACTIONS = {
    "log1p": ("exponent",), "power": ("exponent",), "huber": ("threshold",),
    "logistic": ("threshold", "sharpness"),
}  # fmt: skip
REPULSIONS = ("log", "inverse-power", "logratio")
LOSSES: dict[str, tuple[str, ...]] = {
    "quadratic": (), "weighted": ("exponent",), "huber": ("threshold",), "absolute": (),
    "logistic": (), "fractional": (), "soft-fractional": ("sharpness",),
}  # fmt: skip
_PARAMETERS = ("exponent", "threshold", "sharpness")


@dataclass(frozen=True)
class Options(base.Options):
    """Options of minimum-distortion embedding."""

    dim: int = option(
        100, "dimension of the vectors; default with --anchors or --init: that of its vectors",
        low=1, metavar="K",
    )  # fmt: skip
    recipe: str = option(NONE, "named settings: those of another method", choices=(NONE, *SETTINGS))
    graph: str = option(
        NEIGHBOURS, "pairs: neighbours, those of --pairs, sampled distances or shortest paths",
        choices=(NEIGHBOURS, WEIGHTS, *OF_DEVIATIONS),
    )  # fmt: skip
    neighbours: int = option(15, "similar items of each item", low=1, metavar="N")
    metric: str = option(
        COSINE, "distance of vectors; cosine: of vectors of length 1", choices=(COSINE, EUCLIDEAN)
    )
    similarity: str = option(
        WEIGHTED, "which entries of a matrix make words similar: its PMI as weighted, or counts",
        choices=(WEIGHTED, COUNTS),
    )  # fmt: skip
    dissimilar: float = option(
        3.0, "random dissimilar pairs for each similar pair; 0 with --pairs that has such pairs",
        low=0.0, high=100.0, metavar="X",
    )  # fmt: skip
    nearby: int = option(
        60, "dissimilar items near each item of a map with --dim 2 or 3; 0: random pairs alone",
        low=0, high=1000, metavar="N",
    )  # fmt: skip
    repulsion_weight: float = option(
        0.1, "weight of each dissimilar pair with --nearby, where those in use stand for all",
        low=1e-9, high=1e6, metavar="X",
    )  # fmt: skip
    samples: int = option(
        2_000_000, "maximum number of sampled distances or paths", low=1, metavar="N"
    )
    longest: float = option(0.0, "length of the longest path to use; 0: any", low=0.0, metavar="X")
    attraction: str = option(
        "log1p", "distortion function of similar pairs", choices=tuple(ATTRACTIONS)
    )
    repulsion: str = option("log", "distortion function of dissimilar pairs", choices=REPULSIONS)
    loss: str = option("quadratic", "distortion function of deviations", choices=tuple(LOSSES))
    exponent: float = option(
        0.0, "exponent of --attraction or --loss; 0: the function's own", low=0.0, high=10.0
    )
    threshold: float = option(
        0.0, "threshold of --attraction or --loss; 0: the function's own", low=0.0, high=1e6
    )
    sharpness: float = option(
        0.0, "sharpness of --attraction or --loss; 0: the function's own", low=0.0, high=1e6
    )
    repulsion_exponent: float = option(
        0.0, "exponent of --repulsion; 0: the function's own", low=0.0, high=10.0
    )
    constraint: str = option(
        CENTERED, "constraint: mean 0, fixed --anchors, or also uncorrelated columns of variance 1",
        choices=(CENTERED, ANCHORED, STANDARDIZED),
    )  # fmt: skip
    start: str = option(
        QUADRATIC, "first vectors, without --init: those of a quadratic problem, or random ones",
        choices=(QUADRATIC, RANDOM),
    )  # fmt: skip
    steps: int = option(
        300, "maximum number of steps, or rounds of --batch", low=1, high=10**6, metavar="N"
    )
    tol: float = option(
        1e-5, "stop when five steps change the distortion by less than this, relatively",
        low=0.0, high=1.0,
    )  # fmt: skip
    gradient_tol: float = option(
        1e-5, "stop at this norm of the projected gradient", low=0.0, metavar="X"
    )
    batch: int = option(
        0, "pairs of a round of the stochastic proximal method; 0: L-BFGS", low=0, metavar="N"
    )
    hold_out: float = option(
        0.0, "share of the pairs to leave out, on which the vectors are checked",
        low=0.0, high=0.9, metavar="SHARE",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        self._follow_recipe()
        for name, graphs in _OF_GRAPHS.items():
            if self.is_set(name) and self.graph not in graphs:
                raise _no_effect(name, f"--graph {self.graph}")
        for name in _PARAMETERS:
            if self.is_set(name) and name not in self._parameters:
                raise _no_effect(name, f"--{self._kind} {getattr(self, self._kind)}")
        for name in ("tol", "gradient_tol"):
            if self.batch and self.is_set(name):
                raise _no_effect(name, "--batch")
        if self.is_set("repulsion_weight") and not self.nearby:
            raise _no_effect("repulsion_weight", "--nearby 0")

    def is_set(self, name: str) -> bool:
        """Return whether an option was given, or has another value than its default or recipe's."""
        by_recipe = name in SETTINGS.get(self.recipe, {}) and name not in self.given
        return not by_recipe and super().is_set(name)

    def _follow_recipe(self) -> None:
        """Take the values of the recipe. Raises OptionError for other values that were given."""
        for name, value in SETTINGS.get(self.recipe, {}).items():
            own = getattr(self, name)
            if own == getattr(type(self), name) and name not in self.given:
                object.__setattr__(self, name, value)
            elif own not in (value, _OF_FILE.get(value)):
                what = f"--recipe {self.recipe} has {flag(name)} {value}, not {own}"
                raise OptionError(what, do="omit one of the two")
        for field, _ in specs(type(self)) if self.recipe in SPECTRAL else ():
            name = field.name
            if name not in ("recipe", *SPECTRAL[self.recipe]) and self.is_set(name):
                raise _no_effect(name, f"--recipe {self.recipe}")

    def without_nearby(self, why: str) -> Self:
        """Return the options with random dissimilar pairs alone. Raises OptionError if given."""
        for name in ("nearby", "repulsion_weight"):
            if self.is_set(name) and getattr(self, name):
                raise _no_effect(name, why)
        return self.but(nearby=0)

    @property
    def by_weight(self) -> bool:
        """Whether pairs have weights, not deviations."""
        return self.graph not in OF_DEVIATIONS

    @property
    def _kind(self) -> str:
        return "attraction" if self.by_weight else "loss"

    @property
    def _parameters(self) -> tuple[str, ...]:
        return ATTRACTIONS[self.attraction] if self.by_weight else LOSSES[self.loss]

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters of --attraction or --loss that differ from the function's own."""
        given = {name: getattr(self, name) for name in self._parameters}
        return {name: value for name, value in given.items() if value}


def _no_effect(name: str, why: str) -> OptionError:
    return OptionError(f"{flag(name)} has no effect with {why}", do="omit one of the two")

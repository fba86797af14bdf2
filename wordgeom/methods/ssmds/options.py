"""The options of semi-supervised MDS, and which of them exclude one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wordgeom.core import options as base
from wordgeom.core.errors import OptionError
from wordgeom.core.options import option
from wordgeom.methods.inputs.any_matrix import AnyMatrixInput

EUCLIDEAN, INNER, CORRELATION = "euclidean", "inner", "correlation"
GRAM, DISTANCES, DISSIMILARITIES = "gram", "distances", "dissimilarities"
_APART = (DISTANCES, DISSIMILARITIES)
MAJORISE, LBFGS, SGD = "majorise", "lbfgs", "sgd"
_OF_DESCENTS = (
    "optimiser", "steps", "tol", "rate", "decay", "batch_words", "data_weight", "plain_sums",
)  # fmt: skip


@dataclass(frozen=True)
class Options(base.Options):
    """Options of semi-supervised MDS."""

    dim: int = option(100, "dimension of the vectors; default with --init: that of its vectors",
                      low=1, metavar="K")  # fmt: skip
    objective: str = option(
        CORRELATION, "case 1 (euclidean), 2 (inner) or 3 (correlation) of the thesis",
        choices=(EUCLIDEAN, INNER, CORRELATION),
    )  # fmt: skip
    data: str = option(
        INNER, "data: inner products, those of rows (gram), distances of rows, dissimilarities",
        choices=(INNER, GRAM, *_APART),
    )  # fmt: skip
    data_weight: float = option(
        0.5, "λ, weight of the data; the pairs have 1 − λ", low=0.0, high=1.0, metavar="P"
    )
    plain_sums: bool = option(False, "let λ weigh the plain sums, as in the thesis")
    optimiser: str = option(
        LBFGS, "optimiser: L-BFGS, majorisation or stochastic gradient descent",
        choices=(LBFGS, MAJORISE, SGD),
    )  # fmt: skip
    start: str = option(
        "eigenpairs", "first vectors, without --init", choices=("eigenpairs", "build-up", "random")
    )
    steps: int = option(
        200, "maximum number of steps, or epochs of sgd", low=1, high=10**6, metavar="N"
    )
    tol: float = option(
        1e-5, "stop when five steps (sgd: ten epochs) change L by less than this, relatively",
        low=0.0, high=1.0,
    )  # fmt: skip
    rate: float = option(0.0, "learning rate of sgd; 0: computed", low=0.0, high=1e12)
    decay: float = option(
        0.0, "decay X of the rate of sgd: rate / (1 + X · epoch)", low=0.0, high=1e6
    )
    batch_words: int = option(50, "words in a batch of sgd", low=1, metavar="N")
    propagate: bool = option(False, "spread the scores to words without any, instead of a descent")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.propagate:
            self._check_propagation()
        if self.objective == EUCLIDEAN and self.data not in _APART:
            what = "--objective euclidean needs distances, not inner products"
            do = "pass --data distances (of rows) or --data dissimilarities (the entries)"
            raise OptionError(what, found=f"--data {self.data}", do=do)
        if self.objective != EUCLIDEAN and self.data in _APART:
            what = f"--objective {self.objective} needs inner products"
            do = "pass --data inner or gram, or --objective euclidean"
            raise OptionError(what, found=f"--data {self.data}", do=do)
        if self.objective == CORRELATION and self.optimiser == MAJORISE:
            what = "--optimiser majorise has no step for --objective correlation"
            raise OptionError(what, do="pass --optimiser lbfgs or sgd")
        if self.start == "build-up" and self.data != INNER:
            what = "--start build-up needs --data inner"
            raise OptionError(what, found=f"--data {self.data}", do="pass --start eigenpairs")
        for name in ("rate", "decay", "batch_words"):
            if self.is_set(name) and self.optimiser != SGD:
                what = f"{base.flag(name)} has no effect with --optimiser {self.optimiser}"
                raise OptionError(what, do="omit one of the two")

    def _check_propagation(self) -> None:
        for name, needed in (("objective", (CORRELATION,)), ("start", ("eigenpairs", "build-up"))):
            if (found := getattr(self, name)) not in needed:
                what = f"--propagate needs {base.flag(name)} {' or '.join(needed)}"
                raise OptionError(what, found=found, do="omit one of the two")
        for name in _OF_DESCENTS:
            if self.is_set(name):
                what = f"{base.flag(name)} has no effect with --propagate"
                raise OptionError(what, do="omit one of the two")


def check(options: Options, given: Mapping[str, Any]) -> None:
    """Raise OptionError for what --init excludes, also where it makes the matrix unnecessary."""
    if given.get("init") is None:
        return
    if options.is_set("start"):
        raise OptionError("--init excludes --start", do="pass one of the two")
    if options.propagate:
        needless = "--propagate"
    elif options.data_weight == 0.0 and options.objective == CORRELATION:
        needless = "--data-weight 0"
    else:
        return
    weights = [option.name for cls in AnyMatrixInput.options for option, _ in base.specs(cls)]
    for name in ("data", *weights):
        if name in given:
            what = f"{base.flag(name)} has no effect with --init and {needless}"
            raise OptionError(what, do=f"omit {base.flag(name)}")

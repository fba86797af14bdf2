"""Options of evaluation, shared by `eval` and `compare`."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, option

SKIP, ZERO = "skip", "zero"
FOLD, EXACT = "fold", "exact"
EUCLIDEAN, COSINE = "euclidean", "cosine"


@dataclass(frozen=True)
class NearPairOptions(Options):
    """Which pairs of words are near in the reference vectors, and whose pairs are measured."""

    tau: float | None = option(
        None, "reference cosine above which a pair is near, for --reference  [99 % are below]",
        metavar="T",
    )  # fmt: skip
    reference_words: int | None = option(
        None, "words drawn for --reference (0: all)  [all up to 20,000, else 10,000]", low=0,
        metavar="N",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tau is not None and not 0.0 < self.tau < 1.0:
            raise OptionError("--tau must be above 0 and below 1", found=self.tau)


@dataclass(frozen=True)
class EvalOptions(NearPairOptions):
    """How vectors are evaluated."""

    restrict_vocab: int = option(
        300_000, "use only the first N words for pairs and analogies (0: all)", low=0, metavar="N"
    )
    oov: str = option(
        SKIP, "items with out-of-vocabulary words: skip them or score them as zero",
        choices=(SKIP, ZERO),
    )  # fmt: skip
    case: str = option(
        FOLD, "ignore letter case when looking up words (fold) or match it (exact)",
        choices=(FOLD, EXACT),
    )  # fmt: skip
    epsilon: float = option(
        1e-3, "3CosMul constant that prevents division by zero", low=1e-12, high=1.0
    )
    kmer: int = option(
        0, "split texts into overlapping k-mers of length N (0: words)", low=0, high=12
    )
    folds: int = option(
        10, "cross-validation folds for texts without a train/test split", low=2, high=1000
    )
    resamples: int = option(
        1000, "bootstrap samples for 95 % intervals (0: no intervals)", low=0, high=1_000_000
    )
    neighbours: int = option(
        15, "neighbours per word, for --reference", low=1, high=100_000, metavar="K"
    )
    metric: str = option(
        EUCLIDEAN, "distance between the vectors, for --reference", choices=(EUCLIDEAN, COSINE)
    )
    reference_metric: str = option(
        COSINE, "distance between the reference vectors", choices=(EUCLIDEAN, COSINE)
    )


@dataclass(frozen=True)
class BaselineOptions(Options):
    """With what vectors are compared, besides their reference."""

    baselines: str | None = option(
        None, "also reduce the reference to the same dimension: svd, pca, isomap",
        metavar="NAME,NAME",
    )  # fmt: skip

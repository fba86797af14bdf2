"""The options of weightings; without NumPy, so that `--help` reads them at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, option

PPMI, PMI, NPMI = "ppmi", "pmi", "npmi"
RAW, ROWS, LOG, SQRT, TFIDF = "raw", "rows", "log", "sqrt", "tf-idf"
WEIGHTS = (RAW, ROWS, LOG, SQRT, TFIDF, PPMI)


@dataclass(frozen=True)
class PmiOptions(Options):
    """How counts become a PMI matrix."""

    weighting: str = option(
        PPMI,
        "ppmi: negative values become 0; pmi: they stay, as in the build-up's paper; "
        "npmi: ppmi over −log of the pair's probability, at most 1",
        choices=(PPMI, PMI, NPMI),
    )
    neg: float = option(
        1.0,
        "subtract the logarithm of this from every PMI (weighted sweeps of gbu: 0.2, unless given)",
        low=0.0,
        metavar="K",
    )
    cds: float = option(
        1.0, "raise context frequencies to this power (word2vec .75; 1: off)", low=0.0, high=1.0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.neg < math.inf:
            raise OptionError("--neg must be above 0 and finite", found=self.neg)
        if self.cds == 0.0:
            raise OptionError("--cds must be above 0", found=self.cds, do="1 is no smoothing")
        if self.weighting == NPMI and self.neg < 1.0:
            # Of frequent pairs it would grow beyond all bounds.
            do = "pass --neg 1 or more, or --weighting ppmi"
            raise OptionError("--weighting npmi takes no --neg below 1", found=self.neg, do=do)


@dataclass(frozen=True)
class DocumentOptions(Options):
    """How counts by document become the matrix that is worked with."""

    weight: str = option(
        LOG,
        "raw: counts x; rows: x over the document's sum; log: log(1 + x); sqrt: √x; "
        "tf-idf: x log(n/f), of n documents f with the word; ppmi: positive PMI; "
        "dlsa takes rows unless told",
        choices=WEIGHTS,
    )

"""The options of weightings; free of NumPy, so that `--help` stays fast."""

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
    """The transformation of co-occurrence counts to a PMI matrix."""

    weighting: str = option(
        PPMI,
        "weighting: pmi, ppmi (negative values clipped to 0), npmi (ppmi scaled to [0, 1])",
        choices=(PPMI, PMI, NPMI),
    )
    neg: float = option(1.0, "shift: subtract log K from every PMI", low=0.0, metavar="K")
    cds: float = option(
        1.0, "context distribution smoothing exponent; 1: none, word2vec: 0.75", low=0.0, high=1.0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.neg < math.inf:
            raise OptionError("--neg must be above 0 and finite", found=self.neg)
        if self.cds == 0.0:
            raise OptionError("--cds must be above 0", found=self.cds, do="1 turns smoothing off")
        if self.weighting == NPMI and self.neg < 1.0:
            # NPMI of frequent pairs would be unbounded.
            do = "pass --neg 1 or more, or --weighting ppmi"
            raise OptionError("--weighting npmi needs --neg 1 or more", found=self.neg, do=do)


@dataclass(frozen=True)
class DocumentOptions(Options):
    """The transformation of document-term counts."""

    weight: str = option(
        LOG,
        "weight of a count x: x (raw), x / document total (rows), log(1 + x), √x, tf-idf or PPMI",
        choices=WEIGHTS,
    )

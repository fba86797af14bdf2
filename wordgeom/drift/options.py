"""Options of the drift test."""

from __future__ import annotations

import math
from dataclasses import dataclass

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, flag, option
from wordgeom.methods.dlsa.problem import FREE, HOLD

FLIPS, PERMUTATION, F_TAIL, FACTOR = "flips", "permutation", "f", "factor"  # tests
TIMES, DOCUMENTS, WITHIN = "times", "documents", "within"  # what is permuted
MODEL = "model"  # the trend of the model
POOLED, MAX_T, OWN = "pooled", "max-t", "own"  # null distributions
LEVEL = 0.05  # significance level of p and q
_WIDTHS = {"year": 1.0, "decade": 10.0}
_TESTS_OF = {  # the tests that an option belongs to
    "permute": (PERMUTATION,), "group": (PERMUTATION,), "permutations": (FLIPS, PERMUTATION),
    "null": (FLIPS, PERMUTATION), "trend": (PERMUTATION, F_TAIL, FACTOR),
    "still": (PERMUTATION, F_TAIL, FACTOR), "counts": (FLIPS,),
}  # fmt: skip


@dataclass(frozen=True)
class DriftOptions(Options):
    """How change is tested. Raises OptionError for options that contradict each other."""

    test: str = option(
        FLIPS, "significance test: sign flips, permutations, F distribution, factor analysis",
        choices=(FLIPS, PERMUTATION, F_TAIL, FACTOR),
    )  # fmt: skip
    permute: str = option(
        TIMES, "permute whole times, documents, or documents within groups",
        choices=(TIMES, DOCUMENTS, WITHIN),
    )  # fmt: skip
    group: str | None = option(
        None, "groups of --permute within: by file, by id, or from lines `id TAB group`",
        metavar="file|id|FILE",
    )  # fmt: skip
    bin: str | None = option(
        None, "join times before the test, by a width in the units of the times",
        metavar="year|decade|N",
    )  # fmt: skip
    permutations: int = option(
        999, "number of sign flips, or of permutations (all of them if fewer exist)",
        low=1, high=10**6, metavar="B",
    )  # fmt: skip
    trend: str = option(
        MODEL, "frequency trends: ignored (hold), counted as change (free), or as in the model",
        choices=(HOLD, FREE, MODEL),
    )  # fmt: skip
    still: bool = option(False, "estimate topics from stable words only")
    null: str = option(
        POOLED, "null distribution: words of similar frequency, max-T or the word alone",
        choices=(POOLED, MAX_T, OWN),
    )  # fmt: skip
    counts: str | None = option(
        None, "counts of the same text to test, such as passages of 10 tokens", metavar="COUNTS",
    )  # fmt: skip
    rank: int = option(0, "number of topics (0: dimension of the model)", low=0, metavar="R")
    both_ranks: bool = option(False, "also test with twice as many topics")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bin is not None and not 0.0 < self.width < math.inf:
            what = "--bin must be year, decade or a positive number"
            raise OptionError(what, found=repr(self.bin))
        for name, tests in _TESTS_OF.items():
            if self.is_set(name) and self.test not in tests:
                needed = " or ".join(tests)
                what = f"{flag(name)} needs --test {needed}, not {self.test}"
                raise OptionError(what, do="remove one of them")
        if (self.group is not None) != (self.permute == WITHIN):
            what = "--group and --permute within require each other"
            raise OptionError(what, do="pass both or neither")

    @property
    def width(self) -> float:
        """The width of a bin of times; 0 where times are not joined, NaN for what is no width."""
        if self.bin is None:
            return 0.0
        try:
            return _WIDTHS.get(self.bin) or float(self.bin)
        except ValueError:
            return math.nan

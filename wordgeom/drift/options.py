"""What `wordgeom drift` can be told of its test."""

from __future__ import annotations

from dataclasses import dataclass, fields

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, flag, option
from wordgeom.methods.dlsa.problem import FREE, HOLD

PERMUTATION, F_TAIL, FACTOR = "permutation", "f", "factor"  # tests
TIMES, DOCUMENTS, WITHIN = "times", "documents", "within"  # what is permuted
MODEL = "model"  # the trend: that of the model
POOLED, MAX_T, OWN = "pooled", "max-t", "own"  # nulls
LEVEL = 0.05  # of p and q, where words are counted or something is said
_OF_PERMUTATION = ("permute", "group", "permutations", "freedman_lane", "null")


@dataclass(frozen=True)
class DriftOptions(Options):
    """How change is tested. Raises OptionError for a Freedman–Lane test of whole times."""

    test: str = option(
        PERMUTATION, "permutation of times; f: tail of the F distribution, word by word; factor: "
        "whether static factors explain the words", choices=(PERMUTATION, F_TAIL, FACTOR),
    )  # fmt: skip
    permute: str = option(
        TIMES, "what changes its time: times, all documents of one together; documents, each by "
        "itself; within, each inside its group", choices=(TIMES, DOCUMENTS, WITHIN),
    )  # fmt: skip
    group: str | None = option(
        None, "documents that --permute within shuffles: those of one file, of one id, or of one "
        "group in a FILE of `id TAB group`", metavar="file|id|FILE",
    )  # fmt: skip
    permutations: int = option(
        999, "how many permutations; all of them where there are no more", low=1, high=10**6,
        metavar="B",
    )  # fmt: skip
    freedman_lane: bool = option(
        False, "permute residuals of documents, so that the mixture of topics may drift"
    )
    trend: str = option(
        MODEL, "hold: a mere change of frequency is no change; free: it is; model: as fitted",
        choices=(HOLD, FREE, MODEL),
    )  # fmt: skip
    still: bool = option(False, "estimate topics from words judged still")
    null: str = option(
        POOLED, "what a word is held against: pooled, studentised words of like frequency; max-t, "
        "the largest of all words; own, its own permutations", choices=(POOLED, MAX_T, OWN),
    )  # fmt: skip
    rank: int = option(
        0, "topics that words are tested beside; 0: the dimension of the model", low=0, metavar="R"
    )
    both_ranks: bool = option(True, "test with twice as many topics too, which is the default")

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in fields(self):
            given = getattr(self, field.name) != field.default
            if given and field.name in _OF_PERMUTATION and self.test != PERMUTATION:
                what, do = (
                    f"{flag(field.name)} is for --test permutation",
                    "leave one of the two out",
                )
                raise OptionError(what, found=f"--test {self.test}", do=do)
        if (self.group is not None) != (self.permute == WITHIN):
            raise OptionError("--group and --permute within go together", do="pass both, or none")
        if self.freedman_lane and self.permute == TIMES and self.test == PERMUTATION:
            do = f"add --permute {DOCUMENTS} or {WITHIN}"
            raise OptionError("--freedman-lane permutes residuals of documents",
                              found=f"--permute {TIMES}", do=do)  # fmt: skip

"""Options of the measures of change between two periods, and what contradicts them."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.errors import OptionError
from wordgeom.core.formatting import listed
from wordgeom.core.options import Options, flag, option, specs
from wordgeom.drift.options import DriftOptions
from wordgeom.drift.report import ReportOptions

PROCRUSTES, NEIGHBOURS, PMI, GBU, SGNS = "procrustes", "neighbours", "pmi", "gbu", "sgns"
OF_VECTORS = (PROCRUSTES, NEIGHBOURS)  # compare two vectors files
OF_DOCUMENTS = (PMI, GBU, SGNS)  # compare two periods of a model's documents
PERMUTATIONS = {PMI: 999, GBU: 99}  # the defaults of the measures with p
_MEASURES = {
    "split": OF_DOCUMENTS, "min_uses": OF_DOCUMENTS, "contexts": (PMI,), "dim": (GBU, SGNS),
    "nearest": (NEIGHBOURS,), "frequent": (NEIGHBOURS,),
}  # fmt: skip
_SHARED = ("permutations", "top", "neighbours", "json")  # with the test of a model


@dataclass(frozen=True)
class MeasureOptions(Options):
    """Which measure compares two periods. Raises OptionError for options of another measure."""

    measure: str | None = option(
        None, "compare two periods by this measure instead of testing the model",
        choices=(*OF_VECTORS, *OF_DOCUMENTS),
    )  # fmt: skip
    split: str | None = option(
        None, "first time of the second period  [the time that halves the tokens]", metavar="TIME"
    )
    min_uses: int = option(
        20, "uses in each period that a word needs", low=1, high=10**9, metavar="N"
    )
    contexts: int = option(
        2000, "context words of pmi, the most frequent", low=1, high=10**6, metavar="N"
    )
    dim: int = option(100, "dimension of the vectors of gbu and sgns", low=1, high=10**4)
    nearest: int = option(
        1000, "nearest neighbours that neighbours compares", low=1, high=10**6, metavar="K"
    )
    frequent: int = option(
        20_000, "words that neighbours takes as neighbours, the most frequent (0: all)", low=0,
        metavar="N",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, measures in _MEASURES.items():
            if self.is_set(name) and self.measure not in measures:
                what = f"{flag(name)} needs --measure {listed(measures, 'or')}"
                raise OptionError(what, found=self.measure or "", do="remove it")

    def permutations(self, testing: DriftOptions) -> int:
        """Return the number of permutations, 0 for a measure without p."""
        if self.measure not in PERMUTATIONS:
            return 0
        return (
            testing.permutations if testing.is_set("permutations") else PERMUTATIONS[self.measure]
        )


def check_measure(
    options: MeasureOptions, testing: DriftOptions, form: ReportOptions, *, start: bool
) -> None:
    """Raise OptionError for options that contradict the measure; start: whether --from is given."""
    measure = options.measure
    if start and measure not in OF_VECTORS:
        do = f"add --measure {listed(OF_VECTORS, 'or')}" if measure is None else "remove it"
        what = f"--from needs --measure {listed(OF_VECTORS, 'or')}"
        raise OptionError(what, found=measure or "", do=do)
    if measure is None:
        return
    if measure in OF_VECTORS and not start:
        what = f"--measure {measure} compares two vectors files"
        raise OptionError(what, do="name the earlier one with --from")
    for given in (testing, form):
        for name in (field.name for field, _ in specs(type(given))):
            if given.is_set(name) and name not in _SHARED:
                what = f"{flag(name)} does not apply to --measure {measure}"
                raise OptionError(what, do="remove one of them")
    if testing.is_set("permutations") and measure not in PERMUTATIONS:
        what = f"--measure {measure} has no p"
        raise OptionError(what, found="--permutations", do="remove it")

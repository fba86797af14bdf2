"""Options of subwords: the n-grams, and how much they weigh."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, option

if TYPE_CHECKING:
    from wordgeom.subwords.ngrams import Lengths
    from wordgeom.subwords.units.unit import Unit

CODEPOINT, GRAPHEME, JAMO, MORPHS = "codepoint", "grapheme", "jamo", "morphs"
UNITS = (CODEPOINT, GRAPHEME, JAMO, MORPHS)  # of units/
DEFAULT, OF_MORPHS = "3-6", "1-2"


@dataclass(frozen=True)
class NgramOptions(Options):
    """Which n-grams have vectors, and how much these weigh."""

    unit: str = option(
        CODEPOINT, "what n-grams are made of: code points, grapheme clusters, Hangul jamo, morphs",
        choices=UNITS,
    )  # fmt: skip
    morphs: str | None = option(
        None, "morphs of words, lines `word TAB a b c`, for --unit morphs", metavar="FILE"
    )
    min_words: int = option(5, "minimum number of words that an n-gram occurs in", low=1)
    buckets: int = option(
        0, "hash n-grams into N buckets, as fastText does; 0: an entry for each n-gram", low=0,
        high=2**31 - 1, metavar="N",
    )  # fmt: skip
    ngram_ridge: float = option(0.02, "L2 penalty on the vectors of n-grams", low=1e-9, high=1e9)
    ngram_weight: float = option(
        2.5, "weight of a word's n-grams, relative to the mean norm of the vectors",
        low=0.0, high=1e6, metavar="W",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.unit == MORPHS) != (self.morphs is not None):
            do = "pass both, or neither"
            raise OptionError("--unit morphs needs a file of --morphs, and no other unit", do=do)
        if self.buckets and self.unit != CODEPOINT:
            what = f"--buckets hashes code points as fastText does, not --unit {self.unit}"
            raise OptionError(what, do="omit one of the two")

    def lengths(self, text: str | None) -> Lengths:
        """Return the lengths of n-grams; text: as given, None for the default of the unit."""
        from wordgeom.subwords.ngrams import Lengths

        return Lengths.parsed(text or (OF_MORPHS if self.unit == MORPHS else DEFAULT))

    def opened_unit(self) -> Unit:
        """Return the unit; raises what reading the file of morphs raises."""
        from wordgeom.subwords.units import unit_named
        from wordgeom.subwords.units.morphs import read_morphs
        from wordgeom.subwords.units.utf8 import Utf8

        if self.buckets:
            return Utf8()
        morphs = None if self.morphs is None else read_morphs(Path(self.morphs))
        return unit_named(self.unit, morphs)


@dataclass(frozen=True)
class SubwordOptions(NgramOptions):
    """Options of `subwords`."""

    subwords: str | None = option(
        None, f"lengths of n-grams in units  [{DEFAULT}, morphs: {OF_MORPHS}]", metavar="MIN-MAX"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.lengths(self.subwords)

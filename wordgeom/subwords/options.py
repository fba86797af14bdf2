"""Options of subwords: the n-grams, and how much they weigh."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, flag, option, specs
from wordgeom.subwords.lengths import Lengths
from wordgeom.subwords.units.names import CODEPOINT, MORPHS, UNITS

if TYPE_CHECKING:
    from wordgeom.subwords.units.unit import Unit

DEFAULT, OF_MORPHS = "2-6", "1-2"
LEAST_CLIP = 0.5  # less leaves little but the largest singular value


@dataclass(frozen=True)
class SubwordOptions(Options):
    """Which n-grams have vectors, and how much these weigh."""

    subwords: str | None = option(
        None, "lengths of n-grams in units, or one length"
        f"  [{DEFAULT}; morphs: {OF_MORPHS}; train: none]", metavar="MIN-MAX",
    )  # fmt: skip
    unit: str = option(
        CODEPOINT, "what n-grams are made of: code points, grapheme clusters, Hangul jamo, morphs",
        choices=UNITS,
    )  # fmt: skip
    morphs: str | None = option(
        None, "morphs of words, lines `word TAB a b c`, for --unit morphs", metavar="FILE"
    )
    min_words: int = option(2, "minimum number of words that an n-gram occurs in", low=1)
    buckets: int = option(
        0, "hash n-grams into N buckets, as fastText does; 0: an entry for each n-gram", low=0,
        high=2**31 - 1, metavar="N",
    )  # fmt: skip
    ngram_ridge: float = option(0.01, "mean L2 penalty on n-grams", low=1e-9, high=1e9)
    half_rank: float = option(
        0.2, "rank, as a share of all words, of the word that weighs half as much as the first in "
        "the fit of n-grams; 0: all weigh the same", low=0, high=1e9, metavar="SHARE",
    )  # fmt: skip
    clip: float = option(
        1.1, "singular values of the vectors above C times their root mean square are cut to it, "
        f"the largest to 2 times; at least {LEAST_CLIP:g}; 0: vectors as given",
        low=0, high=1e9, metavar="C",
    )  # fmt: skip
    ngram_weight: float = option(
        3.0, "weight of a word's n-grams, relative to the mean norm of the vectors",
        low=1e-6, high=1e6, metavar="W",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.unit == MORPHS) != (self.morphs is not None):
            do = "pass both, or neither"
            raise OptionError("--unit morphs and --morphs FILE belong together", do=do)
        if self.buckets and self.unit != CODEPOINT:
            what = f"--buckets hashes code points as fastText does, not --unit {self.unit}"
            raise OptionError(what, do="omit one of the two")
        if 0.0 < self.clip < LEAST_CLIP:
            what = f"--clip must be 0 or at least {LEAST_CLIP:g}"
            raise OptionError(what, found=f"{self.clip:g}", do="raise it, or pass 0 to cut nothing")
        _ = self.lengths

    @property
    def lengths(self) -> Lengths:
        """The lengths of n-grams; raises OptionError."""
        return Lengths.parsed(self.subwords or self._default)

    @property
    def _default(self) -> str:
        return OF_MORPHS if self.unit == MORPHS else DEFAULT

    def check_used(self) -> None:
        """Raise OptionError for an option of n-grams where there are none."""
        for field, _ in specs(SubwordOptions):
            if self.subwords is None and self.is_set(field.name):
                what = f"{flag(field.name)} has no effect without --subwords"
                raise OptionError(what, do=f"add --subwords {self._default}, or omit it")

    def opened_unit(self) -> Unit:
        """Return the unit; raises what reading the file of morphs raises."""
        from wordgeom.subwords.units import unit_named
        from wordgeom.subwords.units.morphs import read_morphs
        from wordgeom.subwords.units.utf8 import Utf8

        if self.buckets:
            return Utf8()
        morphs = None if self.morphs is None else read_morphs(Path(self.morphs))
        return unit_named(self.unit, morphs)


def wants_subwords(options: Options) -> TypeGuard[SubwordOptions]:
    """Return whether the options of a method ask for subwords."""
    return isinstance(options, SubwordOptions) and options.subwords is not None

"""Options of text vectors."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, flag, option

MEAN, TFIDF, SIF = "mean", "tf-idf", "sif"
NAN = "nan"
_OF_SIF = 1  # components that SIF removes


@dataclass(frozen=True)
class EmbedOptions(Options):
    """How the vectors of a text's words become its own."""

    weights: str = option(
        SIF, "weights of the words: equal, TF-IDF, or by inverse frequency (SIF)",
        choices=(MEAN, TFIDF, SIF),
    )  # fmt: skip
    sif_a: float = option(
        1e-3, "weight a / (a + p) of a word of probability p", low=1e-12, high=1e6, metavar="A"
    )
    remove_components: int | None = option(
        None, "leading components to remove from the text vectors  [sif: 1, else 0]",
        low=0, metavar="N",
    )  # fmt: skip
    all_but_the_top: int | None = option(
        None, "center word vectors and remove N principal components first", low=0, metavar="N"
    )
    unit_words: bool = option(False, "scale word vectors to length 1 first, as fastText does")
    l2: bool = option(False, "scale text vectors to length 1")
    empty: str = option(
        "zero", "vector of a text without a known word: zeros or NaN", choices=("zero", NAN)
    )

    def components(self, columns: int) -> int:
        """Return the number of components to remove; raises OptionError for all of them."""
        for name in ("all_but_the_top", "remove_components"):
            if (getattr(self, name) or 0) >= columns:
                what = f"{flag(name)} {getattr(self, name)} leaves none of {columns} dimensions"
                raise OptionError(what, do=f"lower {flag(name)}")
        if self.remove_components is None:
            return min(_OF_SIF, columns - 1) if self.weights == SIF else 0
        return self.remove_components

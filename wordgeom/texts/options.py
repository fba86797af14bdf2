"""Options of text vectors."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.options import Options, option

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

    @property
    def components(self) -> int:
        """The number of components to remove."""
        default = _OF_SIF if self.weights == SIF else 0
        return default if self.remove_components is None else self.remove_components

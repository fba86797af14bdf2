"""Options of `wordgeom convert`."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.options import Options, option


@dataclass(frozen=True)
class ConvertOptions(Options):
    """Which words and columns to convert, and how to write them."""

    limit: int | None = option(None, "convert only the first N vectors", low=1, metavar="N")
    only: str | None = option(
        None, "convert only the words listed in FILE, in the vectors' order", metavar="FILE"
    )
    dim: int | None = option(
        None, "keep the first K columns (needs a spectrum: pmi-eigs, lsa)", low=1, metavar="K"
    )
    drop_zero: bool = option(False, "leave out zero vectors")
    drop_nan: bool = option(False, "leave out vectors with NaN or infinity")
    space: str | None = option(None, "replace white space in words with CHAR", metavar="CHAR")
    float16: bool = option(False, "write .npy and .npz vectors in half precision")
    no_header: bool = option(False, "write text vectors without a header line, like GloVe")
    words: str | None = option(
        None, "words of a matrix or NumPy vectors  [NAME.words.txt, GloVe: NAME.vocab.txt]",
        metavar="FILE",
    )  # fmt: skip
    kind: str | None = option(
        None, "values of an imported matrix: counts (cooc) or weights (pmi)  [cooc]",
        choices=("cooc", "pmi"),
    )  # fmt: skip

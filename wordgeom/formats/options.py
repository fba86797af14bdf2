"""How files are converted."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.options import Options, option


@dataclass(frozen=True)
class ConvertOptions(Options):
    """What is taken of a file, and how it is written."""

    limit: int | None = option(None, "the first N words of the vectors only", low=1, metavar="N")
    only: str | None = option(
        None, "the vectors of the words in this file only, in their own order", metavar="FILE"
    )
    dim: int | None = option(
        None,
        "the first K columns only, where columns stand in order of a spectrum (pmi-eigs, lsa): the "
        "solution for K, to within --tol",
        low=1, metavar="K",
    )  # fmt: skip
    space: str | None = option(None, "put this for white space in words", metavar="CHAR")
    float16: bool = option(False, "write .npy and .npz vectors in half precision")
    no_header: bool = option(False, "write text vectors without a first line, as GloVe does")
    words: str | None = option(
        None,
        "words of a matrix's rows, or of .npy and .npz vectors; beside them where not given: "
        "NAME.words.txt, for GloVe NAME.vocab.txt (or vocab.txt)",
        metavar="FILE",
    )
    kind: str | None = option(
        None,
        "what the numbers of a matrix are that is read: counts (cooc), as where this is not "
        "given, or weights (pmi)",
        choices=("cooc", "pmi"),
    )

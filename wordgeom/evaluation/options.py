"""How vectors are judged: options of `eval` and `compare`, declared once."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.options import Options, option

SKIP, ZERO = "skip", "zero"
FOLD, EXACT = "fold", "exact"


@dataclass(frozen=True)
class EvalOptions(Options):
    """How vectors are judged."""

    restrict_vocab: int = option(
        300_000, "pairs and analogies see the first N words of the file (as in gensim); 0: all",
        low=0, metavar="N",
    )  # fmt: skip
    oov: str = option(
        SKIP, "an item with a word that has no vector is left out, or counts as cosine 0 or wrong",
        choices=(SKIP, ZERO),
    )  # fmt: skip
    case: str = option(
        FOLD, "fold: King is king, the word earlier in the file; exact: only the same letters",
        choices=(FOLD, EXACT),
    )  # fmt: skip
    epsilon: float = option(
        1e-3, "3CosMul's guard against division by 0 (gensim's is 1e-6)", low=1e-12, high=1.0
    )
    kmer: int = option(0, "texts are sequences of overlapping K-mers; 0: of words", low=0, high=12)
    folds: int = option(
        10, "texts without a split of their own are predicted in N folds", low=2, high=1000
    )
    resamples: int = option(
        1000, "bootstrap samples for the 95 % intervals; 0: no intervals", low=0, high=1_000_000
    )

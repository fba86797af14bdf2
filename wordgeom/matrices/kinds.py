"""The kinds of stores that hold a matrix."""

from __future__ import annotations

COOC, PMI, DTM, VOCABULARY = "cooc", "pmi", "dtm", "vocabulary"

_NOUNS = {
    COOC: "a co-occurrence matrix",
    PMI: "a PMI matrix",
    DTM: "a document-term matrix",
    VOCABULARY: "a vocabulary",
    "dlsa": "a dynamic LSA model",
    "subwords": "a subword model",
    "state": "a checkpoint",
}


def noun(kind: str) -> str:
    """Return what messages call a store of a kind, after `is`."""
    return _NOUNS.get(kind, f"of kind {kind!r}")

"""The union of several vocabularies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wordgeom.core.types import Int64
from wordgeom.corpus.vocabulary import Vocabulary


def unite(vocabularies: Sequence[Vocabulary]) -> tuple[Vocabulary, list[Int64]]:
    """Return the union with summed counts, and the row (V) int64 in it of each vocabulary's words.

    Rows are ordered by descending count, then by word, so that the order of the vocabularies does
    not matter. Vocabularies with the same words in the same order keep that order.
    """
    words, places = _numbered(vocabularies)
    counts = np.zeros(len(words), np.int64)
    for vocabulary, place in zip(vocabularies, places, strict=True):
        counts[place] += vocabulary.counts
    if any(vocabulary.words != words for vocabulary in vocabularies):
        order = sorted(range(len(words)), key=lambda k: (-counts[k], words[k]))
    else:
        order = list(range(len(words)))
    rows = np.empty(len(words), np.int64)
    rows[order] = np.arange(len(words))
    united = Vocabulary([words[k] for k in order], counts[order])
    return united, [rows[place] for place in places]


def _numbered(vocabularies: Sequence[Vocabulary]) -> tuple[list[str], list[Int64]]:
    """Return all words in order of occurrence, and where those of each vocabulary are."""
    numbers: dict[str, int] = {}
    places = []
    for vocabulary in vocabularies:
        found = [numbers.setdefault(word, len(numbers)) for word in vocabulary.words]
        places.append(np.array(found, np.int64))
    return list(numbers), places

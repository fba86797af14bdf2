"""The vocabulary of new counts, split into known words, which have a vector, and new words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Int64
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.vectors.keyed import Vectors


@dataclass(frozen=True)
class VocabularySplit:
    """Rows of the counts: known (p), ascending, and new (n), most frequent first.

    own (p): rows of the known words in the vectors.
    """

    known: Int64
    own: Int64
    new: Int64


def split_vocabulary(
    stored: StoredMatrix, names: Sequence[str], vectors: Vectors, source: str
) -> VocabularySplit:
    """Split the vocabulary of new counts into known and new words.

    names: of the rows of the counts; source: of the vectors, for messages. Raises InputError if the
    counts are one-sided, or if no word is known or none is new.
    """
    where = stored.path
    if not stored.symmetric:
        do = "count with --context both"
        raise InputError("extend needs symmetric counts, not one-sided ones", where=where, do=do)
    own = np.array([vectors.index.get(name, -1) for name in names], np.int64)
    known = np.flatnonzero(own >= 0)
    by_frequency = np.argsort(-stored.vocabulary.counts, kind="stable")
    new = by_frequency[own[by_frequency] < 0]
    if not len(known):
        do = "count text with the same spelling"
        what = f"none of {len(names):,} words has a vector in {source}"
        raise InputError(what, where=where, do=do)
    if not len(new):
        what = f"all {len(names):,} words have vectors in {source} already"
        raise InputError(what, where=where, do="count text with new words")
    return VocabularySplit(known, own[known], new)

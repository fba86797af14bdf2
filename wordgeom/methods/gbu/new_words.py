"""Which words of counts have a vector, and which are new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Int64
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.vectors.keyed import Vectors


@dataclass(frozen=True)
class Newcomers:
    """Rows of counts: known (p), ascending, with their rows of the vectors in own (p); new (n).

    The new are in order of frequency, the most frequent first.
    """

    known: Int64
    own: Int64
    new: Int64


def newcomers(
    stored: StoredMatrix, names: Sequence[str], vectors: Vectors, named: str
) -> Newcomers:
    """Tell the words of counts, whose rows have `names`, by whether `vectors` hold them.

    named: what the vectors are called. Raises InputError for counts of one side, and where no word
    is known or none is new.
    """
    where, found = stored.path, f"{len(names):,} words"
    if not stored.symmetric:
        raise InputError("holds counts of one side", where=where, do="count with --context both")
    own = np.array([vectors.index.get(name, -1) for name in names], np.int64)
    known = np.flatnonzero(own >= 0)
    by_frequency = np.argsort(-stored.vocabulary.counts, kind="stable")
    new = by_frequency[own[by_frequency] < 0]
    if not len(known):
        do = "count text in which words are spelt as there"
        raise InputError(f"has no word of {named}", where=where, found=found, do=do)
    if not len(new):
        what, do = f"has no word that {named} lacks", "count text with new words"
        raise InputError(what, where=where, found=found, do=do)
    return Newcomers(known, own[known], new)

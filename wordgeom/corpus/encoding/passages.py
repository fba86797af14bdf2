"""The passages of documents: how many each has, and their entries in `documents.tsv`.

A document of L tokens has max(1, L / N) passages, halves rounded up: each has N tokens, and the
rest is a passage of its own unless it has fewer than N/2, which join the passage before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wordgeom.core.types import Int64
from wordgeom.corpus.inputs.readers import Source
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.runtime.run_options import FLOOR

_COPIES = 3  # of the entries, while documents.tsv is put together


class Splits:
    """How often each document was split."""

    def __init__(self) -> None:
        self._parts: list[tuple[Int64, Int64]] = []

    def add(self, documents: Int64) -> None:
        """Add splits, by the numbers of their documents."""
        if len(documents):
            self._parts.append(np.unique(documents, return_counts=True))

    def passages(self, documents: int) -> Int64:
        """Return the number of passages of each document (n)."""
        passages = np.ones(documents, np.int64)
        for split, times in self._parts:
            passages[split] += times
        return passages


def repeat_documents(sources: Sequence[Source], passages: Int64, context: Context) -> None:
    """Give each passage the entry of its document. Raises InputError for too many passages."""
    rows, size = int(passages.sum()), sum(len(source.documents.content) for source in sources)
    needed = _COPIES * size * rows // max(1, len(passages))
    do = "raise --memory or --passages"
    check_memory(f"entries of {rows:,} passages", needed, max(context.memory, FLOOR), do)
    start = 0
    for source in sources:
        stop = start + len(source.documents)
        source.documents.repeat(passages[start:stop])
        start = stop

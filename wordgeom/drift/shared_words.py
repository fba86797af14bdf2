"""Residuals of words that blocks read on any machine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Csr
from wordgeom.drift.statistics import WordResiduals
from wordgeom.runtime.scheduler import Scheduler, Shared


@dataclass(frozen=True)
class SharedWords:
    """WordResiduals as the spec of a map holds them.

    columns: indptr, indices and data of Xᵀ; others: varying, Z, sides (w × r+1), rest and norms.
    """

    columns: tuple[Shared, ...]
    others: tuple[Shared, ...]
    documents: int

    @classmethod
    def of(cls, words: WordResiduals, scheduler: Scheduler) -> SharedWords:
        """Share the residuals of words; raises WriteError."""
        X, share = words.columns, scheduler.share
        columns = share(X.indptr), share(X.indices), share(X.data)
        # Products round in the same way only with arrays of the same layout.
        others = words.varying, words.Z, words.sides.T, words.rest, words.norms
        return cls(
            columns, tuple(share(np.ascontiguousarray(array)) for array in others), X.columns
        )

    def open(self) -> WordResiduals:
        """Return the residuals."""
        indptr, indices, data = (array.open() for array in self.columns)
        varying, Z, sides, rest, norms = (array.open() for array in self.others)
        columns = Csr(indptr, indices, data, self.documents)
        return WordResiduals(varying, columns, Z, sides.T, rest, norms)

    def release(self, scheduler: Scheduler) -> None:
        """Free the arrays."""
        scheduler.release(*self.columns, *self.others)

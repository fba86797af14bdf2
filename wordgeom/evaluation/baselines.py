"""Baselines of a reduction: the reference vectors, reduced to as many dimensions in other ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from wordgeom.core.errors import OptionError
from wordgeom.core.formatting import listed
from wordgeom.core.types import Float32
from wordgeom.evaluation.answers import Answers
from wordgeom.evaluation.common_words import CommonWords, Side
from wordgeom.evaluation.isomap import isomap
from wordgeom.evaluation.reference import Reference
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.norms import row_norms
from wordgeom.vectors.reduction import pca, svd

ISOMAP = "isomap"
_LINEAR: dict[str, Callable[[Float32, int, Pool], Float32]] = {"svd": svd, "pca": pca}
BASELINES = (*_LINEAR, ISOMAP)


@dataclass(frozen=True)
class Baseline(Reference):
    """The reference vectors themselves, reduced to the dimension of the vectors evaluated.

    reducer: one of BASELINES.
    """

    reducer: str = ""

    @property
    def name(self) -> str:
        """The name of the reference and of the baseline."""
        return f"{super().name}: {self.reducer}"

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        """Return what `Reference.answer` returns for the baseline on the same words."""
        words, _ = self.common(vectors, context)
        drawn = words.drawn(self.options.reference_words, context.seed)
        tau = self.threshold(words, drawn, context)
        reduced = self._reduced(words, vectors.matrix.shape[1], tau, context)
        note = f"the reference reduced to {reduced.shape[1]} dimensions"
        if by_distance := self.reducer == ISOMAP:
            note += "; pairs are near by distance, ½‖y − y′‖² < 1 − τ"
        made = Side(reduced, np.arange(len(reduced)), row_norms(reduced))
        changed = replace(words, ours=made)
        return self.compared(changed, drawn, tau, [note], context, by_distance=by_distance)

    def _reduced(self, words: CommonWords, K: int, tau: float, context: Context) -> Float32:
        theirs = words.theirs
        if self.reducer == ISOMAP:
            return isomap(theirs.units(slice(None)), K, tau, context)
        matrix = theirs.matrix[theirs.rows]
        return _LINEAR[self.reducer](matrix, min(K, matrix.shape[1]), context.pool)


def baseline_names(given: str | None) -> list[str]:
    """Return the names in a comma-separated list; raises OptionError for an unknown one."""
    names = [] if given is None else [name.strip() for name in given.split(",")]
    for name in names:
        if name not in BASELINES:
            do = f"choose from {listed(BASELINES)}"
            raise OptionError("--baselines has an unknown name", found=repr(name), do=do)
    return list(dict.fromkeys(names))

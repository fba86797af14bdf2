"""Estimate topics from stable words: moving words bend the topics, and stable ones seem to move.

With 5 moving words of 20, half of the stable words may be flagged. Words whose F exceeds 2.5 times
the median are dropped, and topics are estimated again. A dropped word stays dropped; otherwise the
rounds would cycle. Since the choice depends on the times, a global test, whose topics must ignore
them, does not use these topics.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.ops import Ops
from wordgeom.core.types import Csr
from wordgeom.drift.columns import select_columns
from wordgeom.drift.statistics import WordResiduals, observe, remove_topics
from wordgeom.drift.time_axis import Axis
from wordgeom.drift.topics import static_topics
from wordgeom.runtime.progress import Progress

_FACTOR = 2.5  # of the median
_MAX_ROUNDS = 10


@dataclass(frozen=True, eq=False)
class StableWords:
    """Residuals of words given topics of stable words; number: of these, None for all words."""

    words: WordResiduals
    number: int | None


def select_stable_words(
    X: Csr, transposed: Csr, words: WordResiduals, axis: Axis, hold: bool, ops: Ops, seed: int,
    progress: Progress,
) -> StableWords:  # fmt: skip
    """Drop moving words in rounds, starting from residuals given topics of all words.

    X (n × p) and its transpose. At least half of the varying words are kept, and more than r.
    """
    stable, r = words.varying.copy(), words.rank
    least = max((int(stable.sum()) + 1) // 2, r + 1)
    for _ in range(_MAX_ROUNDS):
        F = np.full(len(stable), np.nan)
        F[words.varying] = observe(words, axis, hold, ops).F
        fewer = stable & np.less_equal(F, _FACTOR * np.nanmedian(F[stable]))
        if np.array_equal(fewer, stable) or fewer.sum() < least:
            break
        try:
            U = static_topics(select_columns(X, fewer), r, ops, seed, progress)
        except RankError:  # the stable words have a lower rank than their number
            break
        stable, words = fewer, remove_topics(transposed, U, ops)
    return StableWords(words, int(np.count_nonzero(stable)))

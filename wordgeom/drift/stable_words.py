"""Topics from words judged still: moving words bend the topics, and still ones then seem to move.

With 5 of 20 words moving, half of the still ones may be flagged. Words whose F is more than 2.5
times the median are dropped and topics are estimated anew. Whoever is dropped stays so: where words
are many they would take turns for ever. Words are now chosen by the times, so that a test of the
whole, whose topics must not know them, is not to be made with these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.ops import Ops
from wordgeom.core.types import Csr
from wordgeom.drift.columns import select_columns
from wordgeom.drift.statistics import WordResiduals, observed_statistics, remove_topics
from wordgeom.drift.time_axis import Axis
from wordgeom.drift.topics import static_topics
from wordgeom.runtime.progress import Progress

_TIMES = 2.5  # the median
_ROUNDS = 10


@dataclass(frozen=True, eq=False)
class StableWords:
    """Words freed of topics of those that are judged still: `number`, None for all words."""

    words: WordResiduals
    number: int | None


def select_stable_words(
    X: Csr,
    columns_of: Csr,
    words: WordResiduals,
    axis: Axis,
    hold: bool,
    ops: Ops,
    seed: int,
    progress: Progress,
) -> StableWords:
    """Drop moving words in rounds, from `words` freed of topics of all.

    X (n × p) and its transpose. At least half of the words that vary are kept, and as many as r
    topics need.
    """
    still, r = words.kept.copy(), words.rank
    least = max((int(still.sum()) + 1) // 2, r + 1)
    for _ in range(_ROUNDS):
        F = np.full(len(still), np.nan)
        F[words.kept] = observed_statistics(words, axis, hold, ops).F
        fewer = still & np.less_equal(F, _TIMES * np.nanmedian(F[still]))
        if np.array_equal(fewer, still) or fewer.sum() < least:
            break
        try:
            U = static_topics(select_columns(X, fewer), r, ops, seed, progress)
        except RankError:  # fewer dimensions than words
            break
        still, words = fewer, remove_topics(columns_of, U, ops)
    return StableWords(words, int(np.count_nonzero(still)))

"""Estimate topics from stable words: moving words bend the topics, and stable ones seem to move.

With 5 moving words of 20, half of the stable words may be flagged. Words whose F exceeds 2.5 times
the median are dropped, and topics are estimated again. A dropped word stays dropped; otherwise the
rounds would cycle. Since the choice depends on the times, a global test, whose topics must ignore
them, does not use these topics.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.types import Csr
from wordgeom.drift.statistics import WordResiduals, observe, remove_topics
from wordgeom.drift.time_axis import Axis
from wordgeom.drift.topics import static_topics
from wordgeom.linalg.svd import transpose
from wordgeom.runtime.context import Context

_FACTOR = 2.5  # of the median
_MAX_ROUNDS = 10


def select_stable_words(
    columns: Csr, words: WordResiduals, axis: Axis, hold: bool, context: Context
) -> tuple[WordResiduals, int]:
    """Return residuals of words given topics of stable words, and the number of stable words.

    Moving words are dropped in rounds, starting from residuals given topics of all words. columns:
    Xᵀ (p × n). At least half of the varying words are kept, and more than r.
    """
    stable, r = words.varying.copy(), words.rank
    least = max((int(stable.sum()) + 1) // 2, r + 1)
    for _ in range(_MAX_ROUNDS):
        F = np.full(len(stable), np.nan)
        F[words.varying], _ = observe(words, axis, hold, context.ops)
        fewer = stable & np.less_equal(F, _FACTOR * np.nanmedian(F[stable]))
        if np.array_equal(fewer, stable) or fewer.sum() < least:
            break
        try:
            U = static_topics(transpose(columns.select(np.flatnonzero(fewer))), r, context)
        except RankError:  # the stable words have a lower rank than their number
            break
        stable, words = fewer, remove_topics(columns, U, context.ops)
    return words, int(np.count_nonzero(stable))

"""From the costs of pilot runs to the cost of the whole run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from wordgeom.core.errors import InputError
from wordgeom.planning.growth import bounded_power, line, power_law
from wordgeom.planning.pilot import Cost

_FITTED = 3  # pilots that a power law is fitted to
# Bounds of the exponent of memory beyond the program's own. A count holds tokens, which grow in
# proportion, words, which grow like the root, and blocks of constant size; measured on three texts,
# 0.53 to 0.75. build-pmi holds words and blocks. A method holds the matrix, and a test of change
# besides what words have to do with each other.
COUNTING, STREAMING, TRAINING, TESTING = (0.5, 0.75), (0.5, 0.5), (0.5, 1.0), (1.0, 1.25)
PAIRWISE = (1.0, 2.0)  # of the time of a search among all pairs of vectors


def estimate(
    pilots: Sequence[Cost], sizes: Sequence[float], size: float, memory: tuple[float, float],
    time: tuple[float, float] | None = None,
) -> Cost:  # fmt: skip
    """Return the cost of a run of `size`, from those of pilot runs of `sizes`, ascending.

    size: tokens of a count, entries of what a later command reads. The smallest pilot stands for
    what does not grow: the program itself and its start. memory, time: bounds of their exponents;
    without those of time, it grows in proportion. Raises InputError for fewer than three, and for
    samples that are no larger than others.
    """
    ascending = all(one < other for one, other in pairwise([0.0, *sizes]))
    if len(pilots) < _FITTED or not ascending:
        raise InputError("the text is too small for a plan", do="run the commands themselves")
    last = list(pilots)[-_FITTED:]
    at = list(sizes)[-_FITTED:]

    def grown(values: Sequence[float]) -> float:
        return power_law(at, values, size) if all(values) else float(values[-1])

    def beyond(values: Sequence[float], bounds: tuple[float, float]) -> float:
        start, *_ = values
        rest = [max(one - start, 0) for one in values[-_FITTED:]]
        return start + bounded_power(at, rest, size, bounds)

    peak = beyond([one.memory for one in pilots], memory)
    spent = [1e3 * one.seconds for one in pilots]
    seconds = (line(sizes, spent, size) if time is None else beyond(spent, time)) / 1e3
    ngrams, of_entry = round(grown([one.ngrams for one in last])), last[-1].entry_bytes
    entries = round(grown([one.entries for one in last]))
    # Entries apart: those of a large text may take more bytes, a step and no growth.
    rest = [one.disk - one.ngrams - one.entry_bytes * one.entries for one in last]
    disk = of_entry * entries + round(grown(rest)) + ngrams
    return Cost(
        round(grown([one.tokens for one in last])), round(grown([one.rows for one in last])),
        round(grown([one.words for one in last])), entries, disk, round(peak), seconds,
        last[-1].products, ngrams=ngrams, entry_bytes=of_entry,
    )  # fmt: skip

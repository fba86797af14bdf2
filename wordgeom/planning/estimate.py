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
# 0.53 to 0.75. build-pmi holds words and blocks. A method holds the matrix.
COUNTING, STREAMING, TRAINING = (0.5, 0.75), (0.5, 0.5), (0.5, 1.0)


def estimate(
    pilots: Sequence[Cost], sizes: Sequence[float], size: float, memory: tuple[float, float]
) -> Cost:
    """Return the cost of a run of `size`, from those of pilot runs of `sizes`, ascending.

    size: tokens of a count, entries of what a later command reads. The smallest pilot stands for
    what does not grow: the program itself and its start. memory: bounds of its exponent. Raises
    InputError for fewer than three, and for samples that are no larger than others.
    """
    ascending = all(one < other for one, other in pairwise([0.0, *sizes]))
    if len(pilots) < _FITTED or not ascending:
        raise InputError("the text is too small for a plan", do="run the commands themselves")
    last, first = list(pilots)[-_FITTED:], pilots[0]
    at = list(sizes)[-_FITTED:]

    def grown(values: Sequence[float]) -> float:
        return power_law(at, values, size) if all(values) else float(values[-1])

    beyond = [max(one.memory - first.memory, 0) for one in last]
    peak = first.memory + bounded_power(at, beyond, size, memory)
    seconds = line(sizes, [one.seconds for one in pilots], size)
    return Cost(
        round(grown([one.tokens for one in last])), round(grown([one.rows for one in last])),
        round(grown([one.words for one in last])), round(grown([one.entries for one in last])),
        round(grown([one.disk for one in last])), round(peak), seconds, last[-1].products,
    )  # fmt: skip

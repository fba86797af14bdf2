"""The pairs of a file: weights of similar and dissimilar pairs, or deviations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wordgeom.core.types import Array, Float64
from wordgeom.methods.mde.graphs.keys import to_keys, to_pairs
from wordgeom.methods.mde.pairs import Pairs


@dataclass(frozen=True)
class GivenPairs:
    """Distinct pairs of items, with the mean of the values that a file gives them.

    unknown: pairs with a name that is no item; same: pairs of an item with itself; repeated: pairs
    given more than once; contradictory: those of them with several values. Self pairs and unknown
    ones are left out.
    """

    pairs: Pairs
    unknown: int
    same: int
    repeated: int
    contradictory: int

    @property
    def similar(self) -> Pairs:
        """The pairs of positive weight."""
        return self.pairs.chosen(self.pairs.given > 0)

    @property
    def dissimilar(self) -> Pairs:
        """The pairs of negative weight, with its magnitude."""
        pairs = self.pairs.chosen(self.pairs.given < 0)
        return replace(pairs, given=-pairs.given)


def given_pairs(
    left: Sequence[str], right: Sequence[str], values: Float64, row: Callable[[str], int | None],
    n: int,
) -> GivenPairs:  # fmt: skip
    """Return the pairs (p) of names of n items; row: returns the item of a name, None for none."""
    one, other = (_rows(side, row) for side in (left, right))
    known = (one >= 0) & (other >= 0)
    used = known & (one != other)
    keys, places = np.unique(to_keys(one[used], other[used], n), return_inverse=True)
    times = np.bincount(places, minlength=len(keys))
    means = np.bincount(places, values[used], len(keys)) / np.maximum(times, 1)
    differing = np.zeros(len(keys), bool)
    differing[places[values[used] != means[places]]] = True
    return GivenPairs(
        pairs=to_pairs(keys, n, means),
        unknown=int(np.count_nonzero(~known)),
        same=int(np.count_nonzero(known & (one == other))),
        repeated=int(np.count_nonzero(times > 1)),
        contradictory=int(np.count_nonzero(differing & (times > 1))),
    )


def _rows(names: Sequence[str], row: Callable[[str], int | None]) -> Array:
    found = {name: row(name) for name in dict.fromkeys(names)}
    return np.array([-1 if (at := found[name]) is None else at for name in names], np.int64)

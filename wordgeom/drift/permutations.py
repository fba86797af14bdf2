"""Orders of the times: random ones, or all there are where these are few."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Int32, Int64


class Permutations:
    """Permutations of codes (m), the first as they are; inside groups (m) where there are groups.

    `count` of them: B + 1, or all that are different where these are no more (`complete`);
    `distinct`: how many are different, which may be infinite.
    """

    def __init__(
        self,
        codes: Int32,
        permutations: int,
        seed: int,
        groups: Int64 | None,
        rows: bool = False,
        symmetric: bool = False,
    ) -> None:
        """Codes that are equal change nothing by changing places, but for rows: those differ.

        symmetric: an order and its reverse are as extreme as each other. Raises InputError where
        nothing can be permuted.
        """
        self._groups = np.zeros(len(codes), np.int64) if groups is None else groups
        if _distinct(self._groups, codes) == 1:
            raise InputError("there is nothing to permute: each group has a single time",
                             do="permute times or documents")  # fmt: skip
        self._symmetric = symmetric
        self._codes = np.arange(len(codes), dtype=np.int32) if rows else codes
        self._seed, self.distinct = seed, _distinct(self._groups, self._codes)
        self.complete = self.distinct <= permutations + 1
        self.count = int(self.distinct) if self.complete else permutations + 1

    @property
    def smallest_p(self) -> float:
        """The smallest p that can come of it."""
        return max(1.0 / self.count, (2.0 if self._symmetric else 1.0) / self.distinct)

    def blocks(self, size: int) -> Iterator[Int32]:
        """Yield arrangements (size or fewer × m); the same each time."""
        places = [np.flatnonzero(self._groups == g) for g in np.unique(self._groups)]
        every = self._all(places) if self.complete else self._drawn(places)
        while rows := list(islice(every, size)):
            yield np.stack(rows)

    def _drawn(self, places: list[Int64]) -> Iterator[Int32]:
        rng = np.random.default_rng(self._seed)
        yield self._codes
        for _ in range(self.count - 1):
            drawn = np.empty_like(self._codes)
            for place in places:
                drawn[place] = self._codes[rng.permutation(place)]
            yield drawn

    def _all(self, places: list[Int64]) -> Iterator[Int32]:
        yield self._codes
        # What has one order only keeps it; few groups are left where there are few arrangements.
        several = [place for place in places if len(np.unique(self._codes[place])) > 1]
        for row in self._orders(several, self._codes.copy()):
            if not np.array_equal(row, self._codes):
                yield row.copy()

    def _orders(self, places: list[Int64], row: Int32) -> Iterator[Int32]:
        """Yield `row` with the codes of all places in each of their orders, one at a time."""
        if not places:
            yield row
            return
        for order in _orders(self._codes[places[0]]):
            row[places[0]] = order
            yield from self._orders(places[1:], row)


def _distinct(groups: Int64, codes: Int32) -> float:
    """Return how many arrangements differ: the product of the groups' multinomials."""
    sizes = np.unique(groups, return_counts=True)[1]
    alike = np.unique(np.column_stack([groups, codes]), axis=0, return_counts=True)[1]
    logs = sum(map(_log_factorial, sizes.tolist())) - sum(map(_log_factorial, alike.tolist()))
    return float(round(math.exp(logs))) if logs < 30.0 else math.exp(min(logs, 700.0))


def _log_factorial(number: int) -> float:
    return math.lgamma(number + 1)


def _orders(codes: Int32) -> Iterator[Array]:
    """Yield the different orders of codes (m), ascending as words in a dictionary are."""
    row = np.sort(codes)
    while True:
        yield row.copy()
        falls = np.flatnonzero(row[:-1] < row[1:])
        if not len(falls):
            return
        at = int(falls[-1])
        other = _last_above(row, at)
        row[at], row[other] = row[other], row[at]
        row[at + 1 :] = row[at + 1 :][::-1].copy()


def _last_above(row: Array, at: int) -> int:
    """Return the last place after `at` that holds more than it."""
    return at + 1 + int(np.flatnonzero(row[at + 1 :] > row[at])[-1])

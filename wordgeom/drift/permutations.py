"""Permutations of times: random ones, or all of them if there are few."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Int32, Int64


class Permutations:
    """Permutations of codes (m), the identity first; within groups (m) if given.

    count: B + 1, or the number of distinct permutations if that is not larger (`complete`);
    distinct: the number of distinct permutations, as a float because it may be huge.
    """

    def __init__(
        self,
        codes: Int32,
        permutations: int,
        seed: int,
        groups: Int64 | None,
        symmetric: bool = False,
    ) -> None:
        """Prepare permutations of `codes`, of which equal ones are interchangeable.

        symmetric: a permutation and its reverse are equally extreme. Raises InputError if there is
        nothing to permute.
        """
        self._groups = np.zeros(len(codes), np.int64) if groups is None else groups
        if _distinct(self._groups, codes) == 1:
            do = "pass --permute times or documents"
            raise InputError("nothing to permute: each group has a single time", do=do)
        self._symmetric = symmetric
        self._seed, self._codes = seed, codes
        self.distinct = _distinct(self._groups, codes)
        self.complete = self.distinct <= permutations + 1
        self.count = int(self.distinct) if self.complete else permutations + 1

    @property
    def smallest_p(self) -> float:
        """The smallest possible p from a statistic's own permutations.

        All permutations include the reverse of the observed order; random ones may lack it.
        """
        return (2.0 if self.complete and self._symmetric else 1.0) / self.count

    def blocks(self, size: int) -> Iterator[Int32]:
        """Yield blocks of permutations (at most size × m), the same in each call."""
        members = [np.flatnonzero(self._groups == g) for g in np.unique(self._groups)]
        permutations = self._all(members) if self.complete else self._random(members)
        while rows := list(islice(permutations, size)):
            yield np.stack(rows)

    def _random(self, members: list[Int64]) -> Iterator[Int32]:
        rng = np.random.default_rng(self._seed)
        yield self._codes
        for _ in range(self.count - 1):
            row = np.empty_like(self._codes)
            for group in members:
                row[group] = self._codes[rng.permutation(group)]
            yield row

    def _all(self, members: list[Int64]) -> Iterator[Int32]:
        yield self._codes
        # Groups with a single order are left out, which bounds the depth of the recursion.
        several = [group for group in members if len(np.unique(self._codes[group])) > 1]
        for row in self._orders(several, self._codes.copy()):
            if not np.array_equal(row, self._codes):
                yield row.copy()

    def _orders(self, groups: list[Int64], row: Int32) -> Iterator[Int32]:
        """Yield `row`, changed in place, with every combination of orders of the groups."""
        if not groups:
            yield row
            return
        for order in _orders(self._codes[groups[0]]):
            row[groups[0]] = order
            yield from self._orders(groups[1:], row)


def _distinct(groups: Int64, codes: Int32) -> float:
    """Return the number of distinct permutations: the product of the groups' multinomials."""
    sizes = np.unique(groups, return_counts=True)[1]
    equal = np.unique(np.column_stack([groups, codes]), axis=0, return_counts=True)[1]
    logs = sum(map(_log_factorial, sizes.tolist())) - sum(map(_log_factorial, equal.tolist()))
    return float(round(math.exp(logs))) if logs < 30.0 else math.exp(min(logs, 700.0))


def _log_factorial(number: int) -> float:
    return math.lgamma(number + 1)


def _orders(codes: Int32) -> Iterator[Array]:
    """Yield the distinct orders of codes (m) in lexicographic order."""
    row = np.sort(codes)
    while True:
        yield row.copy()
        ascents = np.flatnonzero(row[:-1] < row[1:])
        if not len(ascents):
            return
        at = int(ascents[-1])
        other = at + 1 + int(np.flatnonzero(row[at + 1 :] > row[at])[-1])  # the last larger code
        row[at], row[other] = row[other], row[at]
        row[at + 1 :] = row[at + 1 :][::-1].copy()

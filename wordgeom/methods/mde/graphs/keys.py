"""Pairs as single numbers, i · n + j for i < j: their order is that of `Pairs`."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Int64
from wordgeom.methods.mde.pairs import Pairs


def to_keys(one: Array, other: Array, n: int) -> Int64:
    """Return the keys (p) of pairs of distinct rows below n, in any order."""
    left, right = np.minimum(one, other), np.maximum(one, other)
    return left.astype(np.int64) * n + right


def distinct(keys: Int64) -> Int64:
    """Return the distinct keys, ascending; faster than np.unique, which hashes."""
    ascending = np.sort(keys)
    first = np.append(True, ascending[1:] != ascending[:-1])[: len(keys)]
    return np.asarray(ascending[first])


def keys_of(pairs: Pairs, n: int) -> Int64:
    """Return the keys (p), ascending."""
    return to_keys(pairs.left, pairs.right, n)


def to_pairs(keys: Int64, n: int, given: Array) -> Pairs:
    """Return the pairs of ascending, distinct keys (p) with what is given (p) about them."""
    left, right = np.divmod(keys, n)
    return Pairs(left.astype(np.int32), right.astype(np.int32), given.astype(np.float32))


def merged(one: Pairs, other: Pairs, n: int) -> Pairs:
    """Return two lists of distinct pairs as one."""
    if not (len(one) and len(other)):
        return one if len(one) else other
    keys = np.concatenate((keys_of(one, n), keys_of(other, n)))
    order = np.argsort(keys, kind="stable")
    return to_pairs(keys[order], n, np.concatenate((one.given, other.given))[order])


def mutual(rows: Array, chosen: Array, n: int) -> Pairs:
    """Return the pairs of rows (p) and their neighbours (p): weight 2 where mutual, else 1.

    §4.3.1; no row is its own neighbour, and none is chosen twice by a row.
    """
    keys, times = np.unique(to_keys(rows, chosen, n), return_counts=True)
    return to_pairs(keys, n, times)

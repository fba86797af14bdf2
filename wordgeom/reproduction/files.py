"""Compare two files or stores that one command wrote twice."""

from __future__ import annotations

import math
from itertools import zip_longest
from pathlib import Path

import numpy as np

from wordgeom.core.errors import WordgeomError
from wordgeom.core.types import Array
from wordgeom.formats import detection
from wordgeom.formats.vector_files import read_any_vectors
from wordgeom.reproduction.closeness import TOLERANCE, Answer, Closeness, Differences
from wordgeom.reproduction.stores import compare_stores
from wordgeom.storage import store
from wordgeom.storage.store import Store
from wordgeom.vectors.run_card import file_content

_BLOCK = 1 << 12  # rows compared at once
_DIFFERENT = Answer.DIFFERENT


def digest_at(path: Path) -> str:
    """Return the digest of a store or of a file."""
    return Store.open(path).digest if store.exists(path) else str(file_content(path)["sha256"])


def compare_outputs(then: Path, now: Path) -> Closeness:
    """Return how close two files or stores are. Raises FormatError for a damaged one."""
    if digest_at(then) == digest_at(now):
        return Closeness(Answer.IDENTICAL)
    if store.exists(then):
        return compare_stores(Store.open(then), Store.open(now))
    if then.suffix == ".npy":
        return _compare_arrays(then, now)
    if detection.format_of(then) in detection.VECTORS:
        try:
            return _compare_vectors(then, now)
        except WordgeomError:  # lines of text vectors, which have no words
            return _compare_lines(then, now)
    return _compare_lines(then, now)


def _compare_vectors(then: Path, now: Path) -> Closeness:
    one, other = read_any_vectors(then), read_any_vectors(now)
    if one.words != other.words:
        return Closeness(_DIFFERENT, "other words, or in another order")
    return _compare_matrices(one.matrix, other.matrix, "vectors")


def _compare_arrays(then: Path, now: Path) -> Closeness:
    one, other = (np.load(path, mmap_mode="r", allow_pickle=False) for path in (then, now))
    return _compare_matrices(one, other, "numbers")


def _compare_matrices(one: Array, other: Array, what: str) -> Closeness:
    if one.shape != other.shape or one.dtype != other.dtype:
        return Closeness(_DIFFERENT, f"shape {other.shape}, not {one.shape}")
    found = Differences()
    for start in range(0, len(one), _BLOCK):
        found.add(one[start : start + _BLOCK], other[start : start + _BLOCK])
    return found.closeness(what)


def _compare_lines(then: Path, now: Path) -> Closeness:
    """Compare text files, numbers to the tolerance."""
    with then.open("rb") as left, now.open("rb") as right:
        for number, (one, other) in enumerate(zip_longest(left, right), 1):
            if one != other and not _close_lines(one, other):
                return Closeness(_DIFFERENT, f"line {number:,} differs")
    return Closeness(Answer.EQUAL, "numbers in text")


def _close_lines(one: bytes | None, other: bytes | None) -> bool:
    if one is None or other is None:
        return False
    left, right = one.split(), other.split()
    return len(left) == len(right) and all(map(_close_fields, left, right))


def _close_fields(one: bytes, other: bytes) -> bool:
    if one == other:
        return True
    try:
        a, b = float(one), float(other)
    except ValueError:
        return False
    return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)

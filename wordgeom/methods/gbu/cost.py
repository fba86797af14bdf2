"""Memory and time of a build-up and its sweeps, checked in advance."""

from __future__ import annotations

import logging

import numpy as np

from wordgeom.matrices.interfaces import Matrix
from wordgeom.runtime.memory import check_memory

# An m × m eigendecomposition: arrays (block, LAPACK's copy, two work arrays, result), operations
# per m³, and operations per second of one thread.
_DENSE_COPIES, _EIGH_FLOPS, _FLOPS = 5, 4.0, 2e10
_ROW = 100  # bytes of a row besides its entries: word, offset, tiles
# Bytes of an entry in Matrix.with_counts, in Matrix.pair_counts, and in Matrix.full.
_WITH_COUNTS, _COUNTS, _FULL = 14, 11, 12
_HELD_VECTORS = 5  # arrays (V × K): v and u, both and a solution in a half sweep's coordinates
_LONG = 10.0  # seconds from which a note announces the expected time
_log = logging.getLogger(__name__)


def check(
    matrix: Matrix, m: int, K: int, memory: int, *, sweeps: int, weighted: bool, choice: str
) -> None:
    """Raise InputError if memory is insufficient; log a note before a long eigendecomposition.

    m: anchors, chosen by `choice`; K: dimension; memory: limit in bytes.
    """
    V, size = len(matrix.frequencies), matrix.dtype.itemsize
    by_frequency = np.sort(np.argsort(-matrix.frequencies, kind="stable")[:m])
    columns = matrix.entries_of(by_frequency) * (4 + size) + V * _ROW
    # The anchors' block is freed before vectors are allocated; float64 ones are copied to float32.
    vectors = V * K * (size if size == 4 else size + 4)
    needed = columns + max(_DENSE_COPIES * 8 * m * m, vectors)
    what = f"the columns of {m:,} anchors and {V:,} vectors of dimension {K:,}"
    do = "lower --anchors or --dim, count with --max-vocab, or raise --memory"
    if sweeps and weighted:  # pairs that exceed the memory are stored on disk
        needed = max(needed, _HELD_VECTORS * vectors)
    if (sweeps and not weighted) or choice != "frequency":
        needed = max(needed, matrix.entries * _FULL + _HELD_VECTORS * vectors)
        what = f"all {matrix.entries:,} pairs and {V:,} vectors of dimension {K:,}"
        do = "raise --memory, lower --dim, count with --max-vocab, or pass "
        do += "--sweeps 0" if sweeps else "--anchor-choice frequency"
    check_memory(what, needed, memory, do)
    seconds = _EIGH_FLOPS * float(m) ** 3 / _FLOPS
    if seconds > _LONG:
        _log.info("note: the eigenvectors of %s anchors will take about %.0f s", f"{m:,}", seconds)


def pairs_fit(V: int, entries: int, K: int, memory: int, *, targets: bool) -> bool:
    """Tell whether all pairs' counts, and targets, fit in memory with weighted sweeps' vectors."""
    return _pair(targets) * entries + _HELD_VECTORS * 4 * V * K <= memory


def pairs_on_disk(V: int, entries: int, K: int, memory: int, *, targets: bool) -> int:
    """Return the bytes of temporary files of all pairs, 0 where they fit in memory."""
    fits = pairs_fit(V, entries, K, memory, targets=targets)
    return 0 if fits else _pair(targets) * entries


def _pair(targets: bool) -> int:
    return _WITH_COUNTS if targets else _COUNTS

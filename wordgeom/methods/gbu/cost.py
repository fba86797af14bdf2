"""What a build-up and its sweeps will take, told or refused before they begin."""

from __future__ import annotations

import logging

import numpy as np

from wordgeom.matrices.interfaces import Matrix
from wordgeom.runtime.memory import check_memory

# An eigendecomposition of m × m: its arrays (the block, LAPACK's copy and two to work in, the
# result), its work, and what one thread does in a second.
_DENSE_COPIES, _EIGH_FLOPS, _FLOPS = 5, 4.0, 2e10
_ROW = 100  # bytes of a row beside its entries: its word, where it begins, its tiles
_COUNTED, _WHOLE = 20, 12  # bytes of an entry: Matrix.with_counts, Matrix.full
_HELD_VECTORS = 5  # arrays (V × K): v and u, and both and a solution in a half sweep's coordinates
_LONG = 10.0  # seconds worth a word beforehand
_log = logging.getLogger(__name__)


def check(
    matrix: Matrix, m: int, K: int, memory: int, *, sweeps: int, weighted: bool, choice: str
) -> None:
    """Tell beforehand of a long eigendecomposition; raise InputError for what does not fit.

    m anchors, chosen by `choice`; K numbers of a vector; memory in bytes.
    """
    V, size = len(matrix.frequencies), matrix.dtype.itemsize
    by_frequency = np.sort(np.argsort(-matrix.frequencies, kind="stable")[:m])
    columns = matrix.entries_of(by_frequency) * (4 + size) + V * _ROW
    # The anchors' block has gone when the vectors come; those in float64 are rounded at the end.
    vectors = V * K * (size if size == 4 else size + 4)
    needed = columns + max(_DENSE_COPIES * 8 * m * m, vectors)
    what = f"the columns of {m:,} anchors and {V:,} vectors of {K:,}"
    do = "lower --anchors or --dim, count with --max-vocab, or raise --memory"
    if sweeps and weighted:  # what of the pairs does not fit goes to the disk
        needed = max(needed, _HELD_VECTORS * vectors)
    if (sweeps and not weighted) or choice != "frequency":
        needed = max(needed, matrix.entries * _WHOLE + _HELD_VECTORS * vectors)
        what = f"all {matrix.entries:,} pairs and {V:,} vectors of {K:,}"
        do = "raise --memory, lower --dim, count with --max-vocab, or pass "
        do += "--sweeps 0" if sweeps else "--anchor-choice frequency"
    check_memory(what, needed, memory, do)
    seconds = _EIGH_FLOPS * float(m) ** 3 / _FLOPS
    if seconds > _LONG:
        _log.info("note: the eigenvectors of %s anchors take about %.0f s", f"{m:,}", seconds)


def pairs_fit(matrix: Matrix, K: int, memory: int) -> bool:
    """Tell whether counts and targets of all pairs fit beside the vectors of weighted sweeps."""
    vectors = _HELD_VECTORS * 4 * len(matrix.frequencies) * K
    return _COUNTED * matrix.entries + vectors <= memory

"""The largest eigenpairs of a dense symmetric matrix, on several threads at once.

numpy.linalg.eigh computes all eigenpairs, in twice the time for a tenth of them; scipy.linalg.eigh
computes some, but holds the interpreter's lock. Here SciPy's LAPACK is called without the lock.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np

from wordgeom.core.types import Array, Float64

_ARGUMENTS = 21  # of dsyevr, all pointers


def largest_of_dense(G: Float64, K: int) -> tuple[Float64, Float64]:
    """Return the K algebraically largest eigenvalues of G (n × n), descending, and eigenvectors.

    The eigenvectors (n × K) are columns. The lower triangle of G is used. K is at most n.
    """
    n = len(G)
    matrix = np.array(G, np.float64, order="C")  # is overwritten
    values, vectors = np.empty(n), np.empty((K, n))
    support, found = np.empty(2 * K, np.intc), np.empty(1, np.intc)

    def solve(work: Float64, integers: Array, sizes: tuple[int, int]) -> int:
        """Return LAPACK's status; sizes of −1 ask for the best ones."""
        info = np.empty(1, np.intc)
        lwork, liwork = sizes
        of_range = (0.0, 0.0, n - K + 1, n, 0.0)  # no bounds of values; places; the least error
        given: list[Array | float | bytes] = [
            b"V", b"I", b"U", n, matrix, n, *of_range, found, values, vectors, n, support,
            work, lwork, integers, liwork, info,
        ]  # fmt: skip
        held = [_pointed(each) for each in given]
        _dsyevr()(*(each.ctypes.data for each in held))
        return int(info[0])

    best, integers = np.empty(1), np.empty(1, np.intc)
    solve(best, integers, (-1, -1))
    sizes = int(best[0]), int(integers[0])
    status = solve(np.empty(sizes[0]), np.empty(sizes[1], np.intc), sizes)
    if status or found[0] != K:  # it may fail for clusters of eigenvalues
        every, U = np.linalg.eigh(G)
        return every[: -K - 1 : -1], U[:, : -K - 1 : -1]
    return values[:K][::-1], vectors[::-1].T


def _pointed(value: Array | float | bytes) -> Array:
    """Return an array that an argument points to: itself, or a letter, an integer or a number."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, bytes):
        return np.frombuffer(value, np.uint8)
    return np.array([value], np.intc if isinstance(value, int) else np.float64)


@cache
def _dsyevr() -> Callable[..., None]:
    """Return LAPACK's function, which ctypes calls without the interpreter's lock."""
    from numba.extending import get_cython_function_address

    address = get_cython_function_address("scipy.linalg.cython_lapack", "dsyevr")
    function: Callable[..., None] = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * _ARGUMENTS)(address)
    return function

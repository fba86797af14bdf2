"""Isomap: an embedding of the shortest paths through near pairs (Tenenbaum et al. 2000).

The graph joins the words whose cosine exceeds τ, by the distance of their unit vectors, as in
appendix B of Saul (2022). scikit-learn joins the parts of a graph that is not connected by their
closest words.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Float32, Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

if TYPE_CHECKING:
    from sklearn.manifold import Isomap

MOST = 5_000  # words: paths and eigenvectors take the cube of their number


def isomap(units: Float64, K: int, tau: float, context: Context) -> Float32:
    """Return Isomap's embedding (n × K) of unit vectors (n × D), float32.

    Raises what `fitted` raises.
    """
    return np.asarray(fitted(units, K, tau, context).embedding_, np.float32)


def fitted(units: Float64, K: int, tau: float, context: Context) -> Isomap:
    """Return scikit-learn's Isomap of unit vectors (n × D); its `dist_matrix_` holds the paths.

    Raises InputError for more than MOST words, for K ≥ n, and for the memory limit.
    """
    n = len(units)
    if not K < n <= MOST:
        what = f"isomap to {K} dimensions needs {K + 1:,} to {MOST:,} words"
        raise InputError(what, found=f"{n:,}", do="leave it out of --baselines")
    needed = 40 * n * n  # bytes: paths, their Gram matrix, and the copies of a solver
    check_memory("the paths of isomap", needed, context.memory, "raise --memory")
    return context.pool.call(lambda: _fitted(units, K, tau))


def _fitted(units: Float64, K: int, tau: float) -> Isomap:
    from sklearn.manifold import Isomap

    radius = np.sqrt(2.0 - 2.0 * tau)
    # A threaded solver adds in an order that depends on the threads; ARPACK starts at random.
    made = Isomap(n_neighbors=None, radius=radius, n_components=K, eigen_solver="dense")
    with one_thread(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of connected components")
        warnings.filterwarnings("ignore", category=Warning, module=r"scipy\.sparse")
        return made.fit(units)

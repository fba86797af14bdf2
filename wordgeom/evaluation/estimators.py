"""Run scikit-learn on one thread, with deterministic results and without warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deterministic_estimators() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread, and silence scikit-learn's convergence warnings.

    The caller checks and reports convergence. Enter it on the main thread, around all work of the
    pool, because warning filters belong to the process.
    """
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield

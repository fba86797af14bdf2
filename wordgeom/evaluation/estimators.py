"""How scikit-learn is run here: one thread, the same bytes, and no warning past the notes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deterministic_estimators() -> Iterator[None]:
    """Hold BLAS and OpenMP to one thread, and scikit-learn's warnings of convergence back.

    What did not converge must be found and said by the caller. For the main thread, around all
    work of the pool: warnings' filters are those of the process.
    """
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield

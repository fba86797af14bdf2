"""Single-threaded BLAS inside blocks of the pool, so that its sums have one order."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def one_thread() -> AbstractContextManager[object]:
    """Return a context in which every BLAS call runs on the calling thread alone."""
    # SciPy has its own BLAS, found only once it is loaded.
    controller = _controller("scipy.linalg" in sys.modules)
    limited: AbstractContextManager[object] = controller.limit(limits=1, user_api="blas")
    return limited


@cache
def _controller(_with_scipy: bool) -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()

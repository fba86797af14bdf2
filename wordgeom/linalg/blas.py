"""BLAS on one thread inside blocks of the pool, so that its sums have one order."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def one_thread() -> AbstractContextManager[object]:
    """Return a context in which BLAS calls of any thread run on that thread alone."""
    # SciPy brings a BLAS of its own, to be found once it is loaded.
    controller = _controller("scipy.linalg" in sys.modules)
    limited: AbstractContextManager[object] = controller.limit(limits=1, user_api="blas")
    return limited


@cache
def _controller(_with_scipy: bool) -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()

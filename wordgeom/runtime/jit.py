"""The one wrapper of Numba's njit, without GIL and `prange`; code is compiled once per machine.

Kernels live in files named `*kernels.py`. The compiled code is cached in the user's cache
directory under a digest of all kernel sources, because Numba itself checks only the file of a
kernel and not those of the kernels that it calls. Without a writable cache, kernels are compiled on
every run and one warning is logged. Threads come from pool.py instead of `prange`: that gives
progress, a prompt Ctrl-C and the same bytes at any number of threads.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config

from wordgeom.runtime.cache import cache_folder

_Function = TypeVar("_Function", bound=Callable[..., Any])
_log = logging.getLogger(__name__)


def kernel(function: _Function) -> _Function:
    """Return `function`, compiled by Numba at its first call; it runs without the GIL."""
    return _compiled(function, fastmath=False)


def summing_kernel(function: _Function) -> _Function:
    """Compile as `kernel` does, with sums reordered for SIMD.

    The compiler fixes the order, so that every run on one kind of processor returns the same bytes.
    NaN and infinity keep their meaning.
    """
    return _compiled(function, fastmath={"reassoc", "contract", "nsz"})


def _compiled(function: _Function, fastmath: bool | set[str]) -> _Function:
    folder = _cache_folder()
    if folder is None:
        return numba.njit(nogil=True, fastmath=fastmath)(function)  # type: ignore[no-any-return]
    # Numba reads this setting while it decorates; other users of Numba keep their own value.
    before, config.CACHE_DIR = config.CACHE_DIR, folder
    try:
        jit = numba.njit(nogil=True, cache=True, fastmath=fastmath)
        return jit(function)  # type: ignore[no-any-return]
    finally:
        config.CACHE_DIR = before


def kernels_digest() -> str:
    """Return a digest of the sources of all kernels."""
    digest = hashlib.sha256(numba.__version__.encode())
    package = Path(__file__).parent.parent
    for path in sorted([*package.rglob("*kernels.py"), Path(__file__)]):
        digest.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _cache_folder() -> str | None:
    try:
        return str(cache_folder(f"kernels-{kernels_digest()}"))
    except (OSError, RuntimeError) as error:
        _log.warning("no kernel cache (%s): kernels are compiled on every run", error)
        return None

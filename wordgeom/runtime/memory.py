"""The use of --memory: what the program itself takes, what data may take, and what cannot fit."""

from __future__ import annotations

import ctypes
import logging
import os
import sys

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import exceeding

PROGRAM = 120 * 10**6  # bytes of Python, its libraries, the kernels and the tables of characters
_log = logging.getLogger(__name__)
_AMPLE = 2 * 10**9  # bytes of a limit under which what malloc keeps does not matter
_MAPPED_FROM, _M_MMAP_THRESHOLD = 1 << 18, -3
_MALLOPT = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None


def data_room(memory: int) -> int:
    """Return the bytes that data may take; a share of a limit that is too low for the program."""
    return memory - min(PROGRAM, 2 * memory // 5)


def check_memory(what: str, needed: int, memory: int, do: str) -> None:
    """Raise InputError where `what` (a plural) needs more than `memory` bytes; do: the remedy.

    A warning is logged where that and the program itself do.
    """
    if needed > memory:
        need, limit = exceeding(needed, memory)
        raise InputError(f"{what} need {need}, more than the memory limit of {limit}", do=do)
    _log.debug("%s need %d bytes", what, needed)  # scripts/bench_needs.py compares it with the peak
    if needed + PROGRAM > memory:
        need, limit = exceeding(needed + PROGRAM, memory)
        line = (
            "warning: %s and the program itself may need %s, more than the memory limit of %s; %s"
        )
        _log.warning(line, what, need, limit, do)


def return_freed(memory: int) -> None:
    """Make glibc return large arrays to the system when they are freed, under a low limit.

    By default it keeps them, up to 32 MB each, once one was freed: some 100 MB in all. pyarrow's
    own allocator would keep as much.
    """
    if memory < _AMPLE:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
        if _MALLOPT is not None:
            _MALLOPT(_M_MMAP_THRESHOLD, _MAPPED_FROM)

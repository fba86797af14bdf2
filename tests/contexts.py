"""A context around a pool, for tests of what needs one."""

from __future__ import annotations

from functools import partial

from wordgeom.linalg.device import get_ops
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool


def context_of(pool: Pool) -> Context:
    """A context on the CPU with a memory limit of 1 GiB."""
    return Context(pool, partial(get_ops, "cpu", pool), 1 << 30)

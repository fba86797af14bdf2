"""A context around a pool, for tests of what needs one."""

from __future__ import annotations

from functools import partial

import numpy as np

from wordgeom.linalg.device import get_ops
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool


def context_of(pool: Pool) -> Context:
    """A context on the CPU with a memory limit of 1 GiB."""
    return Context(pool, partial(get_ops, "cpu", pool), 1 << 30)


class Kept:
    """A checkpoint in memory: every state, and the one to start from."""

    def __init__(self, start=None):
        self.start, self.states = start, []

    def restore(self):
        return self.start

    def save(self, state):
        self.states.append({name: np.array(array) for name, array in state().items()})

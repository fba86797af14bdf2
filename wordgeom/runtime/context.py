"""The context of a computation: threads, memory, scratch space, randomness, linear algebra."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from wordgeom.core.ops import Ops
from wordgeom.core.types import Array, BlockCheckpoint
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress
from wordgeom.runtime.scheduler import PoolScheduler, Scheduler


class NoCheckpoint:
    """A checkpoint that restores and saves nothing."""

    def restore(self) -> Mapping[str, Array] | None:
        """Return None: there is nothing to resume."""
        return None

    def save(self, state: Callable[[], Mapping[str, Array]]) -> None:
        """Ignore the state."""

    def holds(self, name: str) -> bool:
        """Return False: nothing was saved."""
        return False

    def find(self, name: str) -> Mapping[str, Array]:
        """Raise KeyError: nothing was saved."""
        raise KeyError(name)

    def keep(self, name: str, result: Mapping[str, Array]) -> None:
        """Ignore the result."""


@dataclass(frozen=True)
class Context:
    """What a stage or a method may use besides its inputs and options.

    pool: worker threads; open_ops: returns the linear algebra of the device; memory: limit in
    bytes; seed: random seed; scratch: directory for temporary files, None for the system's;
    progress: progress bars; checkpoint: state of a long run, which `--resume` restores; prefix: of
    the names of results in it; cluster: computes portable blocks, None for the pool.
    """

    pool: Pool
    open_ops: Callable[[], Ops]
    memory: int
    seed: int = 1
    scratch: str | None = None
    progress: Progress = field(default_factory=Progress)
    checkpoint: BlockCheckpoint = field(default_factory=NoCheckpoint)
    prefix: str = ""
    cluster: Scheduler | None = None

    @property
    def scheduler(self) -> Scheduler:
        """What computes portable blocks."""
        return self.cluster or PoolScheduler(self.pool)

    @cached_property
    def ops(self) -> Ops:
        """The linear algebra, opened at its first use."""
        return self.open_ops()

    def part(self, name: str) -> Context:
        """Return the context of a part of the work, whose saved results have their own names."""
        return replace(self, prefix=f"{self.prefix}{name}-")

    @cached_property
    def rng(self) -> np.random.Generator:
        """The random generator, seeded once."""
        return np.random.default_rng(self.seed)

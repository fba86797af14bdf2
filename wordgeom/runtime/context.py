"""The context of a computation: threads, memory, scratch space, randomness, linear algebra."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from wordgeom.core.ops import Ops
from wordgeom.core.types import Array, Checkpoint
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress


class NoCheckpoint:
    """A checkpoint that restores and saves nothing."""

    def restore(self) -> Mapping[str, Array] | None:
        """Return None: there is nothing to resume."""
        return None

    def save(self, state: Callable[[], Mapping[str, Array]]) -> None:
        """Ignore the state."""


@dataclass(frozen=True)
class Context:
    """What a stage or a method may use besides its inputs and options.

    pool: worker threads; open_ops: returns the linear algebra of the device; memory: limit in
    bytes; seed: random seed; scratch: directory for temporary files, None for the system's;
    progress: progress bars; checkpoint: state of a long run, which `--resume` restores.
    """

    pool: Pool
    open_ops: Callable[[], Ops]
    memory: int
    seed: int = 1
    scratch: str | None = None
    progress: Progress = field(default_factory=Progress)
    checkpoint: Checkpoint = field(default_factory=NoCheckpoint)

    @cached_property
    def ops(self) -> Ops:
        """The linear algebra, opened at its first use."""
        return self.open_ops()

    @cached_property
    def rng(self) -> np.random.Generator:
        """The random generator, seeded once."""
        return np.random.default_rng(self.seed)

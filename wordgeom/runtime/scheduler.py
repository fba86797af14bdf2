"""Schedulers: where the blocks of a map are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from wordgeom.core.types import Array
from wordgeom.runtime.pool import Pool

_Block = TypeVar("_Block")
_Spec = TypeVar("_Spec")
Result = Mapping[str, Array]


@dataclass(frozen=True)
class Cluster:
    """What `--scheduler` names, and the folder that is shared with its workers during a run."""

    name: str
    folder: Path


class Shared(Protocol):
    """An array that blocks read, as the spec of a map holds it."""

    def open(self) -> Array:
        """Return the array, which is not to be modified."""


class Scheduler(Protocol):
    """Computes blocks, in this process or on a cluster.

    A cluster needs a `compute` that is a function of a module, and blocks and a spec that are
    small: bounds, options and shared arrays.
    """

    @property
    def threads(self) -> int:
        """Number of blocks that are computed at the same time."""

    def share(self, array: Array) -> Shared:
        """Return the array as a Shared, for the specs of maps; raises WriteError."""

    def release(self, *shared: Shared) -> None:
        """Free what no later map reads."""

    def map(
        self,
        compute: Callable[[_Block, _Spec], Result],
        blocks: Sequence[_Block],
        spec: _Spec,
        ahead: int | None = None,
    ) -> Iterator[Result]:
        """Yield compute(block, spec) for every block, in order.

        ahead: blocks computed beyond the one that is awaited, None for a few per thread.
        """


def share_all(scheduler: Scheduler, *arrays: Array) -> tuple[Shared, ...]:
    """Share several large arrays at the same time, a thread each: files are written side by side.

    Raises what `share` raises.
    """
    with ThreadPoolExecutor(len(arrays)) as writers:
        return tuple(writers.map(scheduler.share, arrays))


@dataclass(frozen=True, eq=False)
class Held:
    """An array in the memory of this process."""

    array: Array

    def open(self) -> Array:
        """Return the array."""
        return self.array


class PoolScheduler:
    """Computes blocks on the threads of this process."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @property
    def threads(self) -> int:
        """Number of blocks that are computed at the same time."""
        return self._pool.threads

    def share(self, array: Array) -> Held:
        """Return the array as a Shared."""
        return Held(array)

    def release(self, *shared: Shared) -> None:
        """Do nothing: memory is free once no map holds the array."""

    def map(
        self,
        compute: Callable[[_Block, _Spec], Result],
        blocks: Sequence[_Block],
        spec: _Spec,
        ahead: int | None = None,
    ) -> Iterator[Result]:
        """Yield compute(block, spec) for every block, in order."""
        return self._pool.map(lambda block: compute(block, spec), blocks, ahead)

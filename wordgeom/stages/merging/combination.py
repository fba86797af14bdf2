"""What `merge` can make of matrices: the interface of its combinations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from wordgeom.corpus.shard_range import ShardRange
from wordgeom.matrices.count_request import made_options
from wordgeom.matrices.document_term import Stored
from wordgeom.stages.stage import Job
from wordgeom.storage.disk_space import Demand
from wordgeom.storage.store import Store


class Combination(Protocol):
    """A combination of matrices that has been checked."""

    @property
    def request(self) -> dict[str, Any]:
        """The request that its run card records."""

    @property
    def covered(self) -> ShardRange | None:
        """The shards that it holds, None for a whole count."""

    @property
    def demand(self) -> Demand:
        """The disk space that it needs."""

    def write(self, out: Path, job: Job) -> Store:
        """Combine the matrices, and commit the store."""

    def summary(self, made: Store) -> str:
        """Return its size and what it was made from."""


def common_options(matrices: Sequence[Stored]) -> dict[str, Any]:
    """Return the options of a count request, None for those in which the matrices differ."""
    every = [made_options(m.store.request) for m in matrices]
    return {
        name: value if all(one.get(name) == value for one in every) else None
        for name, value in every[0].items()
    }


def total(matrices: Sequence[Stored], attribute: str) -> int:
    """Return the sum of an attribute."""
    return sum(m.store.attributes[attribute] for m in matrices)

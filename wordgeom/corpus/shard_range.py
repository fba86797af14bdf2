"""The attribute `shard` of a store: which shards of a count it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wordgeom.core.errors import InputError
from wordgeom.storage.store import Store


@dataclass(frozen=True, order=True)
class ShardRange:
    """The adjacent shards `first` to `last`, from 1, of the `of` shards of a count."""

    first: int
    last: int
    of: int

    @classmethod
    def read(cls, attributes: Mapping[str, Any]) -> ShardRange | None:
        """Return the shards that `[i, N]` or `[first, last, N]` stands for, None for all."""
        value = attributes.get("shard")
        return None if value is None else cls(value[0], value[-2], value[-1])

    @property
    def attribute(self) -> list[int]:
        """The value of the attribute."""
        return [*([self.first] if self.last > self.first else []), self.last, self.of]

    def __str__(self) -> str:
        if self.first == self.last:
            return f"shard {self.first} of {self.of}"
        return f"shards {self.first} to {self.last} of {self.of}"


def shard_note(store: Store) -> str:
    """Return ` (shard i of N)` for the summary of a store, nothing for a whole count."""
    held = ShardRange.read(store.attributes)
    return "" if held is None else f" ({held})"


def check_whole(store: Store) -> None:
    """Raise InputError for a store that lacks shards of its count."""
    held = ShardRange.read(store.attributes)
    if held is not None:
        do = "combine the shards with wordgeom merge"
        raise InputError(f"is only {held}", where=store.path, do=do)

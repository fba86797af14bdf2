"""The cost of a count in shards, and of their merge: what each task of an array job takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from wordgeom.planning.pilot import PROGRAM_SECONDS, Cost
from wordgeom.planning.verdict import Planned
from wordgeom.runtime.memory import PROGRAM

MERGED = 14e6  # entries read in a second: docs/scaling.md
_WORD = 230  # bytes of a word while matrices are merged: its sums, offsets and cells
_BUFFERS = 15e7  # bytes of blocks of rows


def shards_of(whole: Planned, shard: Cost, shards: int) -> list[Planned]:
    """Return the plan of one of several shards, and of the merge of all.

    whole: the plan of the count in one run; shard: its cost at the shard's part of the tokens.
    Memory and time of a shard are those of the whole count, an upper bound: without a vocabulary,
    or where its text cannot be read in parts, a shard reads all of it.
    """
    words = whole.cost.disk - whole.cost.entry_bytes * whole.cost.entries  # all but the entries
    size = max(words, 0) + shard.entry_bytes * shard.entries
    each = replace(whole.cost, tokens=shard.tokens, entries=shard.entries, disk=size,
                   temporary=shard.temporary, entry_bytes=shard.entry_bytes)  # fmt: skip
    out = Path(f"{whole.out}.shard-1-of-{shards}")
    memory = PROGRAM + _WORD * whole.cost.words + _BUFFERS
    merged = replace(
        whole.cost, tokens=0, temporary=0, memory=min(round(memory), whole.limit),
        seconds=PROGRAM_SECONDS + shards * shard.entries / MERGED,
    )  # fmt: skip
    name = f"{whole.name} (each of {shards} shards)"
    one = replace(whole, name=name, out=out, cost=each, runs=shards)
    return [one, replace(whole, name="merge", cost=merged)]

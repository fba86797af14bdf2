"""Are matrices shards of one count, each once? And the text that they were counted from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from wordgeom.core.errors import InputError
from wordgeom.core.requests import differing_option
from wordgeom.corpus.inputs.part_digests import digest_of_parts, parts_of
from wordgeom.corpus.shard_range import ShardRange
from wordgeom.stages.merging.compatibility import (
    Mergeable,
    input_digests,
    other_text,
    shards_of,
)

PART = "part"  # attribute of a shard that has read a part of the text
_AGAIN = "count it again"


def check_shards(matrices: Sequence[Mergeable], *, part: bool) -> ShardRange | None:
    """Return the shards of one count that the matrices hold together, None for all.

    part: others may be missing, except between these. Raises InputError.
    """
    first, every = matrices[0], shards_of(matrices)
    of = every[0].of if every[0] else 0
    numbered: list[tuple[ShardRange, Mergeable]] = []
    for matrix, held in zip(matrices, every, strict=True):
        if held is None or held.of != of:
            do = "name shards of one count and nothing else"
            what = f"is {held or 'a whole count'}, not a shard of the same count"
            raise InputError(what, where=matrix.path, do=do)
        _check_same_text(first, matrix)
        numbered.append((held, matrix))
    numbered.sort(key=lambda one: one[0])
    _check_disjoint(numbered)
    _check_complete([held for held, _ in numbered], part=part)
    if PART in first.store.attributes:
        _check_adjacent([matrix for _, matrix in numbered])
    covered = ShardRange(numbered[0][0].first, numbered[-1][0].last, of)
    return None if (covered.first, covered.last) == (1, of) else covered


def shard_attributes(matrices: Sequence[Mergeable], covered: ShardRange | None) -> dict[str, Any]:
    """Return the attributes of a store that holds some shards, none for all shards."""
    if covered is None:
        return {}
    read = [m.store.attributes[PART] for m in matrices if PART in m.store.attributes]
    if not read:
        return {"shard": covered.attribute}
    begin, end = min(one["begin"] for one in read), max(one["end"] for one in read)
    return {"shard": covered.attribute, PART: {**read[0], "begin": begin, "end": end}}


def joined_inputs(matrices: Sequence[Mergeable]) -> list[dict[str, Any]]:
    """Return the inputs of the text that several shards have read, each a part of it."""
    return [_joined(cards) for cards in zip(*map(_inputs, matrices), strict=True)]


def _joined(cards: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the card of a file that several shards have read."""
    whole = [card for card in cards if parts_of(card["digest"]) is None]
    if whole:
        return whole[0]
    parts = [part for card in cards for part in parts_of(card["digest"]) or ()]
    return {**cards[0], "digest": digest_of_parts(parts)}


def _text(matrix: Mergeable) -> list[str]:
    """Return what identifies the text of a shard: a fingerprint if it has read a part of it."""
    part = matrix.store.attributes.get(PART)
    return input_digests(matrix) if part is None else [PART, part["text"]]


def _inputs(matrix: Mergeable) -> list[dict[str, Any]]:
    inputs: list[dict[str, Any]] = matrix.store.request["inputs"]
    return inputs


def _check_same_text(first: Mergeable, other: Mergeable) -> None:
    """Raise InputError for two shards of different texts, or with different options."""
    one, two = first.store, other.store
    how = differing_option(one.request["options"], two.request["options"])
    if how is not None:
        do = "count every shard with the same options"
        raise InputError(f"differs from {first.path}: it {how}", where=other.path, do=do)
    mine, theirs = ({**store.request, "inputs": []} for store in (one, two))
    number = [len(_inputs(matrix)) for matrix in (first, other)]
    if mine != theirs or _text(first) != _text(other) or number[0] != number[1]:
        raise other_text(first, other)
    for card, its in zip(_inputs(first), _inputs(other), strict=True):
        of_part = PART in other.store.attributes  # which proves nothing about the other parts
        same_name = card.get("name") == its.get("name")
        if of_part and same_name and card.get("stamp") != its.get("stamp"):
            what = f"was counted from {its.get('name')} after a change, unlike {first.path}"
            raise InputError(what, where=other.path, do="count every shard again")


def _check_disjoint(numbered: Sequence[tuple[ShardRange, Mergeable]]) -> None:
    """Raise InputError for a shard that two matrices hold, which are in the order of shards."""
    for (held, matrix), (next_held, next_matrix) in pairwise(numbered):
        if next_held.first <= held.last:
            what = f"is {next_held} and overlaps {matrix.path}, {held}"
            raise InputError(what, where=next_matrix.path, do="name each shard once")


def _check_complete(held: Sequence[ShardRange], *, part: bool) -> None:
    """Raise InputError for missing shards: of all, or in a part between those that are there."""
    of, there = held[0].of, {k for one in held for k in range(one.first, one.last + 1)}
    first, last = (held[0].first, held[-1].last) if part else (1, of)
    missing = [str(k) for k in range(first, last + 1) if k not in there]
    if missing:
        more = f" and {len(missing) - 10:,} more" if len(missing) > 10 else ""
        be = "is" if len(missing) == 1 else "are"
        which = f"shard {', '.join(missing[:10])}{more} of {of} {be} missing"
        do = "name adjacent shards" if part else "name each shard once, or pass --part"
        raise InputError(which, where="merge", do=do)


def _check_adjacent(matrices: Sequence[Mergeable]) -> None:
    """Raise InputError where a shard does not begin where the one before it ends."""
    for before, after in pairwise(matrices):
        ends, begins = before.store.attributes[PART]["end"], after.store.attributes[PART]["begin"]
        if ends != begins:
            what = f"does not begin where {before.path} ends"
            raise InputError(what, where=after.path, do=f"{_AGAIN} with the same version")

"""Are matrices all shards of one count, each once? And the text that they were counted from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from wordgeom.core.errors import InputError
from wordgeom.core.requests import differing_option
from wordgeom.corpus.inputs.part_digests import digest_of_parts, parts_of
from wordgeom.stages.merging.compatibility import (
    Mergeable,
    input_digests,
    other_text,
    shards_of,
)

PART = "part"  # attribute of a shard that has read a part of the text
_AGAIN = "count it again"


def check_shards(matrices: Sequence[Mergeable]) -> None:
    """Raise InputError unless the matrices are all shards of one count."""
    shards, first = shards_of(matrices), matrices[0]
    for matrix, shard in zip(matrices, shards, strict=True):
        if shard is None or shards[0] is None or shard[1] != shards[0][1]:
            found = f"shard {shard[0]} of {shard[1]}" if shard else "a whole count"
            do = "name all shards of one count and nothing else"
            what = f"is {found}, not a shard of the same count"
            raise InputError(what, where=matrix.path, do=do)
        _check_same_text(first, matrix)
    numbered = [(shard[0], m) for shard, m in zip(shards, matrices, strict=True) if shard]
    _check_each_once(numbered, shards[0][1] if shards[0] else 0)
    if PART in first.store.attributes:
        _check_adjacent([matrix for _, matrix in sorted(numbered, key=lambda one: one[0])])


def joined_inputs(matrices: Sequence[Mergeable]) -> list[dict[str, Any]]:
    """Return the inputs of a whole text, from shards that each read a part of it."""
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


def _check_each_once(found: Sequence[tuple[int, Mergeable]], of: int) -> None:
    """Raise InputError for a shard that is missing, or given twice."""
    have: dict[int, Mergeable] = {}
    for index, matrix in found:
        if index in have:
            what = f"is shard {index} of {of}, as {have[index].path} is"
            raise InputError(what, where=matrix.path, do="name each shard once")
        have[index] = matrix
    missing = [str(k) for k in range(1, of + 1) if k not in have]
    if missing:
        more = f" and {len(missing) - 10:,} more" if len(missing) > 10 else ""
        be = "is" if len(missing) == 1 else "are"
        which = f"shard {', '.join(missing[:10])}{more} of {of} {be} missing"
        raise InputError(which, where="merge", do="name each shard once")


def _check_adjacent(matrices: Sequence[Mergeable]) -> None:
    """Raise InputError where a shard does not begin where the one before it ends."""
    for before, after in pairwise(matrices):
        ends, begins = before.store.attributes[PART]["end"], after.store.attributes[PART]["begin"]
        if ends != begins:
            what = f"does not begin where {before.path} ends"
            raise InputError(what, where=after.path, do=f"{_AGAIN} with the same version")

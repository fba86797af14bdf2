"""Can matrices be combined? The errors that say which cannot, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from wordgeom.core.errors import InputError
from wordgeom.core.requests import differing_option
from wordgeom.corpus.shard_range import ShardRange
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.counts.windows import WindowOptions
from wordgeom.matrices.count_request import made_options
from wordgeom.matrices.kinds import noun
from wordgeom.storage.store import Store

SAME_WORDS = "count each text with the same --read-vocab"
_SAME_OPTIONS = "count every shard from the same text with the same options"
# Options that decide what a word is, and where the windows are that it shares with others.
_READING = (
    "tokeniser", "token_pattern", "case", "strip", "normalise", "k", "oov", "sample", "phrases",
)  # fmt: skip


class Mergeable(Protocol):
    """What `merge` reads: a matrix or the words of a text, in a store."""

    @property
    def store(self) -> Store:
        """The store."""

    @property
    def path(self) -> Path:
        """Its directory."""

    @property
    def vocabulary(self) -> Vocabulary:
        """Its words."""


def check_addable(matrices: Sequence[Mergeable]) -> None:
    """Raise InputError for a matrix of another kind, an imported one, and one given twice."""
    first = matrices[0]
    for matrix in matrices:
        if matrix.store.kind != first.store.kind:
            what = f"is {noun(matrix.store.kind)}, and {first.path} {noun(first.store.kind)}"
            raise InputError(what, where=matrix.path, do="merge matrices of one kind")
        if matrix.store.request["command"] == "convert":
            do = "merge counts that wordgeom made"
            raise InputError("was imported; its window is unknown", where=matrix.path, do=do)
    # Different texts can have equal counts: their digests distinguish them.
    made_of = [(m.store.digest, input_digests(m)) for m in matrices]
    for k, made in enumerate(made_of):
        if made in made_of[:k]:
            first, again = matrices[made_of.index(made)], matrices[k].path
            same = f"has the same counts as {first.path}"
            what = "is given twice" if again == first.path else same
            raise InputError(what, where=again, do="name each matrix once")


def input_digests(matrix: Mergeable) -> list[str]:
    """Return the digests of what a matrix was counted from."""
    return [i["digest"] for i in matrix.store.request["inputs"]]


def check_windows(first: Mergeable, other: Mergeable) -> None:
    """Raise InputError where two matrices were counted with different windows."""
    mine, theirs = (WindowOptions.take(made_options(m.store.request)) for m in (first, other))
    _check_options(
        first, other, mine.result_options(), theirs.result_options(),
        "count both with the same window",
    )  # fmt: skip


def check_reading(first: Mergeable, other: Mergeable) -> None:
    """Raise InputError where two texts were split into words in different ways."""
    mine, theirs = (
        {name: value for name, value in made_options(m.store.request).items() if name in _READING}
        for m in (first, other)
    )
    _check_options(first, other, mine, theirs, "count both with the same options")


def check_passages(first: Mergeable, other: Mergeable) -> None:
    """Raise InputError where documents were split into passages in different ways."""
    mine, theirs = ({"passages": m.store.attributes.get("passages")} for m in (first, other))
    _check_options(first, other, mine, theirs, "count both with the same --passages")


def _check_options(
    first: Mergeable, other: Mergeable, mine: Mapping[str, Any], theirs: Mapping[str, Any], do: str
) -> None:
    how = differing_option(mine, theirs)
    if how is not None:
        raise InputError(f"differs from {first.path}: it {how}", where=other.path, do=do)


def check_vocabulary(first: Mergeable, other: Mergeable) -> None:
    """Raise InputError where the words of two matrices differ, naming the first difference."""
    ours, theirs = first.vocabulary.words, other.vocabulary.words
    if theirs == ours:
        return
    what, do = f"its vocabulary differs from that of {first.path}", f"{SAME_WORDS}, or pass --union"
    if all(shards_of([first, other])):
        if first.store.request["options"].get("read_vocab") is None:
            raise other_text(first, other)
        do = "count every shard with the same --read-vocab"
    if len(ours) != len(theirs):
        found = f"{len(theirs):,} words, not {len(ours):,}"
    elif set(ours) == set(theirs):
        found = "the same words in another order"
    else:
        row = next(k for k, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
        found = f"{theirs[row]!r} as word {row + 1:,}, not {ours[row]!r}"
    raise InputError(f"{what}: {found}", where=other.path, do=do)


def other_text(first: Mergeable, other: Mergeable) -> InputError:
    """Return the error for shards that do not belong together."""
    what = f"was counted from another text or with other options than {first.path}"
    return InputError(what, where=other.path, do=_SAME_OPTIONS)


def shards_of(matrices: Sequence[Mergeable]) -> list[ShardRange | None]:
    """Return the shards that each matrix holds, None for a whole count."""
    return [ShardRange.read(m.store.attributes) for m in matrices]


def check_whole(matrices: Sequence[Mergeable], flag: str) -> None:
    """Raise InputError for a shard, which an option does not apply to."""
    for matrix, held in zip(matrices, shards_of(matrices), strict=True):
        if held is not None:
            what = f"is {held}, to which {flag} does not apply"
            raise InputError(what, where=matrix.path, do="merge all shards first")

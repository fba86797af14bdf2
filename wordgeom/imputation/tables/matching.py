"""Find the anchors: entities whose names are words of a vectors file."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.vectors.finite import check_finite
from wordgeom.vectors.keyed import Vectors

_SPELLINGS = 20_000  # words compared with a name, which bounds the time
_MAX_TRIED, _SHOWN = 12, 3  # names with a search for similar words, and shown in the message
_LISTED = 5  # names in a note
_PARTS = re.compile(r"[\W_]+")


@dataclass(frozen=True, eq=False)
class Anchors:
    """Entities with a vector.

    known (n) bool; entities (p): numbers of the known entities; rows (p): their rows in the
    vectors; matrix (p × K) float64, finite; zeros: number of vectors that are 0.
    """

    known: Array
    entities: Int64
    rows: Int64
    matrix: Float64
    zeros: int


def find_anchors(names: Sequence[str], vectors: Vectors, domain: str, file: str) -> Anchors:
    """Return the entities that are words of the vectors; `domain`, `file` name both in errors.

    Raises InputError if there are none, suggesting similar words, or for a vector that is not
    finite.
    """
    places = [vectors.row(name) for name in names]
    found = np.array([-1 if row is None else row for row in places], np.int64)
    known = found >= 0
    if not known.any():
        raise _no_anchor_error(names, vectors, domain, file)
    rows = found[known]
    matrix = vectors.matrix[rows].astype(np.float64)
    check_finite(vectors, rows, file, "train again")
    zeros = int(np.sum(~matrix.any(axis=1)))
    return Anchors(known, np.flatnonzero(known), rows, matrix, zeros)


def map_notes(names: Sequence[str], known: Array, mapped: frozenset[str] | None) -> list[str]:
    """Return notes on the entities that are known by mapped and by their own names; known (n) bool.

    An unmapped name may be a word by accident: the ticker symbols "a" and "all", for example.
    """
    if mapped is None:
        return []
    pairs = list(zip(names, known.tolist(), strict=True))
    own = [name for name, found in pairs if found and name not in mapped]
    absent = [name for name, found in pairs if not found and name in mapped]
    by_map = int(known.sum()) - len(own)
    notes = [f"known: {by_map:,} by mapped names, {len(own):,} by their own names{_listed(own)}"]
    if absent:
        notes.append(f"mapped names without a vector: {len(absent):,}{_listed(absent)}")
    return notes


def _listed(names: Sequence[str]) -> str:
    more = ", …" if len(names) > _LISTED else ""
    return f": {', '.join(names[:_LISTED])}{more}" if names else ""


def _no_anchor_error(names: Sequence[str], vectors: Vectors, domain: str, file: str) -> InputError:
    pairs = [
        f"{word} for {name!r}" for name, word in islice(_similar_words(names, vectors), _SHOWN)
    ]
    similar = f"similar words: {', '.join(pairs)}" if pairs else f"no word is like {names[0]!r}"
    lower = sum(name.lower() in vectors.index for name in names)
    do = f"--lower matches {lower:,} entities" if lower else "rename them with --name-map"
    if not any(char.isalpha() for name in names for char in name):  # numbers or dates
        do += ", or transpose the table if its columns are the entities"
    return InputError(f"no entity is a word of {file}; {similar}", where=domain, do=do)


def _similar_words(names: Sequence[str], vectors: Vectors) -> Iterator[tuple[str, str]]:
    """Yield entities with the most similar word, for those that have one."""
    for name in names[:_MAX_TRIED]:
        parts = [part for part in _PARTS.split(name.lower()) if part]
        tries = (name.lower(), "_".join(parts), "".join(parts), *parts[:1])
        word = next((each for each in tries if each in vectors.index), None) or _nearest(
            name.lower(), vectors
        )
        if word is not None:
            yield name, word


def _nearest(name: str, vectors: Vectors) -> str | None:
    # Words are in order of frequency: the first are the most likely matches.
    alike = (w for w in islice(vectors.words, _SPELLINGS) if abs(len(w) - len(name)) <= 2)
    close = difflib.get_close_matches(name, alike, n=1, cutoff=0.75)
    return close[0] if close else None

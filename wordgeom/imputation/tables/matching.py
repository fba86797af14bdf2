"""Which entities have a vector: names of a domain against the words of a vectors file."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.vectors.keyed import Vectors

_SPELLINGS = 20_000  # words compared with a name; more would keep its user waiting
_MAX_TRIED, _SHOWN = 12, 3  # names that spellings are sought for, and told of
_LISTED = 5  # names of a note
_PARTS = re.compile(r"[\W_]+")


@dataclass(frozen=True, eq=False)
class Anchors:
    """Entities that have a vector.

    known (n) bool; entities, rows (p): of the known, their numbers and their rows in the vectors;
    matrix (p × K) float64, finite; zeros: how many of them are 0.
    """

    known: Array
    entities: Int64
    rows: Int64
    matrix: Float64
    zeros: int


def find_anchors(names: Sequence[str], vectors: Vectors, domain: str, file: str) -> Anchors:
    """Return the entities that are words of the vectors; `domain`, `file` name both in errors.

    Raises InputError where there is none, with words spelt alike, and where a vector of one is
    not finite.
    """
    found = np.array([vectors.index.get(name, -1) for name in names], np.int64)
    known = found >= 0
    if not known.any():
        raise _no_anchor_error(names, vectors, domain, file)
    rows = found[known]
    matrix = vectors.matrix[rows].astype(np.float64)
    whole = np.isfinite(matrix).all(axis=1)
    if not whole.all():
        word = vectors.words[int(rows[np.argmin(whole)])]
        bad, do = f"{int(np.sum(~whole)):,} such", "make the vectors again, or leave it out"
        raise InputError(f"the vector of {word!r} is not finite", where=file, found=bad, do=do)
    zeros = int(np.sum(~matrix.any(axis=1)))
    return Anchors(known, np.flatnonzero(known), rows, matrix, zeros)


def map_notes(names: Sequence[str], known: Array, mapped: frozenset[str] | None) -> list[str]:
    """Return how many entities are known by a map's names and by their own; known (n) bool.

    A name of its own that is a word may be so by accident: "a" and "all" are tickers of firms.
    """
    if mapped is None:
        return []
    pairs = list(zip(names, known.tolist(), strict=True))
    own = [name for name, found in pairs if found and name not in mapped]
    absent = [name for name, found in pairs if not found and name in mapped]
    by_map = int(known.sum()) - len(own)
    notes = [f"known: {by_map:,} by the map, {len(own):,} by their own names{_listed(own)}"]
    if absent:
        notes.append(f"words of the map without a vector: {len(absent):,}{_listed(absent)}")
    return notes


def _listed(names: Sequence[str]) -> str:
    more = ", …" if len(names) > _LISTED else ""
    return f": {', '.join(names[:_LISTED])}{more}" if names else ""


def _no_anchor_error(names: Sequence[str], vectors: Vectors, domain: str, file: str) -> InputError:
    pairs = [f"{name!r} – {word}?" for name, word in islice(_similar_words(names, vectors), _SHOWN)]
    found = ", ".join(pairs) or f"{names[0]!r} and nothing spelt like it"
    lower = sum(name.lower() in vectors.index for name in names)
    do = f"--lower finds {lower:,} of them" if lower else "rename them by --name-map"
    return InputError(f"no entity is a word of {file}", where=domain, found=found, do=do)


def _similar_words(names: Sequence[str], vectors: Vectors) -> Iterator[tuple[str, str]]:
    """Yield entities with the word that is spelt most like each, of those that have one."""
    for name in names[:_MAX_TRIED]:
        parts = [part for part in _PARTS.split(name.lower()) if part]
        tries = (name.lower(), "_".join(parts), "".join(parts), *parts[:1])
        word = next((each for each in tries if each in vectors.index), None) or _nearest(
            name.lower(), vectors
        )
        if word is not None:
            yield name, word


def _nearest(name: str, vectors: Vectors) -> str | None:
    # Words stand in order of frequency: the first are the likeliest to be meant.
    alike = (w for w in islice(vectors.words, _SPELLINGS) if abs(len(w) - len(name)) <= 2)
    close = difflib.get_close_matches(name, alike, n=1, cutoff=0.75)
    return close[0] if close else None

"""How far apart two versions of a file are: entries, bytes, largest differences, row cosines."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from same_bytes_items import facts, kind, marks


@dataclass(frozen=True)
class Difference:
    """The size of a difference in words; leaves: the places of a JSON text that differ."""

    size: str
    leaves: tuple[str, ...] = ()


def measure(before: Path, after: Path, name: str) -> Difference:
    """Return how far the file `name` of one directory is from that of another."""
    what = kind(name)
    if what in ("run card", "report"):
        return _of_facts(facts(before, name), facts(after, name))
    if what == "figure":
        return Difference(_of_text(marks(before, name), marks(after, name)))
    if what == "array":
        return Difference(_of_arrays(_arrays(before / name), _arrays(after / name)))
    raw = [_unpacked(folder / name) for folder in (before, after)]
    vectors = [_vectors(one, name.endswith(".bin")) for one in raw]
    if vectors[0] is not None and vectors[1] is not None:
        return Difference(_of_vectors(vectors[0], vectors[1]))
    try:
        return Difference(_of_text(raw[0].decode(), raw[1].decode()))
    except UnicodeDecodeError:
        return Difference(_of_bytes(raw[0], raw[1]))


def _of_facts(before: Any, after: Any) -> Difference:
    one, other = dict(_leaves(before)), dict(_leaves(after))
    places = [k for k in [*one, *(k for k in other if k not in one)] if _apart(one, other, k)]
    pairs = [(one[k], other[k]) for k in places if k in one and k in other]
    numbers = [pair for pair in pairs if all(type(x) in (int, float) for x in pair)]
    text = f"{len(places):,} of {len(one):,} values: {_shortened(places)}"
    if numbers:
        x, y = np.array(numbers, np.float64).T
        text += f"; {_largest(x, y)}"
    return Difference(text, tuple(places))


def _apart(one: dict[str, Any], other: dict[str, Any], place: str) -> bool:
    """Tell whether a place differs."""
    return place not in one or place not in other or repr(one[place]) != repr(other[place])


def _leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the places of a JSON text, `run.statistics.steps`, and their values."""
    if isinstance(value, dict | list) and value:
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in inner:
            yield from _leaves(one, f"{place}.{key}" if place else str(key))
    else:
        yield place, value


def _shortened(names: Sequence[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (" …" if len(names) > most else "")


def _of_text(before: str, after: str) -> str:
    """Return how many fields differ; white space, colons and quotes separate fields."""
    one, other = (x.replace(":", " ").replace('"', " ").split() for x in (before, after))
    if len(one) != len(other):
        return f"{len(one):,} fields and {len(other):,}"
    pairs = [(x, y) for x, y in zip(one, other, strict=True) if x != y]
    text = f"{len(pairs):,} of {len(one):,} fields"
    if not pairs:
        return f"{text}: white space alone"
    numbers = [(_number(x), _number(y)) for x, y in pairs]
    found = np.array([pair for pair in numbers if None not in pair], np.float64)
    examples = _shortened([f"{x} → {y}" for x, y in pairs], 2)
    return f"{text}: {examples}" + (f"; {_largest(*found.T)}" if len(found) else "")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _of_bytes(before: bytes, after: bytes) -> str:
    if len(before) != len(after):
        return f"{len(before):,} bytes and {len(after):,}"
    one, other = (np.frombuffer(raw, np.uint8) for raw in (before, after))
    return f"{np.count_nonzero(one != other):,} of {len(one):,} bytes"


def _unpacked(path: Path) -> bytes:
    raw = path.read_bytes()
    return gzip.decompress(raw) if path.suffix == ".gz" else raw


def _arrays(path: Path) -> dict[str, Any]:
    found = np.load(path, allow_pickle=False)
    return dict(found) if path.suffix == ".npz" else {"": found}


def _of_arrays(before: dict[str, Any], after: dict[str, Any]) -> str:
    if before.keys() != after.keys():
        return f"arrays {', '.join(before)} and {', '.join(after)}"
    text = [f"{name} {_of_numbers(before[name], after[name])}".strip() for name in before]
    return "; ".join(text)


def _of_numbers(before: Any, after: Any) -> str:
    """Return how far apart two arrays are; for matrices also the smallest cosine of two rows."""
    if before.shape != after.shape or before.dtype != after.dtype:
        return f"{before.dtype} {before.shape} and {after.dtype} {after.shape}"
    if before.dtype.kind not in "fiu":
        return f"{np.count_nonzero(before != after):,} of {before.size:,} entries"
    one, other = before.astype(np.float64), after.astype(np.float64)
    apart = np.count_nonzero(~((before == after) | (np.isnan(one) & np.isnan(other))))
    if not apart:
        return "the same numbers"
    text = f"{apart:,} of {before.size:,} entries, {_largest(one.ravel(), other.ravel())}"
    return text + (_cosines(one, other) if one.ndim == 2 else "")


def _largest(one: Any, other: Any) -> str:
    """Return the largest absolute and relative difference of two rows of numbers."""
    apart = np.nan_to_num(np.abs(one - other), nan=np.inf)
    apart[np.isnan(one) & np.isnan(other)] = 0
    scale = np.maximum(np.abs(one), np.abs(other))
    relative = np.divide(apart, scale, out=np.zeros_like(apart), where=scale > 0)
    return f"largest difference {apart.max():.2g} (relative {relative.max():.2g})"


def _cosines(one: Any, other: Any) -> str:
    """Return the smallest cosine of two rows, and how many rows are 0 on one side alone."""
    lengths = np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1)
    both = (lengths[0] > 0) & (lengths[1] > 0)
    dots = (one[both] * other[both]).sum(axis=1) / (lengths[0][both] * lengths[1][both])
    text = f", smallest row cosine {dots.min(initial=1.0):.9f}"
    single = np.count_nonzero((lengths[0] > 0) != (lengths[1] > 0))
    return text + (f", {single:,} rows are 0 in one file alone" if single else "")


def _vectors(raw: bytes, binary: bool) -> tuple[list[str], Any] | None:
    """Return the words and the matrix of a word2vec file, None for another file."""
    header, _, rest = raw.partition(b"\n")
    shape = header.split()
    if len(shape) != 2 or not all(map(bytes.isdigit, shape)):
        return None
    words, dim = int(shape[0]), int(shape[1])
    return _binary(rest, words, dim) if binary else _text(rest, words, dim)


def _binary(raw: bytes, words: int, dim: int) -> tuple[list[str], Any]:
    names, rows, start = [], [], 0
    for _ in range(words):
        end = raw.index(b" ", start)
        names.append(raw[start:end].decode())
        rows.append(np.frombuffer(raw, "<f4", dim, end + 1))
        start = end + 1 + 4 * dim
    return names, np.array(rows).reshape(words, dim)


def _text(raw: bytes, words: int, dim: int) -> tuple[list[str], Any] | None:
    fields = [line.rsplit(b" ", dim) for line in raw.splitlines()]
    if len(fields) != words or any(len(one) != dim + 1 for one in fields):
        return None
    numbers = np.array([one[1:] for one in fields], np.float32)
    return [one[0].decode() for one in fields], numbers.reshape(words, dim)


def _of_vectors(before: tuple[list[str], Any], after: tuple[list[str], Any]) -> str:
    if before[0] != after[0]:
        common = len(set(before[0]) & set(after[0]))
        return f"{len(before[0]):,} words and {len(after[0]):,}, {common:,} in both"
    return _of_numbers(before[1], after[1])

"""Where words of a dynamic model were at some times, and who was near them first and last.

Neighbours are the words of greatest cosine at that time, and stand where they were then. Positions
are vectors over √n and the words' spread: a way's ends are as far from each other as the
displacement that `wordgeom drift` prints. The plane of a word is that of the two principal
directions of its positions and its neighbours', the word and all of them weighing the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.types import Float32, Float64
from wordgeom.linalg.signs import fix_signs
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.nearest import similar

MOST = 6  # words that are drawn beside each other
_TIMES = 6  # that are marked when the user names none
_NEIGHBOURS = 5  # at the first time, and as many at the last
_DIGITS, _MOVED = range(4, 17), 0.01  # digits of a time; of the way that rounding may move it


class Moving(Protocol):
    """Word vectors that depend on time, as `DynamicModel` holds them."""

    @property
    def words(self) -> list[str]:
        """The p words."""

    @property
    def times(self) -> Float64:
        """(n) the times of the documents."""

    @property
    def spread(self) -> Float64:
        """(p) the standard deviation of each word's column."""

    def vectors_at(self, time: float) -> Float32:
        """Return the vectors (p × r) at a time."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The way of a word in a plane, and its neighbours there.

    times (T) as they are written; places (T × 2); then, now (k): who was nearest at the first and
    at the last time, and where they were at that time (k × 2); displacement and cosine of the
    first and the last vector; kept: the share of the spread in space that the plane shows.
    """

    word: str
    times: list[str]
    places: Float64
    then: list[str]
    then_places: Float64
    now: list[str]
    now_places: Float64
    displacement: float
    cosine: float
    kept: float


def trajectories(
    model: Moving, words: Sequence[str], times: Sequence[float] = ()
) -> list[Trajectory]:
    """Return the ways of up to 6 words over `times`, by default 6 from the first to the last.

    Raises OptionError for too many words and for times that the model does not span, InputError
    for an unknown word and for one without a vector at a time.
    """
    words = list(dict.fromkeys(words))
    if not 1 <= len(words) <= MOST:
        raise OptionError(f"--words takes 1 to {MOST} words", found=len(words))
    at = _checked(model.times, times) if len(times) else even_times(model.times)
    labels = written(at)
    ends = [Vectors(model.words, model.vectors_at(at[k])) for k in (0, -1)]
    near = [[_nearest(*end, word) for end in zip(ends, (labels[0], labels[-1]), strict=True)]
            for word in words]  # fmt: skip
    rows = [ends[0].index[word] for word in words]
    ways = np.stack([_positions(model, model.vectors_at(time), rows) for time in at])
    return [
        _trajectory(word, labels, ways[:, k], near[k], [
            _positions(model, end.matrix, [end.index[name] for name in names])
            for end, names in zip(ends, near[k], strict=True)
        ])
        for k, word in enumerate(words)
    ]  # fmt: skip


def even_times(times: Float64) -> list[float]:
    """Return times evenly from the first to the last, in whole numbers where there is room."""
    low, high = float(times.min()), float(times.max())
    even = np.linspace(low, high, _TIMES)
    whole = np.round(even)
    fits = (whole >= low) & (whole <= high) & (high - low >= 2 * _TIMES)
    return [float(time) for time in np.where(fits, whole, even)]


def written(times: Sequence[float]) -> list[str]:
    """Return times as they are written, in digits that tell them apart and hardly move them."""
    room = _MOVED * (max(times) - min(times))
    for digits in _DIGITS:
        texts = [f"{time:.{digits}g}" for time in times]
        moved = max(abs(float(text) - time) for text, time in zip(texts, times, strict=True))
        if moved <= room and len(set(texts)) == len(texts):
            break
    return texts


def _checked(known: Float64, times: Sequence[float]) -> list[float]:
    """Return times in their order, each once. Raises OptionError."""
    at = sorted(set(times))
    if len(at) < 2 or not all(map(math.isfinite, at)):
        raise OptionError("--at takes two times or more", found=", ".join(map(str, times)))
    low, high = float(known.min()), float(known.max())
    if at[0] < low or at[-1] > high:
        what = f"--at must lie in the model's times, {low:g} to {high:g}"
        raise OptionError(what, found=f"{at[0] if at[0] < low else at[-1]:g}")
    return at


def _nearest(vectors: Vectors, time: str, word: str) -> list[str]:
    row = vectors.index.get(word)
    if row is not None and not vectors.matrix[row].any():
        do = "leave it out, or name other times with --at"
        raise InputError(f"the word {word!r} has no vector in {time}", do=do)
    found = [name for name, _ in similar(vectors, [word], top=_NEIGHBOURS)]
    return [name for name in found if vectors.matrix[vectors.index[name]].any()]


def _positions(model: Moving, vectors: Float32, rows: Sequence[int]) -> Float64:
    """Return the positions (m × r) of some words whose vectors (p × r) are given."""
    chosen = np.asarray(rows, np.int64)
    spread = model.spread[chosen] * np.sqrt(len(model.times))
    return vectors[chosen] / np.where(spread > 0, spread, 1.0)[:, None]


def _trajectory(
    word: str, labels: list[str], way: Float64, near: list[list[str]], around: list[Float64]
) -> Trajectory:
    """Return what is drawn of a word: its way (T × r), who is near at both ends, and where."""
    places, kept = _plane([way, np.vstack(around)])
    parts = np.split(places, np.cumsum([len(way), len(near[0])]))
    sizes = np.linalg.norm(way[[0, -1]], axis=1)
    return Trajectory(
        word, labels, parts[0], near[0], parts[1], near[1], parts[2],
        float(np.linalg.norm(way[-1] - way[0])), float(way[0] @ way[-1] / sizes.prod()), kept,
    )  # fmt: skip


def _plane(groups: Sequence[Float64]) -> tuple[Float64, float]:
    """Return points (m × 2) of groups in their plane of greatest spread, and its share of it.

    All groups weigh the same, whatever their number of points.
    """
    points = np.vstack(groups)
    weights = np.concatenate([np.full(len(rows), 1 / max(len(rows), 1)) for rows in groups])
    weights /= weights.sum()
    centred = points - weights @ points
    _, sizes, directions = np.linalg.svd(np.sqrt(weights)[:, None] * centred, full_matrices=False)
    places = np.zeros((len(points), 2))
    kept = min(2, len(directions))
    places[:, :kept] = fix_signs(centred @ directions[:kept].T)
    spread = float(sizes @ sizes)
    return places, float(sizes[:2] @ sizes[:2]) / spread if spread > 0 else 1.0

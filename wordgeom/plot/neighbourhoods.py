"""Word trajectories of a dynamic model, with the nearest neighbours at the first and last time.

Neighbours are the words with the largest cosine among those in use at a time, at their positions at
that time; a word has none where it is not in use.
Positions are vectors divided by √n and the words' standard deviations, so that the distance between
the ends of a trajectory is the displacement that `wordgeom drift` prints. A word's plane is spanned
by the first two principal components of its positions and its neighbours', where the trajectory and
all neighbours together have equal weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.types import Float32, Float64
from wordgeom.linalg.signs import fix_signs
from wordgeom.methods.dlsa.model import DynamicModel
from wordgeom.methods.dlsa.usage import WordsAt
from wordgeom.vectors.nearest import row_of

MOST = 6  # words in a plot
_TIMES = 6  # marked times by default
_NEIGHBOURS = 5  # at the first time, and at the last
_ROUNDING = 1e-9  # of a position, relative to the largest coordinate
_DIGITS, _MOVED = range(4, 17), 0.01  # digits of a time; rounding error as a fraction of the range


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The trajectory of a word in a plane, and its neighbours.

    times (T): labels; positions (T × 2); first, last (k): nearest neighbours at the first and the
    last time, with their positions at that time (k × 2); displacement, cosine: between the first
    and the last vector; explained: fraction of the variance that the plane shows.
    """

    word: str
    times: list[str]
    positions: Float64
    first: list[str]
    first_positions: Float64
    last: list[str]
    last_positions: Float64
    displacement: float
    cosine: float
    explained: float


def trajectories(
    model: DynamicModel, words: Sequence[str], times: Sequence[float] = ()
) -> list[Trajectory]:
    """Return the trajectories of up to 6 words over `times`, by default 6 evenly spaced times.

    Raises OptionError for too many words or times outside the model's, InputError for an unknown
    word or one without a vector, and what `open_documents` of the model raises.
    """
    words = list(dict.fromkeys(words))
    if not 1 <= len(words) <= MOST:
        raise OptionError(f"--words takes 1 to {MOST} words", found=len(words))
    at = _checked(model.times, times) if len(times) else even_times(model.times)
    labels = time_labels(at)
    ends = [model.at(at[k]) for k in (0, -1)]
    near = [[_nearest(*end, word) for end in zip(ends, (labels[0], labels[-1]), strict=True)]
            for word in words]  # fmt: skip
    index = ends[0].vectors.index
    rows = [row_of(ends[0].vectors, word) for word in words]
    paths = np.stack([_positions(model, model.vectors_at(time), rows) for time in at])
    return [
        _trajectory(word, labels, paths[:, k], near[k], [
            _positions(model, end.vectors.matrix, [index[name] for name in names])
            for end, names in zip(ends, near[k], strict=True)
        ])
        for k, word in enumerate(words)
    ]  # fmt: skip


def even_times(times: Float64) -> list[float]:
    """Return evenly spaced times from the first to the last, rounded to integers if possible."""
    low, high = float(times.min()), float(times.max())
    even = np.linspace(low, high, _TIMES)
    whole = np.round(even)
    fits = (whole >= low) & (whole <= high) & (high - low >= 2 * _TIMES)
    return [float(time) for time in np.where(fits, whole, even)]


def time_labels(times: Sequence[float]) -> list[str]:
    """Return labels of times, with enough digits to be distinct and accurate."""
    tolerance = _MOVED * (max(times) - min(times))
    for digits in _DIGITS:
        texts = [f"{time:.{digits}g}" for time in times]
        error = max(abs(float(text) - time) for text, time in zip(texts, times, strict=True))
        if error <= tolerance and len(set(texts)) == len(texts):
            break
    return texts


def _checked(known: Float64, times: Sequence[float]) -> list[float]:
    """Return the distinct times in order; raises OptionError."""
    at = sorted(set(times))
    if len(at) < 2 or not all(map(math.isfinite, at)):
        raise OptionError("--at takes at least two times", found=", ".join(map(str, times)))
    low, high = float(known.min()), float(known.max())
    if at[0] < low or at[-1] > high:
        what = f"--at must be within the model's times, {low:g} to {high:g}"
        raise OptionError(what, found=f"{at[0] if at[0] < low else at[-1]:g}")
    return at


def _nearest(end: WordsAt, time: str, word: str) -> list[str]:
    row = row_of(end.vectors, word)
    if not end.vectors.matrix[row].any():
        do = "omit it, or choose other times with --at"
        raise InputError(f"{word!r} has no vector in {time}", do=do)
    return [n for n, _ in end.similar(word, top=_NEIGHBOURS)] if end.in_use[row] else []


def _positions(model: DynamicModel, vectors: Float32, rows: Sequence[int]) -> Float64:
    """Return the positions (m × r) of the words in `rows`, given all vectors (p × r)."""
    chosen = np.asarray(rows, np.int64)
    spread = model.spread[chosen] * np.sqrt(len(model.times))
    return vectors[chosen] / np.where(spread > 0, spread, 1.0)[:, None]


def _trajectory(
    word: str, labels: list[str], path: Float64, near: list[list[str]], around: list[Float64]
) -> Trajectory:
    """Return a trajectory from a path (T × r), and neighbours and their positions at both ends."""
    positions, explained = _plane([path, np.vstack(around)])
    parts = np.split(positions, np.cumsum([len(path), len(near[0])]))
    norms = np.linalg.norm(path[[0, -1]], axis=1)
    return Trajectory(
        word, labels, parts[0], near[0], parts[1], near[1], parts[2],
        float(np.linalg.norm(path[-1] - path[0])), float(path[0] @ path[-1] / norms.prod()),
        explained,
    )  # fmt: skip


def _plane(groups: Sequence[Float64]) -> tuple[Float64, float]:
    """Return the points of all groups on their plane of maximal variance (m × 2), and its share.

    Groups have equal weight, whatever their number of points.
    """
    points = np.vstack(groups)
    weights = np.concatenate([np.full(len(rows), 1 / max(len(rows), 1)) for rows in groups])
    weights /= weights.sum()
    centred = points - weights @ points
    _, values, components = np.linalg.svd(np.sqrt(weights)[:, None] * centred, full_matrices=False)
    positions = np.zeros((len(points), 2))
    used = min(2, len(components))
    positions[:, :used] = fix_signs(centred @ components[:used].T)
    positions[np.abs(positions) < _ROUNDING * np.abs(points).max()] = 0.0
    variance = float(values @ values)
    return positions, float(values[:2] @ values[:2]) / variance if variance > 0 else 1.0

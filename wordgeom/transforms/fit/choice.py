"""Fit a linear map to word pairs, with a penalty chosen by cross-validation inside the pairs.

The folds are of words. Of the penalties, and of C = I, an infinite penalty, the largest counts that
has at least a third of the highest mean gain of held-out pairs: what predicts other pairs of the
same file best is too strong for other judgements. Without a penalty, a triangular map of 300
dimensions, 45,150 parameters, reproduces the scores of a few hundred pairs and ruins other sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core.types import Float64, Int64
from wordgeom.evaluation.cross_validation import word_folds
from wordgeom.evaluation.similarity import spearman
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.context import Context
from wordgeom.transforms.fit.correlation import Judged
from wordgeom.transforms.fit.diagonal import Diagonal
from wordgeom.transforms.fit.family import Family
from wordgeom.transforms.fit.maps import LowRank, Triangular
from wordgeom.transforms.fit.pairs import PairFile
from wordgeom.transforms.options import DIAGONAL, TRIANGULAR, TransformOptions
from wordgeom.transforms.space import Space, Step

_SHARE = 1 / 3  # of the highest gain


@dataclass(frozen=True)
class _Chosen:
    """The penalties to fit with, one after the other, none for C = I.

    held_out: mean correlation of held-out pairs by penalty, from C = I on; folds: how many.
    """

    path: Sequence[float]
    held_out: Sequence[float] = ()
    folds: int = 0


def fit(space: Space, file: PairFile, options: TransformOptions, context: Context) -> Step:
    """Apply the map that is fitted to pairs. Raises InputError for too few usable pairs."""
    # Limited before the workers start: two that do it at once undo each other's limit.
    with one_thread(scipy=True):
        return _fit(space, file, options, context)


def _fit(space: Space, file: PairFile, options: TransformOptions, context: Context) -> Step:
    """Return the step of the fitted map."""
    judged, K = file.judged(space, _spread(space)), space.columns
    family = _family(space, options)
    chosen = _choose(judged, family, options, context)
    identity = np.eye(K)
    *_, C = [identity, *_maps(family, judged, chosen.path)]
    if options.map == TRIANGULAR:  # in UT⁺; a reflection of an axis changes no cosine
        C = C * np.where(np.diag(C) < 0.0, -1.0, 1.0)[:, None]
    facts: dict[str, Any] = {
        **file.facts, "map": options.map, "parameters": len(family.start(judged)),
        "penalty": chosen.path[-1] if chosen.path else None,
        "penalties": [None, *family.penalties], "held_out": chosen.held_out, "folds": chosen.folds,
        "displacement": float(np.sum((C - identity) @ judged.spread * (C - identity)) / K),
        "correlation_before": _spearman(judged, identity),
        "correlation": _spearman(judged, C),
    }  # fmt: skip
    notes = _notes(chosen, options, family, len(judged.scores))
    return Step(space.mapped(C.T), facts, notes, _line(facts, chosen))


def _family(space: Space, options: TransformOptions) -> Family:
    """Return the family of maps that was asked for."""
    K = space.columns
    if options.map == DIAGONAL:
        return Diagonal(space.moments().components(K, centre=False).directions)
    return Triangular(K) if options.map == TRIANGULAR else LowRank(K, min(options.map_rank, K))


def _spread(space: Space) -> Float64:
    """Return K times the mean of x xᵀ over the unit vectors x of a space (K × K)."""

    def of(images: Float64) -> tuple[int, Float64]:
        lengths = np.sqrt(np.einsum("ij,ij->i", images, images))
        units = images[lengths > 0.0] / lengths[lengths > 0.0, None]
        return len(units), units.T @ units

    number, total = 0, np.zeros((space.columns, space.columns))
    for words, part in space.blocks(of):
        number, total = number + words, total + part
    return np.asarray(total * (space.columns / number))


def _choose(judged: Judged, family: Family, options: TransformOptions, context: Context) -> _Chosen:
    """Return the penalty that was asked for, or the one that cross-validation finds."""
    if options.penalty is not None:
        return _Chosen([options.penalty])
    ends = judged.left, judged.right, judged.scores
    repeats = family.repeats
    folds = list(word_folds(*ends, folds=options.folds, repeats=repeats, seed=context.seed))
    if not folds:
        return _Chosen([family.usual])

    def held_out(fold: tuple[Int64, Int64]) -> list[float]:
        train, test = (judged.part(part) for part in fold)
        maps = [np.eye(judged.rows.shape[1]), *_maps(family, train, family.penalties)]
        return [_spearman(test, C) for C in maps]

    means = np.mean(list(context.pool.map(held_out, folds)), axis=0)
    gains = means - means[0]
    number = int(np.argmax(gains >= _SHARE * gains.max()))
    return _Chosen(family.penalties[:number], means.tolist(), len(folds))


def _spearman(judged: Judged, C: Float64) -> float:
    """Return Spearman's correlation of mapped cosines and scores, 0 for constant cosines."""
    found = spearman(judged.cosines(C), judged.scores)
    return found if np.isfinite(found) else 0.0


def _maps(family: Family, judged: Judged, penalties: Sequence[float]) -> Iterator[Float64]:
    """Yield the fitted map for each penalty; each fit starts from the one before."""
    parameters = family.start(judged)
    for penalty in penalties:
        parameters = family.fit(judged, penalty, parameters)
        yield family.matrix(parameters)


def _line(facts: Mapping[str, Any], chosen: _Chosen) -> str:
    """Return the penalty, and the correlation with the pairs before and after."""
    if not chosen.path:
        return ""
    line = "--fit: penalty {penalty:g}, Spearman's correlation with {pairs:,} pairs "
    line = (line + "{correlation_before:.4f} → {correlation:.4f}").format(**facts)
    if not chosen.held_out:
        return line
    before, after = chosen.held_out[0], chosen.held_out[len(chosen.path)]
    return f"{line}; held out, {before:.4f} → {after:.4f}"


def _notes(chosen: _Chosen, options: TransformOptions, family: Family, pairs: int) -> list[str]:
    if not chosen.path:
        return ["--fit: no penalty predicts held-out pairs better; the vectors stay as they are"]
    if options.penalty is None and not chosen.folds:
        what = f"--fit: {pairs} pairs cannot be cross-validated by folds of words"
        return [f"{what}; --penalty {family.usual:g}"]
    return []

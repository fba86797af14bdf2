"""Fit a linear map to word pairs, with a penalty chosen by cross-validation inside the pairs.

A triangular map has K(K + 1)/2 parameters, 45,150 at K = 300: without a penalty it reproduces the
scores of a few hundred pairs and ruins every other set. The largest penalty counts whose held-out
correlation is within one standard error of the best (Breiman et al. 1984); C = I, an infinite
penalty, is among them. The errors are those of differences between the same folds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.evaluation.cross_validation import assign_folds
from wordgeom.runtime.context import Context
from wordgeom.transforms.fit.correlation import Judged, correlation
from wordgeom.transforms.fit.maps import Family, LowRank, Triangular
from wordgeom.transforms.fit.pairs import PairFile
from wordgeom.transforms.options import TRIANGULAR, TransformOptions
from wordgeom.transforms.space import Space, Step

PENALTIES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
_DEFAULT = 1.0  # where there are too few pairs for two folds
_OF_A_FOLD = 3  # pairs, at least


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
    judged, K = file.judged(space, _spread(space)), space.columns
    family = Triangular(K) if options.map == TRIANGULAR else LowRank(K, min(options.map_rank, K))
    chosen = _choose(judged, family, options, context)
    identity = np.eye(K)
    *_, C = [identity, *_maps(family, judged, chosen.path)]
    if options.map == TRIANGULAR:  # in UT⁺; a reflection of an axis changes no cosine
        C = C * np.where(np.diag(C) < 0.0, -1.0, 1.0)[:, None]
    facts: dict[str, Any] = {
        **file.facts, "map": options.map, "parameters": len(family.start(judged)),
        "penalty": chosen.path[-1] if chosen.path else None,
        "penalties": [None, *PENALTIES], "held_out": chosen.held_out, "folds": chosen.folds,
        "displacement": float(np.sum((C - identity) @ judged.spread * (C - identity)) / K),
        "correlation_before": correlation(judged, identity)[0],
        "correlation": correlation(judged, C)[0],
    }  # fmt: skip
    notes = _notes(chosen, options, len(judged.scores))
    return Step(space.mapped(C.T), facts, notes, _line(facts, chosen))


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
    n = len(judged.scores)
    folds = min(options.folds, n // _OF_A_FOLD)
    if folds < 2:
        return _Chosen([_DEFAULT])
    fold = assign_folds(np.zeros(n, np.int64), folds, np.random.default_rng(context.seed))

    def held_out(number: int) -> list[float]:
        train, test = (
            judged.part(np.flatnonzero(which)) for which in (fold != number, fold == number)
        )
        maps = [np.eye(judged.rows.shape[1]), *_maps(family, train, PENALTIES)]
        return [correlation(test, C)[0] for C in maps]

    table = np.array(list(context.pool.map(held_out, range(folds))))
    means = table.mean(axis=0)
    behind = table[:, [int(means.argmax())]] - table
    errors = behind.std(axis=0, ddof=1) / np.sqrt(folds)
    number = int(np.argmax(behind.mean(axis=0) <= errors))
    return _Chosen(PENALTIES[:number], means.tolist(), folds)


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
    line = (
        "--fit: penalty {penalty:g}, correlation with {pairs:,} pairs {correlation_before:.4f} → "
    )
    line = (line + "{correlation:.4f}").format(**facts)
    if not chosen.held_out:
        return line
    before, after = chosen.held_out[0], chosen.held_out[len(chosen.path)]
    return f"{line}; held out, {before:.4f} → {after:.4f}"


def _notes(chosen: _Chosen, options: TransformOptions, pairs: int) -> list[str]:
    if not chosen.path:
        return ["--fit: no penalty predicts held-out pairs better; the vectors stay as they are"]
    if options.penalty is None and not chosen.folds:
        return [f"--fit: {pairs} pairs are too few for cross-validation; --penalty {_DEFAULT:g}"]
    return []

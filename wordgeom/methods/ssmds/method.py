"""Semi-supervised MDS: vectors that fit a matrix and scores of word pairs at once.

Carrington (2021), chapter 4. L(B) = λ f(X, B) + (1 − λ) g(D, B) is minimised over vectors B. f is
the squared error of inner products or distances for the data X. g compares the vectors of the word
pairs D with their scores, by order (a non-metric term) or by the correlation of cosines. A small
set of pairs moves the vectors of its own words, and hardly any other: docs/methods/ssmds.md. With
--propagate, no L is minimised: the first vectors move by a regression of the scores (propagation).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.errors import OptionError, RankError
from wordgeom.core.formatting import several
from wordgeom.core.types import Float32, Float64
from wordgeom.methods.contract import VECTORS, Result, Status
from wordgeom.methods.ssmds.options import (
    CORRELATION,
    EUCLIDEAN,
    INNER,
    MAJORISE,
    Options,
    check,
)
from wordgeom.runtime.context import Context

if TYPE_CHECKING:
    from wordgeom.methods.ssmds.descents import Run
    from wordgeom.methods.ssmds.objective import Objective
    from wordgeom.methods.ssmds.start import Start

__all__ = ["MAKES", "NEEDS", "Options", "check", "fit"]

NEEDS = ("any-matrix", "pairs", "init")
MAKES = (VECTORS,)

_COLLAPSED = 0.05  # deviation of cosines relative to that at the start
_SLOW = 20.0  # M / λ from which majorisation is slow


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return vectors (V × K) that fit the matrix and the pairs.

    They are on their principal axes, or turned to the vectors of --init; with --propagate, on the
    axes of the start. Raises RankError if K
    exceeds V, OptionError if the descent diverges, InputError for pairs or a matrix that cannot be
    used, or if memory is insufficient.
    """
    from wordgeom.methods.ssmds.problem import Problem
    from wordgeom.methods.ssmds.supervision import supervise

    matrix, init = inputs["any-matrix"], inputs.get("init")
    K = _dimension(init, options)
    if len(matrix.words) < K:
        raise RankError(f"--dim {K} exceeds the number of words, {len(matrix.words):,}",
                        do="lower --dim")  # fmt: skip
    pairs = supervise(inputs["pairs"], matrix.words)
    problem = Problem(matrix, init, pairs, options, context, K)
    start = problem.start()
    if options.propagate:
        from wordgeom.methods.ssmds.spreading import spread

        return spread(start, pairs, context, given=init is not None)
    objective = problem.objective(start.vectors)
    run = problem.run(objective, start.vectors)
    for _ in context.progress.follow(
        run.iterations(), "steps", options.steps, "steps", int, done=max(0, len(run.values) - 1)
    ):
        context.checkpoint.save(run.saved)
    return _result(run, start, objective, options, context, init is not None)


def _dimension(init: Any, options: Options) -> int:
    """Return K. Raises OptionError for a --dim that is not that of --init."""
    if init is None:
        return options.dim
    K = int(init.matrix.shape[1])
    if options.is_set("dim") and options.dim != K:
        do = f"omit --dim, or pass --dim {K}"
        raise OptionError(f"--dim {options.dim} is not that of --init, {K}", do=do)
    return K


def _result(
    run: Run, start: Start, objective: Objective, options: Options, context: Context, kept: bool
) -> Result:
    """Return the vectors of a finished run, and what to say of it."""
    from wordgeom.methods.ssmds.report import facts

    found = objective.slope(run.vectors)
    vectors, rank = _turned(run.vectors, start.vectors, options, context, kept)
    K = vectors.shape[1]
    notes = [*start.notes, *objective.supervised.pairs.notes]
    if rank < K:
        columns = several(K - rank, "column is zero", "columns are zero")
        notes.append(f"the vectors span {rank} of {K} dimensions; {columns}; lower --dim")
    if not run.reached:
        what = f"L fell from {run.values[0]:.5g} to {found.value:.5g}"
        steps = several(len(run.values) - 1, "step", "steps")
        notes.append(f"{what} in {steps}, and missed --tol {options.tol:g}; raise --steps")
    spread = 1.0 / objective.weight if objective.weight else np.inf
    if options.optimiser == MAJORISE and options.objective == INNER and spread > _SLOW:
        what = f"pairs weigh {spread:.3g} times as much as the data of a word"
        what = what if objective.weight else "pairs have all the weight"
        notes.append(f"{what}, which makes majorisation slow; --optimiser lbfgs is faster")
    statistics = facts(run, found, start.vectors, vectors, objective, aligned=kept)
    statistics["effective_rank"] = rank
    before, after = (statistics[name] for name in ("cosine_spread_at_start", "cosine_spread"))
    if options.objective == CORRELATION and after < _COLLAPSED * before:
        what = f"the cosines of the pairs have a deviation of only {after:.1e} ({before:.1e} at the"
        do = "raise --data-weight, or pass --objective inner"
        notes.append(f"{what} start), so that their correlation means little; {do}")
    status = Status.of(missed=not run.reached, deficient=rank < K)
    return Result(vectors, {}, notes, statistics, status)


def _turned(
    vectors: Float64, start: Float64, options: Options, context: Context, kept: bool
) -> tuple[Float32, int]:
    """Return vectors (V × K) on their principal axes, or turned to the start; and their rank."""
    from wordgeom.linalg.device import get_ops
    from wordgeom.linalg.gram import principal_axes
    from wordgeom.linalg.procrustes import align

    if options.objective == EUCLIDEAN:
        vectors = vectors - vectors.mean(0)
    axes, rank = principal_axes(vectors, get_ops("cpu", context.pool))
    if kept:
        axes = align(vectors, start, centre=options.objective == EUCLIDEAN).apply(vectors)
    return np.ascontiguousarray(axes, np.float32), rank

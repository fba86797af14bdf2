"""Dynamic LSA: vectors of words that move with time, fitted to documents with dates.

Carrington (2021), §5.3–5.4: X ≈ A B_0 + Σ_k diag(p_k(t)) A B_k for a documents × words matrix X,
one vector for each document and a polynomial in time for each word. X is freed of what each word's
mean, or its trend as well, explains: `--trend hold` asks how words change beside a change of their
frequency. It fits by turns the words and the documents, each exactly, from static LSA. Not a test
of whether a word changed: every word is moved by noise.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core import options as base
from wordgeom.core.errors import InputError, RankError
from wordgeom.core.formatting import plural, several
from wordgeom.core.options import option
from wordgeom.core.types import Array, Csr, Int64
from wordgeom.methods.contract import MODEL, Export, Result
from wordgeom.methods.dlsa.polynomials import HIGHEST
from wordgeom.methods.dlsa.problem import FREE, HOLD
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

if TYPE_CHECKING:
    from wordgeom.linalg.eigensolver import Convergence, EigenSettings
    from wordgeom.matrices.times import Times
    from wordgeom.methods.dlsa.fit import State
    from wordgeom.methods.dlsa.model import DynamicModel
    from wordgeom.methods.dlsa.polynomials import Polynomials
    from wordgeom.storage.store import Store
    from wordgeom.weighting.documents import WeightedDocuments

NEEDS = ("documents", "times", "moving")
MAKES = (MODEL,)

_START_TOL = 1e-2  # of static LSA, from which sweeps go on
_SETTLED = 1e-6  # a last drop of the objective that is as good as none


@dataclass(frozen=True)
class Options(base.Options):
    """What dynamic LSA can be told."""

    dim: int = option(100, "dimension of the vectors", low=1, metavar="K")
    degree: int = option(2, "degree of the polynomials in time", low=1, high=HIGHEST)
    sweeps: int = option(10, "sweeps over documents and words", low=0, high=10_000)
    trend: str = option(
        HOLD,
        "hold: free every word of its polynomial trend in frequency first, so that a word which "
        "merely becomes more frequent does not move; free: of its mean alone",
        choices=(HOLD, FREE),
    )
    at: str | None = option(
        None, "also write vectors at these times beside the model: 1950,1980,2010",
        metavar="TIMES", result=False,
    )  # fmt: skip
    eig: float = option(
        1.0, "power of the singular values in the vectors of --at", low=0.0, high=1.0,
        metavar="P", result=False,
    )  # fmt: skip


def weighting(options: Options) -> dict[str, Any]:
    """Return what the method wants of the weighting: longer speeches would read as change."""
    return {"weight": "rows"}


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return a model's parts as arrays, and B_0, which times share, as vectors.

    Documents without a known time or without a word are left out. Arrays: documents (n × K),
    coefficients (q + 1 × K × V), rows (n), times (n), moving (V), spread (V). Raises InputError,
    RankError.
    """
    from wordgeom.methods.dlsa.model import typed
    from wordgeom.methods.dlsa.polynomials import Polynomials

    source: WeightedDocuments = inputs["documents"]
    times: Times = inputs["times"]
    rows, notes = _used(source, times)
    polynomials = Polynomials.of(times.values[rows], options.degree)
    _check(source, len(rows), options, context.memory)
    X = source.full().select(rows)
    moving = _moving(source.words, inputs.get("moving"))
    state, squares, total = _fitted(X, polynomials, moving, options, context)
    A, B, rank = _padded(state, options.dim)
    arrays = {
        "documents": A, "coefficients": np.stack([one.T for one in B]), "rows": rows,
        "times": times.values[rows], "moving": moving.astype(np.uint8),
        "spread": np.sqrt(squares / len(rows)),
    }  # fmt: skip
    statistics = {
        "documents": len(rows), "left_out": source.shape[0] - len(rows), "effective_rank": rank,
        "captured_static": 1.0 - state.objectives[0] / total,
        "captured": 1.0 - state.objectives[-1] / total,
        "last_drop": state.last_drop, "objective": state.objectives,
    }  # fmt: skip
    notes += _constant_notes(int(np.count_nonzero(squares == 0.0)))
    notes += _rank_notes(rank, min(X.rows, X.columns), options) + _drop_notes(
        state.last_drop, options.sweeps
    )
    attributes = {
        "shape": [*A.shape, X.columns], "degree": polynomials.degree,
        "polynomials": polynomials.numbers(), "trend": options.trend,
        "weight": source.weight, "source": source.counts.store.digest,
    }  # fmt: skip
    return Result(
        np.ascontiguousarray(B[0], np.float32), typed(arrays), notes, statistics,
        attributes=attributes, summary=_summary(attributes, statistics),
    )  # fmt: skip


def describe(store: Store) -> dict[str, Any]:
    """Return what `info` prints of a model."""
    from wordgeom.methods.dlsa.model import describe as describe_model

    return describe_model(store)


def open_model(path: str | os.PathLike[str]) -> DynamicModel:
    """Open a model."""
    from wordgeom.methods.dlsa.model import DynamicModel

    return DynamicModel.open(path)


def convert_advice(path: Path) -> str:
    """Return how to write vectors of a model, which `convert` cannot."""
    return f"write its vectors: wordgeom train DTM --method dlsa -o {path} --at TIME"


def exports(options: Options) -> list[Export]:
    """Return the vectors at the times of `--at`. Raises OptionError."""
    from wordgeom.methods.dlsa.exports import exports_at

    return exports_at(options.at, options.eig)


def _summary(attributes: Mapping[str, Any], statistics: Mapping[str, Any]) -> str:
    n, K, p = attributes["shape"]
    share, drop = statistics["captured"], statistics["last_drop"]
    last = "" if drop is None else f", last drop {drop:.1e}"
    return (
        f"{plural(n, 'document')} × {plural(p, 'word')} in {K} dimensions, degree "
        f"{attributes['degree']}; {share:.4f} of the squares captured{last}"
    )


def _fitted(
    X: Csr, polynomials: Polynomials, moving: Array, options: Options, context: Context
) -> tuple[State, Array, float]:
    """Return the state after the last sweep, in the form of Theorem 4; the problem's norms."""
    from wordgeom.linalg.svd import truncated_svd
    from wordgeom.methods.dlsa import canonical_form, fit
    from wordgeom.methods.dlsa.problem import effects_of, pose
    from wordgeom.methods.dlsa.sweeps import Sweeper

    shape = (X.rows, X.columns, options.degree + 1, options.dim)
    state = fit.restored(context.checkpoint, *shape)
    svd = None
    if state is None:
        wanted = _start(options, int(context.rng.integers(1 << 62)))
        effects = effects_of(polynomials.values, options.trend)

        def follow(looks: Iterator[Convergence]) -> Iterator[Convergence]:
            return context.progress.follow(
                looks, "static LSA", options.dim, "dimensions", lambda look: look.gained
            )

        svd = truncated_svd(X, wanted, context.ops, effects=effects, follow=follow)
    problem = pose(X, polynomials.values, options.trend, moving, context.ops)
    if problem.total == 0.0 or (svd is not None and not svd.values.any()):
        raise InputError("all documents are alike", do="check them, and --weight")
    if svd is not None:
        state = fit.started(svd, options.degree + 1, problem.total)
    assert state is not None
    sweeper, most = (
        Sweeper(problem, state.ridges, context.ops, context.pool),
        fit.halves(options.sweeps),
    )
    made = fit.sweep(state, sweeper, most)
    for _ in context.progress.follow(made, "dynamic LSA", most, "halves", int, done=state.halves):
        if context.checkpoint is not None:
            context.checkpoint.save(lambda: fit.saved(state))
    state.A, state.B = canonical_form.canonical(state.A, state.B)
    return state, problem.squares, problem.total


def _start(options: Options, seed: int = 1) -> EigenSettings:
    """Return what static LSA is asked for."""
    from wordgeom.linalg.eigensolver import EigenSettings

    return EigenSettings(options.dim, _START_TOL, seed=seed)


def _used(source: WeightedDocuments, times: Times) -> tuple[Int64, list[str]]:
    """Return the documents that have a time and a word, and what to tell of the others."""
    known = times.known
    filled = np.diff(source.counts.indptr)[known] > 0
    empty, notes = int(np.count_nonzero(~filled)), times.notes()
    if empty:
        one = "document holds no word of the vocabulary and is left out"
        more = "documents hold no word of the vocabulary and are left out"
        notes.append(several(empty, one, more))
    return known[filled], notes


def _check(source: WeightedDocuments, n: int, options: Options, memory: int) -> None:
    """Refuse more dimensions than documents or words, and what does not fit into memory."""
    from wordgeom.linalg.svd import svd_bytes

    V, K, sides = source.shape[1], options.dim, options.degree + 1
    for count, what in ((V, "words"), (n, "documents with a time")):
        if count < K:
            raise RankError(
                f"--dim {K} is more than there are {what}", found=count, do="lower --dim"
            )
    # The matrix by rows, and by columns or as much while documents are chosen. Static LSA is done
    # with before sweeps begin; of a document and of a word a half sweep holds each side in float32
    # and in float64, and a few more.
    tall = (n + V) * K * (12 * sides + 16)
    sweeps = 8 * source.entries + tall + 4 * 8 * (sides * K) ** 2
    start = svd_bytes(n, V, source.entries, _start(options))
    needed = 8 * source.entries + 24 * (n + V) + max(sweeps, start)
    what = f"dynamic LSA's matrices of {n:,} documents and {V:,} words"
    do = "raise --memory, or lower --dim, --degree or build-dtm's --max-vocab"
    check_memory(what, needed, memory, do)


def _moving(words: list[str], chosen: list[str] | None) -> Array:
    """(V) Tell which words may move."""
    if chosen is None:
        return np.ones(len(words), bool)
    known = set(chosen)
    return np.array([word in known for word in words])


def _padded(state: State, dim: int) -> tuple[Array, list[Array], int]:
    """Return both sides with columns of 0 where there are fewer dimensions than asked for."""
    rank = state.A.shape[1]
    room = ((0, 0), (0, dim - rank))
    return np.pad(state.A, room), [np.pad(one, room) for one in state.B], rank


def _constant_notes(constant: int) -> list[str]:
    if not constant:
        return []
    one = "word is the same in all documents, but for what is held"
    more = "words are the same in all documents, but for what is held"
    return [f"{several(constant, one, more)}: zero vectors"]


def _rank_notes(rank: int, size: int, options: Options) -> list[str]:
    """Tell of dimensions that static LSA did not find; size: of the matrix's smaller side."""
    K = options.dim
    if rank == K:
        return []
    kind = _start(options).dtype_of(size)
    share = "3e-4" if kind == np.float32 else "1e-8"  # the root of its rounding: svd.py
    why = f"below what {kind} tells, {share} of the largest or of what is held"
    zero = several(K - rank, "column is zero", "columns are zero")
    return [f"static LSA finds {rank} of {K} dimensions (the other singular values are {why}): "
            f"{zero}; --dim {rank} finds as much"]  # fmt: skip


def _drop_notes(drop: float | None, sweeps: int) -> list[str]:
    if drop is None or drop <= _SETTLED:
        return []
    return [f"not converged: the last of {several(sweeps, 'sweep', 'sweeps')} lowered the "
            f"objective by {drop:.1e} of itself; raise --sweeps for a closer fit"]  # fmt: skip

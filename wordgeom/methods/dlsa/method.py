"""Dynamic LSA: word vectors that change with time, fitted to dated documents.

Carrington (2021), §5.3–5.4. A documents × words matrix X is approximated by
A B_0 + Σ_k diag(p_k(t)) A B_k: one vector per document and a polynomial of time per word. Each
word's mean, or its polynomial trend, is removed from X first; `--trend hold` asks how words change
apart from their frequency. Starting from static LSA, words and documents are fitted alternately,
each exactly. This is not a test of change, since noise moves every word: see `wordgeom drift`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core import options as base
from wordgeom.core.errors import InputError, RankError
from wordgeom.core.formatting import plural, several
from wordgeom.core.options import option
from wordgeom.core.types import Array, Csr, Int64
from wordgeom.methods.contract import MODEL, Export, Result, Status
from wordgeom.methods.dlsa.polynomials import HIGHEST
from wordgeom.methods.dlsa.problem import FREE, HOLD
from wordgeom.methods.inputs.stores import OpenStore
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

if TYPE_CHECKING:
    from wordgeom.linalg.eigensolver import EigenSettings
    from wordgeom.linalg.svd import Svd
    from wordgeom.matrices.times import Times
    from wordgeom.methods.dlsa.fit import State
    from wordgeom.methods.dlsa.model import DynamicModel
    from wordgeom.methods.dlsa.polynomials import Polynomials
    from wordgeom.methods.dlsa.problem import Problem
    from wordgeom.storage.store import Store
    from wordgeom.weighting.documents import WeightedDocuments

NEEDS = ("documents", "times", "moving")
MAKES = (MODEL,)

_START_TOL = 1e-2  # tolerance of static LSA, which only starts the sweeps
_SETTLED = 1e-6  # a relative decrease of the objective that counts as convergence


@dataclass(frozen=True)
class Options(base.Options):
    """Options of dynamic LSA."""

    dim: int = option(100, "dimension of the vectors", low=1, metavar="K")
    degree: int = option(2, "degree of the polynomials in time", low=1, high=HIGHEST)
    sweeps: int = option(10, "number of sweeps over documents and words", low=0, high=10_000)
    trend: str = option(
        HOLD, "first remove each word's polynomial trend (hold) or only its mean (free)",
        choices=(HOLD, FREE),
    )  # fmt: skip
    at: str | None = option(
        None, "also write vectors at these times next to the model: 1950,1980,2010",
        metavar="TIME,TIME", result=False,
    )  # fmt: skip
    eig: float = option(
        1.0, "power of the singular values in the vectors of --at", low=0.0, high=1.0,
        metavar="P", result=False,
    )  # fmt: skip


def weighting(options: Options) -> dict[str, Any]:
    """Return the default weighting, which keeps longer documents from looking like change."""
    return {"weight": "rows"}


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return B_0 as vectors (V × K), and the parts of a model as arrays.

    Documents without a known time or without a word are excluded. Arrays: documents (n × K),
    coefficients (q + 1 × K × V), rows (n), times (n), moving (V), spread (V), the standard
    deviation of each column of X − G M. Raises InputError, RankError.
    """
    from wordgeom.methods.dlsa.model import typed
    from wordgeom.methods.dlsa.polynomials import Polynomials

    source: WeightedDocuments = inputs["documents"]
    times: Times = inputs["times"]
    rows, notes = _used_rows(source, times)
    polynomials = Polynomials.of(times.values[rows], options.degree)
    _check(source, len(rows), options, context.memory)
    X = source.full().select(rows)
    moving = _moving(source.words, inputs.get("moving"))
    state, problem = _fitted(X, polynomials, moving, options, context)
    A, B, rank = _padded(state, options.dim)
    arrays = {
        "documents": A, "coefficients": np.stack([Bk.T for Bk in B]), "rows": rows,
        "times": times.values[rows], "moving": moving.astype(np.uint8),
        "spread": np.sqrt(problem.squares / len(rows)),
    }  # fmt: skip
    statistics = {
        "documents": len(rows), "left_out": source.shape[0] - len(rows), "effective_rank": rank,
        "captured_static": 1.0 - state.objectives[0] / problem.total,
        "captured": 1.0 - state.objectives[-1] / problem.total,
        "last_drop": state.last_drop, "objective": state.objectives,
    }  # fmt: skip
    notes += _constant_notes(int(np.count_nonzero(problem.squares == 0.0)))
    notes += _rank_notes(rank, min(X.rows, X.columns), options)
    unsettled = _drop_notes(state.last_drop, options.sweeps)
    attributes = {
        "shape": [*A.shape, X.columns], "degree": polynomials.degree,
        "polynomials": polynomials.to_dict(), "trend": options.trend,
        "weight": source.weight, "source": source.counts.store.digest,
    }  # fmt: skip
    return Result(
        np.ascontiguousarray(B[0], np.float32), typed(arrays), [*notes, *unsettled], statistics,
        Status.of(missed=bool(unsettled), deficient=rank < options.dim),
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
    """Return how to get vectors of a model, which `convert` cannot write."""
    return f"write its vectors: wordgeom train DTM --method dlsa -o {path} --at TIME"


def model_bytes(first: OpenStore, options: Options) -> int:
    """Return the size of the model of all documents."""
    from wordgeom.methods.dlsa.model import arrays_bytes

    rows, words = first.stored.shape
    return arrays_bytes(rows, words, options.dim, options.degree + 1)


def exports(options: Options) -> list[Export]:
    """Return the vectors at the times of `--at`; raises OptionError."""
    from wordgeom.methods.dlsa.exports import exports_at

    return exports_at(options.at, options.eig)


def _summary(attributes: Mapping[str, Any], statistics: Mapping[str, Any]) -> str:
    n, K, p = attributes["shape"]
    share, drop = statistics["captured"], statistics["last_drop"]
    last = "" if drop is None else f", last decrease {drop:.1e}"
    return (
        f"{plural(n, 'document')} × {plural(p, 'word')} in {K} dimensions, degree "
        f"{attributes['degree']}; captures {share:.4f} of the squared norm{last}"
    )


def _fitted(
    X: Csr, polynomials: Polynomials, moving: Array, options: Options, context: Context
) -> tuple[State, Problem]:
    """Return the state after the last sweep, in the form of Theorem 4, and the problem."""
    from wordgeom.methods.dlsa import canonical_form, fit
    from wordgeom.methods.dlsa.problem import make_problem
    from wordgeom.methods.dlsa.sweeps import Sweeper

    terms = options.degree + 1
    state = fit.restored(context.checkpoint, terms)
    svd = None if state is not None else _static_lsa(X, polynomials, options, context)
    problem = make_problem(X, polynomials.values, options.trend, moving, context.ops)
    if problem.total == 0.0 or (svd is not None and not svd.values.any()):
        raise InputError("all documents are equal", do="check them, and --weight")
    if svd is not None:
        state = fit.initial_state(svd, terms, problem.total)
    assert state is not None
    sweeper = Sweeper(problem, state.ridges, context.ops, context.pool)
    total, done = fit.half_sweeps(options.sweeps), state.halves
    steps = fit.sweep(state, sweeper, total)
    for _ in context.progress.follow(steps, "dynamic LSA", total, "half sweeps", int, done=done):
        context.checkpoint.save(lambda: fit.saved(state))
    state.A, state.B = canonical_form.canonical(state.A, state.B)
    return state, problem


def _static_lsa(X: Csr, polynomials: Polynomials, options: Options, context: Context) -> Svd:
    """Return the truncated SVD of X − G M."""
    from wordgeom.linalg.svd import truncated_svd
    from wordgeom.methods.dlsa.problem import trend_effects

    wanted = _wanted(options, int(context.rng.integers(1 << 62)))
    effects = trend_effects(polynomials.values, options.trend)
    return truncated_svd(
        X, wanted, context.ops, effects=effects, checkpoint=context.checkpoint,
        follow=lambda checks: context.progress.follow(
            checks, "static LSA", options.dim, "dimensions", lambda check: check.gained
        ),
    )  # fmt: skip


def _wanted(options: Options, seed: int = 1) -> EigenSettings:
    """Return the settings of static LSA."""
    from wordgeom.linalg.eigensolver import EigenSettings

    return EigenSettings(options.dim, _START_TOL, seed=seed)


def _used_rows(source: WeightedDocuments, times: Times) -> tuple[Int64, list[str]]:
    """Return the rows of documents with a time and a word, and notes on the others."""
    known = times.known
    filled = np.diff(source.counts.indptr)[known] > 0
    empty = int(np.count_nonzero(~filled))
    notes = [f"{times.unread}; excluded"] if times.unread else []
    if empty:
        one = "document has no word of the vocabulary and is excluded"
        more = "documents have no word of the vocabulary and are excluded"
        notes.append(several(empty, one, more))
    return known[filled], notes


def _check(source: WeightedDocuments, n: int, options: Options, memory: int) -> None:
    """Raise RankError if K is too large, InputError if the memory limit is too low."""
    from wordgeom.linalg.svd import svd_bytes

    V, K, terms = source.shape[1], options.dim, options.degree + 1
    for count, noun in ((V, "words"), (n, "documents with a time")):
        if count < K:
            what = f"--dim {K} exceeds the number of {noun}, {count:,}"
            raise RankError(what, do="lower --dim")
    # The matrix is stored by rows and by columns; selecting documents needs as much. Static LSA
    # frees its memory before sweeps begin. A half sweep needs each term of a document and of a word
    # in float32 and in float64, and a few more arrays.
    tall = (n + V) * K * (12 * terms + 16)
    sweeps = 8 * source.entries + tall + 4 * 8 * (terms * K) ** 2
    start = svd_bytes(n, V, source.entries, _wanted(options))
    needed = 8 * source.entries + 24 * (n + V) + max(sweeps, start)
    what = f"dynamic LSA's matrices of {n:,} documents and {V:,} words"
    do = "raise --memory, or lower --dim, --degree or build-dtm's --max-vocab"
    check_memory(what, needed, memory, do)


def _moving(words: list[str], chosen: list[str] | None) -> Array:
    """Return which words (V) may move."""
    if chosen is None:
        return np.ones(len(words), bool)
    known = set(chosen)
    return np.array([word in known for word in words])


def _padded(state: State, dim: int) -> tuple[Array, list[Array], int]:
    """Return A and the B_k with zero columns up to `dim`, and their rank."""
    rank = state.A.shape[1]
    unused = ((0, 0), (0, dim - rank))
    return np.pad(state.A, unused), [np.pad(Bk, unused) for Bk in state.B], rank


def _constant_notes(constant: int) -> list[str]:
    if not constant:
        return []
    words = several(constant, "word does", "words do")
    return [f"{words} not vary apart from the mean or trend that is removed: zero vectors"]


def _rank_notes(rank: int, size: int, options: Options) -> list[str]:
    """Report dimensions that static LSA did not find; size: smaller side of the matrix."""
    K = options.dim
    if rank == K:
        return []
    dtype = _wanted(options).dtype_of(size)
    share = "3e-4" if dtype == np.float32 else "1e-8"  # the root of its rounding error: svd.py
    why = f"the resolution of {dtype}, {share} of the largest value or of what is removed"
    zero = several(K - rank, "column is zero", "columns are zero")
    return [f"static LSA finds {rank} of {K} dimensions (the other singular values are below "
            f"{why}); {zero}; --dim {rank} gives the same fit"]  # fmt: skip


def _drop_notes(drop: float | None, sweeps: int) -> list[str]:
    if drop is None or drop <= _SETTLED:
        return []
    last = several(sweeps, "sweep", "sweeps")
    return [f"not converged: the last of {last} lowered the objective by a fraction of {drop:.1e}; "
            "raise --sweeps for a closer fit"]  # fmt: skip

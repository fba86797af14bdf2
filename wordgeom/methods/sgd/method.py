"""Gradient descent on the objective of the build-up, by Adam or SGD in Torch.

Khalife, Gonçalves and Liberti (2022), §3.5: the mean squared residual (⟨v_i, v_j⟩ − G_ij)² of all
pairs of a word and an anchor (objective.py), which `gbu` minimises for anchors first and for each
other word after that. Descent moves all vectors together, by default from the build-up's result.
`--as-published` starts at random and runs Adam for 1000 epochs, as the paper's comparison does.
For word vectors `gbu` is faster and better; docs/methods/sgd.md shows both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core import options as base
from wordgeom.core.errors import InputError, RankError
from wordgeom.core.formatting import several
from wordgeom.core.options import option
from wordgeom.core.types import Array, Csr, Float32, Int64
from wordgeom.matrices.interfaces import Matrix
from wordgeom.methods.contract import VECTORS, Result, Status
from wordgeom.methods.loss_curve import loss_curve
from wordgeom.methods.notes import PUBLISHED_MATRIX, unpublished_notes
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

if TYPE_CHECKING:
    from wordgeom.methods.sgd.descent import Descent, Settings, State

NEEDS = ("matrix",)
MAKES = (VECTORS,)
PACKAGES = ("torch",)

_ANCHORS, _PUBLISHED_ANCHORS = 10, 4  # times K: as gbu's, and the paper's for words (§5)
_PUBLISHED = {"start": "random", "optimiser": "adam", "epochs": 1000, "batch": 0, "tol": 0.0}
_PUBLISHED_RATE, _PUBLISHED_LOSS = 1e-3, 1e-3  # Torch's default, since the paper gives none; §3.5
_RATE = 3e-3
_ROUNDING = 1e-6  # squared singular values below this fraction of the largest are not a dimension
_ROW = 100  # bytes of a row besides its entries
_DENSE_COPIES = 5  # m × m arrays of an eigendecomposition
_WORK = 1 << 24  # bytes of a block of pairs on each thread


@dataclass(frozen=True)
class Options(base.Options):
    """Options of gradient descent."""

    dim: int = option(100, "dimension of the vectors", low=1, metavar="K")
    anchors: int = option(
        0, "number of anchor words; 0: 10 times --dim (4 times with --as-published)", low=0,
        metavar="M",
    )  # fmt: skip
    start: str = option(
        "build-up", "first vectors: of the build-up, or random", choices=("build-up", "random")
    )
    optimiser: str = option("adam", "Adam or plain SGD", choices=("adam", "sgd"))
    rate: float = option(
        0.0, "learning rate; 0: 0.003 (0.001 with --as-published); computed for sgd", low=0.0,
        high=1e12,
    )  # fmt: skip
    epochs: int = option(100, "maximum number of epochs", low=1, high=10**6, metavar="N")
    batch: int = option(
        1 << 20, "pairs in a batch, rounded to whole words; 0: all", low=0, metavar="N"
    )
    tol: float = option(
        1e-3, "stop when ten epochs change the loss by less than this, relatively", low=0.0,
        high=1.0,
    )  # fmt: skip
    as_published: bool = option(
        False, "the paper's run: PMI, a random start, full batches, at most 1000 epochs"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.as_published:
            self.exclude_others(_PUBLISHED)

    def settings(self, seed: int) -> Settings:
        """Return how to descend; a rate of 0 is not chosen yet."""
        from wordgeom.methods.sgd.descent import Settings

        values = {name: getattr(self, name) for name in _PUBLISHED}
        values |= _PUBLISHED if self.as_published else {}
        del values["start"]
        rate = _PUBLISHED_RATE if self.as_published else _RATE
        rate = self.rate or (rate if values["optimiser"] == "adam" else 0.0)
        enough = _PUBLISHED_LOSS if self.as_published else 0.0
        return Settings(rate=rate, enough=enough, seed=seed, **values)

    @property
    def at_random(self) -> bool:
        """Whether to start at random."""
        return self.as_published or self.start == "random"


def weighting(options: Options) -> dict[str, Any]:
    """Return the method's default options of the weighting."""
    return {"weighting": PUBLISHED_MATRIX["weighting"]} if options.as_published else {}


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return the vectors (V × K) of the descent, on their principal axes.

    Raises UnavailableError without Torch, RankError if K exceeds V or the number of anchors,
    OptionError if the descent diverges, InputError if the matrix is one-sided or memory is
    insufficient.
    """
    from wordgeom.linalg.device import require_torch

    require_torch("sgd", "train with gbu")
    from wordgeom.methods.sgd.descent import one_torch_thread

    matrix: Matrix = inputs["matrix"]
    anchors, notes = _anchors(matrix, options)
    notes += unpublished_notes(matrix.made) if options.as_published else []
    _check_memory(matrix, anchors, options, context)
    columns = matrix.columns(anchors)
    if not columns.nnz:
        do = "raise --anchors, or check the matrix"
        words = several(len(anchors), "anchor co-occurs", "anchors co-occur")
        raise RankError(f"{words} with no word", do=do)
    with one_torch_thread():
        descent = _descent(columns, anchors, options, context)
        for _ in context.progress.follow(
            descent.epochs(), "epochs", descent.settings.epochs, "epochs", int,
            done=len(descent.state.losses),
        ):  # fmt: skip
            context.checkpoint.save(descent.state.saved)
        return _result(descent, notes, context)


def _anchors(matrix: Matrix, options: Options) -> tuple[Int64, list[str]]:
    """Return the rows of the anchors, the most frequent words, and a note if they are all."""
    V, K = len(matrix.frequencies), options.dim
    if not matrix.symmetric:
        do = "build it with --context both"
        raise InputError("sgd needs a symmetric matrix, not one-sided counts", do=do)
    if K > V:
        raise RankError(f"--dim {K} exceeds the number of words, {V:,}", do="lower --dim")
    wanted = options.anchors or (_PUBLISHED_ANCHORS if options.as_published else _ANCHORS) * K
    m = min(wanted, V)
    if m < K:
        what = f"--dim {K} exceeds the number of anchors, {m:,}"
        raise RankError(what, do=f"raise --anchors to {K} or more, or lower --dim")
    notes = [f"all {V:,} words are anchors, fewer than {wanted:,}"] if m < wanted else []
    return np.sort(np.argsort(-matrix.frequencies, kind="stable")[:m]), notes


def _check_memory(matrix: Matrix, anchors: Int64, options: Options, context: Context) -> None:
    """Raise InputError where the columns, the vectors and Adam's moments do not fit."""
    V, m, K, size = len(matrix.frequencies), len(anchors), options.dim, matrix.dtype.itemsize
    columns = matrix.entries_of(anchors) * (4 + size) + V * _ROW
    descent = 3 * size * V * K + _WORK * context.pool.threads
    build_up = 0 if options.at_random else _DENSE_COPIES * 8 * m * m + size * V * K
    needed = columns + max(build_up, descent)
    what = f"the columns of {m:,} anchors, {V:,} vectors of dimension {K:,} and their moments"
    do = "lower --anchors or --dim, count with --max-vocab, or raise --memory"
    check_memory(what, needed, context.memory, do)


def _descent(columns: Csr, anchors: Int64, options: Options, context: Context) -> Descent:
    """Return the descent before its first epoch, or after those of a checkpoint."""
    from wordgeom.methods.sgd.descent import Descent, State
    from wordgeom.methods.sgd.objective import Pairs, SparseTargets

    device, settings = context.ops.device, options.settings(context.seed)
    pairs = Pairs(SparseTargets(columns, device), anchors, columns.rows, device)
    saved = context.checkpoint.restore()
    if saved is None:
        start = _start(columns, anchors, options, context)
        state = State.start(start, settings.optimiser, device)
    else:
        state = State.restored(saved, device)
    return Descent(state, pairs, settings, context.pool.map)


def _start(columns: Csr, anchors: Int64, options: Options, context: Context) -> Array:
    """Return the start (V × K): the build-up's vectors, or random entries of variance 1/K.

    A word without an entry starts at 0, its solution. The build-up runs on the CPU on any device:
    Adam would magnify a difference in rounding.
    """
    from wordgeom.linalg.device import get_ops

    if not options.at_random:
        from wordgeom.methods.gbu.algorithm1 import build_up

        return build_up(columns, anchors, options.dim, 0.5, get_ops("cpu", context.pool)).vectors
    dtype: Any = columns.data.dtype
    start = context.rng.standard_normal((columns.rows, options.dim), dtype)
    start *= dtype.type(options.dim**-0.5)
    empty = np.diff(columns.indptr) == 0
    empty[anchors] = False  # other words may have entries for it
    start[empty] = 0.0
    return np.asarray(start)


def _result(descent: Descent, notes: list[str], context: Context) -> Result:
    """Return the vectors of a finished descent, and what to say of it."""
    state, settings = descent.state, descent.settings
    loss = descent.loss(state.vectors)
    vectors, rank = _principal(state, context)
    K, zero = vectors.shape[1], int(np.count_nonzero(~vectors.any(1)))
    if rank < K:
        columns = several(K - rank, "column is zero", "columns are zero")
        notes.append(f"the vectors span {rank} of {K} dimensions; {columns}; lower --dim")
    if zero:
        words = several(zero, "word does", "words do")
        m = len(descent.pairs.anchors)
        notes.append(f"{words} not co-occur with any of the {m:,} anchors: zero vectors")
    notes += _unfinished(descent, loss)
    statistics = {
        "anchors": len(descent.pairs.anchors), "pairs": descent.pairs.number,
        "effective_rank": rank, "zero_vectors": zero, "rate": settings.rate,
        "epochs": len(state.losses), "steps": state.steps, "loss": loss,
        **loss_curve(state.losses, "epoch", 1),
    }  # fmt: skip
    status = Status.of(missed=not descent.reached, deficient=rank < K)
    return Result(vectors, {}, notes, statistics, status)


def _principal(state: State, context: Context) -> tuple[Float32, int]:
    """Return the vectors on their principal axes (V × K), zero beyond the rank, and the rank."""
    from wordgeom.linalg.device import get_ops

    ops, tall = get_ops("cpu", context.pool), state.vectors.cpu().numpy()
    state.moments = ()  # frees them
    values, axes = ops.eigh_top(ops.inner(tall, tall), tall.shape[1])
    rank = int(np.count_nonzero(values > _ROUNDING * values[0]))
    axes[:, rank:] = 0.0
    vectors = ops.to_numpy(ops.combine(tall, axes))
    return vectors.astype(np.float32, copy=False), rank


def _unfinished(descent: Descent, loss: float) -> list[str]:
    """Return a note on a loss that rose, or on a stop that was not met."""
    losses, settings = descent.state.losses, descent.settings
    if loss > losses[0]:
        do = f"lower --rate, which was {settings.rate:.3g}"
        return [f"the loss rose from {losses[0]:.4g} to {loss:.4g}; {do}"]
    if descent.reached:
        return []
    did = f"the loss fell from {losses[0]:.4g} to {loss:.4g}"
    epochs = several(len(losses), "epoch", "epochs")
    if settings.enough:
        return [f"{did} in {epochs}, not below {settings.enough:g}; try another --rate"]
    return [f"{did} in {epochs}, and missed --tol {settings.tol:g}; raise --epochs or --rate"]

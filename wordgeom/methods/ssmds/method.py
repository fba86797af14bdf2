"""Semi-supervised MDS: vectors that fit a matrix and scores of word pairs at once.

Carrington (2021), chapter 4. L(B) = λ f(X, B) + (1 − λ) g(D, B) is minimised over vectors B. f is
the squared error of inner products or distances for the data X. g compares the vectors of the word
pairs D with their scores, by order (a non-metric term) or by the correlation of cosines. A small
set of pairs moves the vectors of its own words, and hardly any other: docs/methods/ssmds.md. With
--propagate, no L is minimised: the first vectors move by a regression of the scores (propagation).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core import options as base
from wordgeom.core.errors import InputError, OptionError, RankError
from wordgeom.core.formatting import several
from wordgeom.core.options import option
from wordgeom.core.types import Csr, Float32, Float64
from wordgeom.methods.contract import VECTORS, Result, Status
from wordgeom.methods.inputs.any_matrix import AnyMatrixInput
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

if TYPE_CHECKING:
    from wordgeom.methods.ssmds.descents import Run
    from wordgeom.methods.ssmds.objective import Fit, Objective
    from wordgeom.methods.ssmds.start import Start
    from wordgeom.methods.ssmds.supervision import Supervision

NEEDS = ("any-matrix", "pairs", "init")
MAKES = (VECTORS,)

EUCLIDEAN, INNER, CORRELATION = "euclidean", "inner", "correlation"
GRAM, DISTANCES, DISSIMILARITIES = "gram", "distances", "dissimilarities"
_APART = (DISTANCES, DISSIMILARITIES)
MAJORISE, LBFGS, SGD, PROPAGATION = "majorise", "lbfgs", "sgd", "propagation"
_ROW = 100  # bytes of a row of the matrix in memory, besides its entries
_ARRAYS = {LBFGS: 22, MAJORISE: 14, SGD: 10, PROPAGATION: 10}  # V × K float64 arrays at once
_DENSE_COPIES = 6  # blocks of rows that a thread holds
_COLLAPSED = 0.05  # deviation of cosines relative to that at the start
_SLOW = 20.0  # M / λ from which majorisation is slow
_OF_DESCENTS = (
    "optimiser", "steps", "tol", "rate", "decay", "batch_words", "data_weight", "plain_sums",
)  # fmt: skip


@dataclass(frozen=True)
class Options(base.Options):
    """Options of semi-supervised MDS."""

    dim: int = option(100, "dimension of the vectors; default with --init: that of its vectors",
                      low=1, metavar="K")  # fmt: skip
    objective: str = option(
        CORRELATION, "case 1 (euclidean), 2 (inner) or 3 (correlation) of the thesis",
        choices=(EUCLIDEAN, INNER, CORRELATION),
    )  # fmt: skip
    data: str = option(
        INNER, "data: inner products, those of rows (gram), distances of rows, dissimilarities",
        choices=(INNER, GRAM, *_APART),
    )  # fmt: skip
    data_weight: float = option(
        0.5, "λ, weight of the data; the pairs have 1 − λ", low=0.0, high=1.0, metavar="P"
    )
    plain_sums: bool = option(False, "let λ weigh the plain sums, as in the thesis")
    optimiser: str = option(
        LBFGS, "optimiser: L-BFGS, majorisation or stochastic gradient descent",
        choices=(LBFGS, MAJORISE, SGD),
    )  # fmt: skip
    start: str = option(
        "eigenpairs", "first vectors, without --init", choices=("eigenpairs", "build-up", "random")
    )
    steps: int = option(
        200, "maximum number of steps, or epochs of sgd", low=1, high=10**6, metavar="N"
    )
    tol: float = option(
        1e-5, "stop when five steps (sgd: ten epochs) change L by less than this, relatively",
        low=0.0, high=1.0,
    )  # fmt: skip
    rate: float = option(0.0, "learning rate of sgd; 0: computed", low=0.0, high=1e12)
    decay: float = option(
        0.0, "decay X of the rate of sgd: rate / (1 + X · epoch)", low=0.0, high=1e6
    )
    batch_words: int = option(50, "words in a batch of sgd", low=1, metavar="N")
    propagate: bool = option(False, "spread the scores to words without any, instead of a descent")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.propagate:
            self._check_propagation()
        if self.objective == EUCLIDEAN and self.data not in _APART:
            what = "--objective euclidean needs distances, not inner products"
            do = "pass --data distances (of rows) or --data dissimilarities (the entries)"
            raise OptionError(what, found=f"--data {self.data}", do=do)
        if self.objective != EUCLIDEAN and self.data in _APART:
            what = f"--objective {self.objective} needs inner products"
            do = "pass --data inner or gram, or --objective euclidean"
            raise OptionError(what, found=f"--data {self.data}", do=do)
        if self.objective == CORRELATION and self.optimiser == MAJORISE:
            what = "--optimiser majorise has no step for --objective correlation"
            raise OptionError(what, do="pass --optimiser lbfgs or sgd")
        if self.start == "build-up" and self.data != INNER:
            what = "--start build-up needs --data inner"
            raise OptionError(what, found=f"--data {self.data}", do="pass --start eigenpairs")
        for name in ("rate", "decay", "batch_words"):
            if self.is_set(name) and self.optimiser != SGD:
                what = f"{base.flag(name)} has no effect with --optimiser {self.optimiser}"
                raise OptionError(what, do="omit one of the two")

    def _check_propagation(self) -> None:
        for name, needed in (("objective", (CORRELATION,)), ("start", ("eigenpairs", "build-up"))):
            if (found := getattr(self, name)) not in needed:
                what = f"--propagate needs {base.flag(name)} {' or '.join(needed)}"
                raise OptionError(what, found=found, do="omit one of the two")
        for name in _OF_DESCENTS:
            if self.is_set(name):
                what = f"{base.flag(name)} has no effect with --propagate"
                raise OptionError(what, do="omit one of the two")


def check(options: Options, given: Mapping[str, Any]) -> None:
    """Raise OptionError for what --init excludes, also where it makes the matrix unnecessary."""
    if given.get("init") is None:
        return
    if options.is_set("start"):
        raise OptionError("--init excludes --start", do="pass one of the two")
    if options.propagate:
        needless = "--propagate"
    elif options.data_weight == 0.0 and options.objective == CORRELATION:
        needless = "--data-weight 0"
    else:
        return
    weights = [option.name for cls in AnyMatrixInput.options for option, _ in base.specs(cls)]
    for name in ("data", *weights):
        if name in given:
            what = f"{base.flag(name)} has no effect with --init and {needless}"
            raise OptionError(what, do=f"omit {base.flag(name)}")


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return vectors (V × K) that fit the matrix and the pairs.

    They are on their principal axes, or turned to the vectors of --init; with --propagate, on the
    axes of the start. Raises RankError if K
    exceeds V, OptionError if the descent diverges, InputError for pairs or a matrix that cannot be
    used, or if memory is insufficient.
    """
    from wordgeom.methods.ssmds.supervision import supervise

    matrix, init = inputs["any-matrix"], inputs.get("init")
    K = _dimension(init, options)
    if len(matrix.words) < K:
        raise RankError(f"--dim {K} exceeds the number of words, {len(matrix.words):,}",
                        do="lower --dim")  # fmt: skip
    pairs = supervise(inputs["pairs"], matrix.words)
    problem = _Problem(matrix, init, pairs, options, context, K)
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


class _Problem:
    """The parts of a problem: data, start, objective and optimiser."""

    def __init__(
        self, matrix: Any, init: Any, pairs: Supervision, options: Options, context: Context, K: int
    ) -> None:
        from wordgeom.linalg.device import get_ops

        self._matrix, self._init, self._pairs, self._options = matrix, init, pairs, options
        self._context, self._K = context, K
        self._cpu = get_ops("cpu", context.pool)
        self._check_memory()

    @property
    def fit(self) -> Fit:
        """The objective f."""
        return self._data[0]

    def start(self) -> Start:
        """Return the first vectors."""
        from wordgeom.methods.ssmds import start

        words, options, rng = self._matrix.words, self._options, self._context.rng
        if self._init is not None:
            return start.from_file(self._init, words, None if options.propagate else rng)
        if options.start == "build-up":
            if self._by_document:
                do = "pass --start eigenpairs"
                raise InputError("--start build-up needs a words × words matrix", do=do)
            return start.by_build_up(self._matrix, self._K, self._context.ops)
        if options.start == "random":
            return start.at_random(len(words), self._K, self._deviation(), rng)
        seed = int(rng.integers(1 << 62))
        return start.by_eigenpairs(self._data[1], self._K, self._context.ops, seed)

    def objective(self, start: Float64) -> Objective:
        """Return L. Raises InputError for data of zeros."""
        from wordgeom.methods.ssmds import terms
        from wordgeom.methods.ssmds.objective import Objective, plain_weight

        if not self.fit.largest > 0.0:
            raise InputError("the matrix gives nothing but zeros between words",
                             do="check it with wordgeom info")  # fmt: skip
        case, scores = self._options.objective, self._pairs.scores
        if case == CORRELATION:
            term: terms.Term = terms.Correlation(scores)
            measure = terms.cosines
        else:
            measure = terms.distances if case == EUCLIDEAN else terms.products
            left, right = self._pairs.rows
            square = self._square(measure(start[left], start[right]).values)
            term = terms.Order(scores, square, case == INNER)
        weight = self._options.data_weight
        if not self._options.plain_sums:
            weight = plain_weight(weight, self.fit.largest, term.largest)
        return Objective(self.fit, terms.Supervised(self._pairs, measure, term), weight)

    def run(self, objective: Objective, start: Float64) -> Run:
        """Return the optimiser before its first step, or after those of a checkpoint."""
        from wordgeom.methods.ssmds import descents, majorise
        from wordgeom.methods.ssmds.objective import InnerFit, StressFit

        options, saved = self._options, self._context.checkpoint.restore()
        if options.optimiser == LBFGS:
            return descents.Quasi(
                objective, start, saved, self._cpu, most=options.steps, tol=options.tol
            )
        held = descents.State(start) if saved is None else descents.State.restored(saved)
        if options.optimiser == SGD:
            return descents.Stochastic(
                objective, held, most=options.steps, tol=options.tol, rate=options.rate,
                decay=options.decay, batch=options.batch_words, seed=self._context.seed,
            )  # fmt: skip
        step: majorise.Majorise
        if isinstance(self.fit, StressFit):
            step = majorise.StressStep(objective, self.fit)
        else:
            assert isinstance(self.fit, InnerFit)
            step = majorise.InnerStep(objective, self.fit, self._cpu)
        return descents.Majorised(objective, held, step, most=options.steps, tol=options.tol)

    @cached_property
    def _data(self) -> tuple[Fit, Any]:
        """Return f, and the inner products of its data as an operator."""
        from wordgeom.methods.ssmds import sources
        from wordgeom.methods.ssmds.objective import InnerFit, StressFit

        pool, ops = self._context.pool, self._context.ops
        if self._options.objective == EUCLIDEAN:
            apart = (
                sources.Distances(sources.Gram(self._rows()))
                if self._options.data == DISTANCES
                else sources.Dissimilarities(_checked(self._symmetric()))
            )
            return StressFit(apart, pool), apart.centred(ops)
        inner: sources.InnerProducts
        if self._options.data == INNER and not self._by_document:
            inner = sources.Entries(self._symmetric())
        else:
            inner = sources.Gram(self._rows())
        return InnerFit(inner, ops, self._cpu, pool), inner.operator(ops)

    @property
    def _by_document(self) -> bool:
        return not hasattr(self._matrix, "symmetric")

    def _rows(self) -> Csr:
        """Return the row of data of each word: of a matrix, or of a transposed one by document."""
        from wordgeom.linalg.svd import transpose

        full: Csr = self._matrix.full()
        return transpose(full) if self._by_document else full

    def _symmetric(self) -> Csr:
        """Return a words × words matrix. Raises InputError for another one."""
        if self._by_document:
            do = "pass --data distances"
            raise InputError("a document-term matrix has no dissimilarities of words", do=do)
        if self._options.data == DISSIMILARITIES and self._matrix.has_counts:
            what = "the matrix holds counts, which are weighted, not dissimilarities"
            raise InputError(what, do="import those with wordgeom convert --kind pmi")
        if not self._matrix.symmetric:
            do = "build it with --context both, or pass --data gram or distances"
            raise InputError("ssmds needs a symmetric matrix, not one-sided counts", do=do)
        full: Csr = self._matrix.full()
        return full

    def _square(self, measured: Float64) -> float:
        """Return s²: the mean square of the data of the pairs, or else of the first vectors."""
        known = self.fit.source.at(*self._pairs.rows)
        known = known[np.isfinite(known)]
        for values in (known, measured):
            if values.any():
                return float(np.mean(values**2))
        do = "choose pairs of words with data, or --objective correlation"
        raise InputError("no pair of --pairs has data or vectors other than 0", do=do)

    def _deviation(self) -> float:
        """Return the deviation of random entries whose products or distances are of X's size."""
        V, K = len(self._matrix.words), self._K
        typical = self.fit.largest / max(1.0, 0.5 * V * (V - 1))
        if self._options.objective == EUCLIDEAN:
            return float(np.sqrt(typical / (2.0 * K)))
        return float((typical / K) ** 0.25)

    def _check_memory(self) -> None:
        """Raise InputError where the data and the vectors do not fit."""
        from wordgeom.methods.ssmds import spreading
        from wordgeom.methods.ssmds.sources import blocks

        V, options = len(self._matrix.words), self._options
        turned = self._by_document or options.data in (GRAM, DISTANCES)
        entries = (24 if turned else 12) * self._matrix.entries + _ROW * V
        made_by = PROPAGATION if options.propagate else options.optimiser
        arrays = 8 * _ARRAYS[made_by] * V * self._K
        dense, do = 0, "lower --dim, count with --max-vocab, or raise --memory"
        if options.objective == EUCLIDEAN or turned:
            dense = 8 * _DENSE_COPIES * V * len(blocks(V)[0]) * self._context.pool.threads
        if options.optimiser == SGD:
            dense += 8 * 3 * V * min(options.batch_words, V)
        if options.propagate:
            if self._init is not None:  # the matrix is not read
                entries, arrays, dense = _ROW * V, arrays // 2, 0
            dense += spreading.bytes_of(self._pairs, self._context.pool.threads)
            do = "pass fewer pairs, lower --dim or --threads, or raise --memory"
        what = f"the matrix and the {V:,} vectors of dimension {self._K:,} of {made_by}"
        check_memory(what, entries + arrays + dense, self._context.memory, do)


def _checked(sparse: Csr) -> Csr:
    """Return dissimilarities. Raises InputError for a negative one."""
    if sparse.nnz and sparse.data.min() < 0:
        what = "has negative entries, which are no dissimilarities"
        raise InputError(f"the matrix {what}", do="pass --data inner for inner products")
    return sparse


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

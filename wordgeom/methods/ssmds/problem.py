"""A problem of semi-supervised MDS: its data, start, objective and optimiser."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Csr, Float64
from wordgeom.methods.ssmds.options import (
    CORRELATION,
    DISSIMILARITIES,
    DISTANCES,
    EUCLIDEAN,
    GRAM,
    INNER,
    LBFGS,
    MAJORISE,
    SGD,
    Options,
)
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

if TYPE_CHECKING:
    from wordgeom.methods.ssmds.descents import Run
    from wordgeom.methods.ssmds.objective import Fit, Objective
    from wordgeom.methods.ssmds.start import Start
    from wordgeom.methods.ssmds.supervision import Supervision

_PROPAGATION = "propagation"
_ROW = 100  # bytes of a row of the matrix in memory, besides its entries
_ARRAYS = {LBFGS: 22, MAJORISE: 14, SGD: 10, _PROPAGATION: 10}  # V × K float64 arrays at once
_DENSE_COPIES = 6  # blocks of rows that a thread holds


class Problem:
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
        made_by = _PROPAGATION if options.propagate else options.optimiser
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

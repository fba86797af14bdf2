"""The test of drift: one verdict from documents × words, times and options."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.ops import Ops
from wordgeom.core.types import Array, Csr, Float64, Int64
from wordgeom.drift import by_documents, by_times, freedman_lane
from wordgeom.drift.f_tail import f_tail_p
from wordgeom.drift.null_distribution import NullDistribution, Runner
from wordgeom.drift.options import F_TAIL, MAX_T, TIMES, WITHIN, DriftOptions
from wordgeom.drift.p_values import BIN_SIZE, p_values, q_values, single_p_value, smallest_word_p
from wordgeom.drift.permutations import Permutations
from wordgeom.drift.stable_words import StableWords, select_stable_words
from wordgeom.drift.statistics import (
    Observed,
    WordResiduals,
    degrees_of_freedom,
    observed_statistics,
    remove_topics,
)
from wordgeom.drift.time_axis import Axis
from wordgeom.drift.topics import static_topics, topic_bytes
from wordgeom.drift.verdict import Verdict, describe_test, notes
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.svd import transpose
from wordgeom.methods.dlsa.problem import FREE
from wordgeom.runtime.memory import refuse_too_large
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress


def test_drift(
    X: Csr,
    basis: Float64,
    times: Float64,
    options: DriftOptions,
    *,
    rank: int,
    ops: Ops,
    seed: int,
    pool: Pool,
    memory: int,
    progress: Progress,
    groups: Int64 | None,
) -> Verdict:
    """Test whether words of X (n × p), float32, change with times (n), by polynomials (n × q).

    rank: r topics; groups (n): for `within`; memory: bytes. A trend of `model` is held, and the
    factor test is not made: who calls this knows the model and has seen to both. Raises InputError
    for a single time, too few documents, words that are all constant, groups without times to
    permute and what does not fit into memory, RankError where X has no more than r dimensions.
    """
    with one_thread():
        task = _Task(X, Axis.of(times, basis), options, rank, ops, seed, groups, progress)
        if options.test == F_TAIL:
            return task.by_tail()
        return task.by_permutation(Runner(pool, memory, progress))


@dataclass(eq=False)
class _Task:
    """A test that is asked for."""

    X: Csr
    axis: Axis
    options: DriftOptions
    rank: int
    ops: Ops
    seed: int
    groups: Int64 | None
    progress: Progress

    def __post_init__(self) -> None:
        self.hold = self.options.trend != FREE
        q = self.axis.degree
        self.degrees = degrees_of_freedom(self.X.rows, self.rank, q)

    @cached_property
    def columns(self) -> Csr:
        """Xᵀ (p × n)."""
        return transpose(self.X)

    @cached_property
    def words(self) -> WordResiduals:
        """Words freed of topics of all of them."""
        U = static_topics(self.X, self.rank, self.ops, self.seed, self.progress)
        return remove_topics(self.columns, U, self.ops)

    def judged(self) -> StableWords:
        """Return words freed of the topics that they are tested with."""
        if not self.options.still:
            return StableWords(self.words, None)
        return select_stable_words(
            self.X, self.columns, self.words, self.axis, self.hold, self.ops, self.seed,
            self.progress,
        )  # fmt: skip

    def by_tail(self) -> Verdict:
        """Return what the F distribution says."""
        judged = self.judged()
        observed = observed_statistics(judged.words, self.axis, self.hold, self.ops)
        tested = self.rank if self.hold else self.rank + 1
        p = f_tail_p(observed.F, tested * self.axis.degree, self.degrees)
        return self._verdict(judged, observed, p, None, (np.nan, np.nan))

    def by_permutation(self, runner: Runner) -> Verdict:
        """Return what permutations say."""
        arrangements = self._arrangements()
        self._refuse_too_large(arrangements.count, runner.memory)
        null = self._null(self.words, arrangements, runner)
        whole = (
            single_p_value(null.F.mean(axis=1, dtype=np.float64)),
            single_p_value(null.mixture),
        )
        judged = self.judged()
        if judged.words is not self.words:
            del null  # as large as the one to come
            null = self._null(judged.words, arrangements, runner)
        holders = np.diff(judged.words.columns.indptr)
        p = p_values(self.options.null, null.F, holders)
        observed = observed_statistics(judged.words, self.axis, self.hold, self.ops)
        return self._verdict(judged, observed, p, arrangements, whole)

    def _arrangements(self) -> Permutations:
        """Return the orders that are asked for: of documents, or of times."""
        options, codes = self.options, self.axis.codes
        if options.permute == WITHIN and self.groups is None:
            raise InputError("documents have no groups to permute inside", do="name their group")
        groups = self.groups if options.permute == WITHIN else None
        if options.permute == TIMES:
            codes = np.arange(self.axis.times, dtype=np.int32)
        symmetric = options.permute == TIMES and self.axis.symmetric
        return Permutations(
            codes, options.permutations, self.seed, groups, options.freedman_lane, symmetric
        )

    def _refuse_too_large(self, count: int, memory: int) -> None:
        n, p, width = self.X.rows, self.X.columns, (self.rank + 1) * self.axis.degree
        known = 8 * by_documents.AT_ONCE * (self.rank * self.axis.degree) ** 2
        known += 12 * min(self.axis.times, by_times.MAX_TIMES) * (self.rank + 1) ** 2
        known += 8 * 2 * width * (n + p)  # what is observed; residuals' design and its QR
        pooled = 8 * 3 * count * min(p, 2 * BIN_SIZE)
        needed = 4 * count * p + 12 * self.X.nnz + max(known, pooled)
        needed = max(needed, 12 * self.X.nnz + topic_bytes(self.X, self.rank))
        what = f"F of {self.X.columns:,} words in {count:,} permutations"
        refuse_too_large(what, needed, memory, "raise --memory or lower --permutations")

    def _null(
        self, words: WordResiduals, arrangements: Permutations, runner: Runner
    ) -> NullDistribution:
        if self.options.freedman_lane:
            return freedman_lane.null(words, self.axis, arrangements, self.hold, self.ops, runner)
        whole = self.options.permute == TIMES
        if whole and self.axis.times <= by_times.MAX_TIMES:
            return by_times.null(words, self.axis, arrangements, self.hold, runner)
        return by_documents.null(words, self.axis, arrangements, self.hold, runner, whole)

    def _verdict(
        self, judged: StableWords, observed: Observed, p: Float64, made: Permutations | None,
        whole: tuple[float, float],
    ) -> Verdict:  # fmt: skip
        """Return the verdict; p (w) of words that vary, and of the whole: mean F, the mixture."""
        options, words, kept = self.options, judged.words, judged.words.kept
        q = q_values(p, made is not None and options.null == MAX_T)
        F, r2, p, q = (_spread(values, kept) for values in (observed.F, observed.r2, p, q))
        least = smallest_word_p(options.null, made, len(words)) if made else 0.0
        made_of = (made.count - 1, made.smallest_p, least) if made else (0, 0.0, 0.0)
        return Verdict(
            *describe_test(options, self.hold), self.rank, *made_of, *whole, F, r2, p, q,
            len(kept) - len(words), judged.number,
            notes(options, made, len(words), len(kept), judged.number, whole, least),
        )  # fmt: skip


def _spread(values: Float64, kept: Array) -> Float64:
    """Return values of words that were kept among all (p), the others NaN."""
    out = np.full(len(kept), np.nan)
    out[kept] = values
    return out

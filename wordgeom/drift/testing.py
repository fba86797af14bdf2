"""The drift test: a verdict from documents × words, times and options."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.ops import Ops
from wordgeom.core.types import Array, Csr, Float64, Int64
from wordgeom.drift import by_documents, by_times, freedman_lane
from wordgeom.drift.f_tail import f_tail_p
from wordgeom.drift.null_distribution import Null, Runner
from wordgeom.drift.options import F_TAIL, MAX_T, TIMES, WITHIN, DriftOptions
from wordgeom.drift.p_values import BIN_SIZE, p_values, q_values, single_p_value, smallest_word_p
from wordgeom.drift.permutations import Permutations
from wordgeom.drift.stable_words import StableWords, select_stable_words
from wordgeom.drift.statistics import (
    Observed,
    WordResiduals,
    degrees_of_freedom,
    observe,
    remove_topics,
)
from wordgeom.drift.time_axis import Axis
from wordgeom.drift.topics import static_topics, topic_bytes
from wordgeom.drift.verdict import Verdict, describe_test, verdict_notes
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.svd import transpose
from wordgeom.methods.dlsa.problem import FREE
from wordgeom.runtime.memory import check_memory
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

    rank: number of topics r; groups (n): for `within`; memory: limit in bytes. A trend of `model`
    is treated as held, and the factor test is not supported: the caller, who knows the model,
    handles both. Raises InputError for a single time, too few documents, constant words, groups
    with nothing to permute, and a test above the memory limit; RankError if X has rank r or less.
    """
    with one_thread():
        task = _Task(X, Axis.of(times, basis), options, rank, ops, seed, groups, progress)
        if options.test == F_TAIL:
            return task.by_tail()
        return task.by_permutation(Runner(pool, memory, progress))


@dataclass(eq=False)
class _Task:
    """One test, by the F distribution or by permutations."""

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
        """Residuals of words given topics of all words."""
        U = static_topics(self.X, self.rank, self.ops, self.seed, self.progress)
        return remove_topics(self.columns, U, self.ops)

    def stable_words(self) -> StableWords:
        """Return residuals of words given the topics of the test."""
        if not self.options.still:
            return StableWords(self.words, None)
        return select_stable_words(
            self.X, self.columns, self.words, self.axis, self.hold, self.ops, self.seed,
            self.progress,
        )  # fmt: skip

    def by_tail(self) -> Verdict:
        """Return the verdict by the F distribution."""
        stable = self.stable_words()
        observed = observe(stable.words, self.axis, self.hold, self.ops)
        tested = self.rank if self.hold else self.rank + 1
        p = f_tail_p(observed.F, tested * self.axis.degree, self.degrees)
        return self._verdict(stable, observed, p, None, (np.nan, np.nan))

    def by_permutation(self, runner: Runner) -> Verdict:
        """Return the verdict by permutations."""
        permutations = self._permutations()
        self._check_memory(permutations.count, runner.memory)
        null = self._null(self.words, permutations, runner)
        mean_F = null.F.mean(axis=1, dtype=np.float64)
        global_ps = single_p_value(mean_F), single_p_value(null.mixture)
        stable = self.stable_words()
        if stable.words is not self.words:
            del null  # frees memory for the next one, which is as large
            null = self._null(stable.words, permutations, runner)
        p = p_values(self.options.null, null.F, np.diff(stable.words.columns.indptr))
        observed = observe(stable.words, self.axis, self.hold, self.ops)
        return self._verdict(stable, observed, p, permutations, global_ps)

    def _permutations(self) -> Permutations:
        """Return the permutations of documents or of times."""
        options, codes = self.options, self.axis.codes
        if options.permute == WITHIN and self.groups is None:
            raise InputError("--permute within needs groups of documents", do="pass --group")
        groups = self.groups if options.permute == WITHIN else None
        if options.permute == TIMES:
            codes = np.arange(self.axis.times, dtype=np.int32)
        symmetric = options.permute == TIMES and self.axis.symmetric
        return Permutations(
            codes, options.permutations, self.seed, groups, options.freedman_lane, symmetric
        )

    def _check_memory(self, count: int, memory: int) -> None:
        n, p, width = self.X.rows, self.X.columns, (self.rank + 1) * self.axis.degree
        block = 8 * by_documents.AT_ONCE * (self.rank * self.axis.degree) ** 2
        block += 12 * min(self.axis.times, by_times.MAX_TIMES) * (self.rank + 1) ** 2
        block += 8 * 2 * width * (n + p)  # observed statistics; design of residuals and its QR
        pooled = 8 * 3 * count * min(p, 2 * BIN_SIZE)
        needed = 4 * count * p + 12 * self.X.nnz + max(block, pooled)
        needed = max(needed, 12 * self.X.nnz + topic_bytes(self.X, self.rank))
        what = f"F of {self.X.columns:,} words in {count:,} permutations"
        check_memory(what, needed, memory, "raise --memory or lower --permutations")

    def _null(self, words: WordResiduals, permutations: Permutations, runner: Runner) -> Null:
        if self.options.freedman_lane:
            return freedman_lane.null(words, self.axis, permutations, self.hold, self.ops, runner)
        by_time = self.options.permute == TIMES
        if by_time and self.axis.times <= by_times.MAX_TIMES:
            return by_times.null(words, self.axis, permutations, self.hold, runner)
        return by_documents.null(words, self.axis, permutations, self.hold, runner, by_time)

    def _verdict(
        self, stable: StableWords, observed: Observed, p: Float64, made: Permutations | None,
        global_ps: tuple[float, float],
    ) -> Verdict:  # fmt: skip
        """Return the verdict; p (w): of words that vary; global_ps: of the mean F, the mixture."""
        options, words, varying = self.options, stable.words, stable.words.varying
        q = q_values(p, made is not None and options.null == MAX_T)
        F, r2, p, q = (_expand(values, varying) for values in (observed.F, observed.r2, p, q))
        least = smallest_word_p(options.null, made, len(words)) if made else 0.0
        facts = (made.count - 1, made.smallest_p, least) if made else (0, 0.0, 0.0)
        return Verdict(
            *describe_test(options, self.hold), self.rank, *facts, *global_ps, F, r2, p, q,
            len(varying) - len(words), stable.number,
            verdict_notes(options, made, len(words), varying.size, stable.number, global_ps, least),
        )  # fmt: skip


def _expand(values: Float64, varying: Array) -> Float64:
    """Return values of the varying words for all words (p), NaN for the others."""
    out = np.full(len(varying), np.nan)
    out[varying] = values
    return out

"""The test of drift: one verdict from documents × words, times and options."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.ops import Ops
from wordgeom.core.types import Array, Csr, Float64, Int64
from wordgeom.drift import by_documents, by_times, freedman_lane
from wordgeom.drift.f_tail import tail
from wordgeom.drift.null_distribution import Null, Runner
from wordgeom.drift.options import F_TAIL, MAX_T, TIMES, WITHIN, DriftOptions
from wordgeom.drift.p_values import BIN, one, p_values, q_values, smallest
from wordgeom.drift.permutations import Arrangements
from wordgeom.drift.stable_words import Still, judge_still
from wordgeom.drift.statistics import Observed, Words, degrees_of_freedom, free_words, observe
from wordgeom.drift.time_axis import Axis
from wordgeom.drift.topics import directions, topic_bytes
from wordgeom.drift.verdict import Verdict, notes, wording
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
    def words(self) -> Words:
        """Words freed of topics of all of them."""
        U = directions(self.X, self.rank, self.ops, self.seed, self.progress)
        return free_words(self.columns, U, self.ops)

    def judged(self) -> Still:
        """Return words freed of the topics that they are tested with."""
        if not self.options.still:
            return Still(self.words, None)
        return judge_still(
            self.X, self.columns, self.words, self.axis, self.hold, self.ops, self.seed,
            self.progress,
        )  # fmt: skip

    def by_tail(self) -> Verdict:
        """Return what the F distribution says."""
        judged = self.judged()
        observed = observe(judged.words, self.axis, self.hold, self.ops)
        tested = self.rank if self.hold else self.rank + 1
        p = tail(observed.F, tested * self.axis.degree, self.degrees)
        return self._verdict(judged, observed, p, None, (np.nan, np.nan))

    def by_permutation(self, runner: Runner) -> Verdict:
        """Return what permutations say."""
        arrangements = self._arrangements()
        self._refuse_too_large(arrangements.count, runner.memory)
        null = self._null(self.words, arrangements, runner)
        whole = (one(null.F.mean(axis=1, dtype=np.float64)), one(null.mixture))
        judged = self.judged()
        if judged.words is not self.words:
            del null  # as large as the one to come
            null = self._null(judged.words, arrangements, runner)
        holders = np.diff(judged.words.columns.indptr)
        p = p_values(self.options.null, null.F, holders)
        observed = observe(judged.words, self.axis, self.hold, self.ops)
        return self._verdict(judged, observed, p, arrangements, whole)

    def _arrangements(self) -> Arrangements:
        """Return the orders that are asked for: of documents, or of times."""
        options, codes = self.options, self.axis.codes
        if options.permute == WITHIN and self.groups is None:
            raise InputError("documents have no groups to permute inside", do="name their group")
        groups = self.groups if options.permute == WITHIN else None
        if options.permute == TIMES:
            codes = np.arange(self.axis.times, dtype=np.int32)
        mirrored = options.permute == TIMES and self.axis.mirrored
        return Arrangements(
            codes, options.permutations, self.seed, groups, options.freedman_lane, mirrored
        )

    def _refuse_too_large(self, count: int, memory: int) -> None:
        n, p, width = self.X.rows, self.X.columns, (self.rank + 1) * self.axis.degree
        known = 8 * by_documents.AT_ONCE * (self.rank * self.axis.degree) ** 2
        known += 12 * min(self.axis.times, by_times.MOST) * (self.rank + 1) ** 2
        known += 8 * 2 * width * (n + p)  # what is observed; residuals' design and its QR
        pooled = 8 * 3 * count * min(p, 2 * BIN)
        needed = 4 * count * p + 12 * self.X.nnz + max(known, pooled)
        needed = max(needed, 12 * self.X.nnz + topic_bytes(self.X, self.rank))
        what = f"F of {self.X.columns:,} words in {count:,} permutations"
        check_memory(what, needed, memory, "raise --memory or lower --permutations")

    def _null(self, words: Words, arrangements: Arrangements, runner: Runner) -> Null:
        if self.options.freedman_lane:
            return freedman_lane.null(words, self.axis, arrangements, self.hold, self.ops, runner)
        whole = self.options.permute == TIMES
        if whole and self.axis.times <= by_times.MOST:
            return by_times.null(words, self.axis, arrangements, self.hold, runner)
        return by_documents.null(words, self.axis, arrangements, self.hold, runner, whole)

    def _verdict(
        self, judged: Still, observed: Observed, p: Float64, made: Arrangements | None,
        whole: tuple[float, float],
    ) -> Verdict:  # fmt: skip
        """Return the verdict; p (w) of words that vary, and of the whole: mean F, the mixture."""
        options, words, kept = self.options, judged.words, judged.words.kept
        q = q_values(p, made is not None and options.null == MAX_T)
        F, r2, p, q = (_spread(values, kept) for values in (observed.F, observed.r2, p, q))
        least = smallest(options.null, made, len(words)) if made else 0.0
        made_of = (made.count - 1, made.smallest_p, least) if made else (0, 0.0, 0.0)
        return Verdict(
            *wording(options, self.hold), self.rank, *made_of, *whole, F, r2, p, q,
            len(kept) - len(words), judged.number,
            notes(options, made, len(words), len(kept), judged.number, whole, least),
        )  # fmt: skip


def _spread(values: Float64, kept: Array) -> Float64:
    """Return values of words that were kept among all (p), the others NaN."""
    out = np.full(len(kept), np.nan)
    out[kept] = values
    return out

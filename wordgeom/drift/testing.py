"""The drift test: a verdict from documents × words, times and options."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.types import Array, Csr, Float64, Int64
from wordgeom.drift import by_documents, by_times
from wordgeom.drift.flips.testing import LEAST_DOCUMENTS, flip_signs
from wordgeom.drift.null_distribution import Null
from wordgeom.drift.options import F_TAIL, MAX_T, TIMES, WITHIN, DriftOptions
from wordgeom.drift.p_values import (
    BIN_SIZE,
    f_tail_p,
    p_values,
    q_values,
    single_p_value,
    smallest_word_p,
    studentised,
)
from wordgeom.drift.permutations import Permutations
from wordgeom.drift.stable_words import select_stable_words
from wordgeom.drift.statistics import WordResiduals, degrees_of_freedom, observe, remove_topics
from wordgeom.drift.time_axis import Axis
from wordgeom.drift.topics import static_topics, topic_bytes
from wordgeom.drift.verdict import Verdict, describe_test, flip_notes, verdict_notes
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.svd import transpose
from wordgeom.methods.dlsa.problem import FREE
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

_LEAST_TOKENS = 2  # of a passage: a single token has no company


def test_drift(
    X: Csr,
    basis: Float64,
    times: Float64,
    options: DriftOptions,
    rank: int,
    groups: Int64 | None,
    context: Context,
) -> Verdict:
    """Test whether words of X (n × p), float32, change with times (n), by polynomials (n × q).

    rank: number of topics r; groups (n): for `within`. A trend of `model` is treated as held, and
    the factor test is not supported: the caller, who knows the model, handles both. Raises
    InputError for a single time, too few documents, constant words, groups with nothing to permute,
    and a test above the memory limit; RankError if X has rank r or less.
    """
    with one_thread():
        task = _Task(X, Axis.of(times, basis), options, rank, groups, context)
        return task.by_tail() if options.test == F_TAIL else task.by_permutation()


def test_directions(
    X: Csr, units: Int64, basis: Float64, times: Float64, options: DriftOptions, rank: int,
    context: Context,
) -> Verdict:  # fmt: skip
    """Test by sign flips whether the directions of words of counts X (n × p) change with times.

    units (n): the document of each row; basis (n × q); times (n). Raises InputError for a single
    time and for too little text, RankError if X has too low a rank for r topics.
    """
    with one_thread():
        axis = Axis.of(times, basis)
        rows = np.flatnonzero(np.bincount(X.entry_rows, X.data, X.rows) >= _LEAST_TOKENS)
        if not len(rows):
            what = f"no document has {_LEAST_TOKENS} tokens or more"
            raise InputError(what, do="use longer documents")
        kept = Axis(axis.levels, axis.codes[rows])
        count = options.permutations + 1
        found = flip_signs(X.select(rows), units[rows], kept, rank, count, context)
    frequencies = np.bincount(X.indices, minlength=X.columns)[found.tested]
    p = p_values(options.null, found.F, frequencies)
    q = q_values(p, options.null == MAX_T)
    tested = len(p)
    largest = single_p_value(studentised(found.F).max(axis=1))
    least = smallest_word_p(options.null, count, 1.0 / count, tested)
    untested = X.columns - tested
    notes = flip_notes(untested, LEAST_DOCUMENTS, X.rows - len(rows), options, 1.0 / count, tested)
    if found.rank < rank:
        above = f"{found.rank:,} of {rank:,} topics exceed the noise of documents of this length"
        notes = (*notes, above)
    F, turn, p, q = (_expand(v, found.tested) for v in (found.F[0], found.turn, p, q))
    return Verdict(
        *describe_test(options, True), rank, count - 1, 1.0 / count, least, largest, np.nan,
        F, turn, np.full(X.columns, np.nan), p, q, untested, None, notes,
    )  # fmt: skip


@dataclass(eq=False)
class _Task:
    """One test, by the F distribution or by permutations."""

    X: Csr
    axis: Axis
    options: DriftOptions
    rank: int
    groups: Int64 | None
    context: Context

    def __post_init__(self) -> None:
        self.hold = self.options.trend != FREE
        self.degrees = degrees_of_freedom(self.X.rows, self.rank, self.axis.degree)

    @cached_property
    def columns(self) -> Csr:
        """Xᵀ (p × n)."""
        return transpose(self.X)

    @cached_property
    def words(self) -> WordResiduals:
        """Residuals of words given topics of all words."""
        U = static_topics(self.X, self.rank, self.context)
        return remove_topics(self.columns, U, self.context.ops)

    def stable_words(self) -> tuple[WordResiduals, int | None]:
        """Return residuals of words, and the number of words that gave the topics, None for all."""
        if not self.options.still:
            return self.words, None
        return select_stable_words(self.columns, self.words, self.axis, self.hold, self.context)

    def by_tail(self) -> Verdict:
        """Return the verdict by the F distribution."""
        words, still = self.stable_words()
        F, r2 = observe(words, self.axis, self.hold, self.context.ops)
        tested = self.rank if self.hold else self.rank + 1
        p = f_tail_p(F, tested * self.axis.degree, self.degrees)
        return self._verdict(words, still, (F, r2, p), None, (np.nan, np.nan))

    def by_permutation(self) -> Verdict:
        """Return the verdict by permutations."""
        permutations = self._permutations()
        self._check_memory(permutations.count)
        null = self._null(self.words, permutations, "all")
        mean_F = null.F.mean(axis=1, dtype=np.float64)
        global_ps = single_p_value(mean_F), single_p_value(null.mixture)
        words, still = self.stable_words()
        if words is not self.words:
            del null  # frees memory for the next one, which is as large
            null = self._null(words, permutations, "stable")
        p = p_values(self.options.null, null.F, np.diff(words.columns.indptr))
        F, r2 = observe(words, self.axis, self.hold, self.context.ops)
        return self._verdict(words, still, (F, r2, p), permutations, global_ps)

    def _permutations(self) -> Permutations:
        """Return the permutations of documents or of times."""
        options, codes = self.options, self.axis.codes
        if options.permute == WITHIN and self.groups is None:
            raise OptionError("--permute within needs groups of documents", do="pass --group")
        groups = self.groups if options.permute == WITHIN else None
        if options.permute == TIMES:
            codes = np.arange(self.axis.times, dtype=np.int32)
        symmetric = options.permute == TIMES and self.axis.symmetric
        return Permutations(codes, options.permutations, self.context.seed, groups, symmetric)

    def _check_memory(self, count: int) -> None:
        n, p, width = self.X.rows, self.X.columns, (self.rank + 1) * self.axis.degree
        block = 8 * by_documents.AT_ONCE * (self.rank * self.axis.degree) ** 2
        block += 12 * min(self.axis.times, by_times.MAX_TIMES) * (self.rank + 1) ** 2
        block += 8 * 2 * width * (n + p)  # observed statistics; design of residuals and its QR
        pooled = 8 * 3 * count * min(p, 2 * BIN_SIZE)
        needed = 4 * count * p + 12 * self.X.nnz + max(block, pooled)
        needed = max(needed, 12 * self.X.nnz + topic_bytes(self.X, self.rank))
        what = f"F of {self.X.columns:,} words in {count:,} permutations"
        do = "raise --memory or lower --permutations"
        check_memory(what, needed, self.context.memory, do)

    def _null(self, words: WordResiduals, permutations: Permutations, topics: str) -> Null:
        """Return the statistics under permutations; topics: of the words that gave them."""
        context = self.context.part(f"{self.rank}-topics-of-{topics}")
        given = words, self.axis, permutations, self.hold, context
        by_time = self.options.permute == TIMES
        if by_time and self.axis.times <= by_times.MAX_TIMES:
            return by_times.null(*given)
        return by_documents.null(*given, by_time)

    def _verdict(
        self, words: WordResiduals, still: int | None, found: tuple[Float64, Float64, Float64],
        made: Permutations | None, global_ps: tuple[float, float],
    ) -> Verdict:  # fmt: skip
        """Return the verdict; found (w): F, R² and p of words that vary.

        global_ps: p of the mean F, and of the mixture.
        """
        options, varying = self.options, words.varying
        q = q_values(found[2], made is not None and options.null == MAX_T)
        least = 0.0
        if made:
            least = smallest_word_p(options.null, made.count, made.smallest_p, len(words))
        facts = (made.count - 1, made.smallest_p, least) if made else (0, 0.0, 0.0)
        F, r2, p, q = (_expand(values, varying) for values in (*found, q))
        turn = np.full(len(varying), np.nan)
        return Verdict(
            *describe_test(options, self.hold), self.rank, *facts, *global_ps, F, turn, r2, p, q,
            len(varying) - len(words), still,
            verdict_notes(options, made, len(words), varying.size, still, global_ps, least),
        )  # fmt: skip


def _expand(values: Float64, varying: Array) -> Float64:
    """Return values of the varying words for all words (p), NaN for the others."""
    out = np.full(len(varying), np.nan)
    out[varying] = values
    return out

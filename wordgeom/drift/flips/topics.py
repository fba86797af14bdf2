"""Topics for the score test: singular vectors of the PPMI of words and contexts, cross-fitted.

Two tokens co-occur if they stand in the same passage, with weight 1/(N − 1), so that each token
weighs 1 however long its passage is. P (p × r) are the left singular vectors of PPMI, in units of
the singular values and orthogonal to the constant vector; contexts are the most frequent words. The
topics of a passage are U_i = Pᵀx_i/N_i, with P fitted to the other folds: where passages influence
their own topics, a test of all words rejects half of all true nulls. Latent semantic analysis of
relative frequencies finds half as many planted changes: its largest topics are a few words that
keep together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.types import Array, Csr, Float32, Float64, Int64, offsets
from wordgeom.drift.co_occurrences import add_contexts, most_frequent, ppmi, with_contexts
from wordgeom.drift.flips.cells import FOLDS
from wordgeom.linalg.eigensolver import Convergence, EigenSettings
from wordgeom.linalg.svd import transpose, truncated_svd
from wordgeom.runtime.context import Context

CONTEXTS = 3000
_EACH = 4  # contexts for each topic, at least
_TOLERANCE = 1e-2  # the noise of topics is far above it
_WORDS = 64  # of a block of PPMI


def cross_fitted_topics(
    X: Csr, lengths: Float64, folds: Int64, r: int, context: Context
) -> Float64:
    """Return coordinates of words (FOLDS × p × r): those of fold k are fitted to the other folds.

    X (n × p): counts; lengths (n), at least 2; folds (n). Raises RankError if r is too large for X.
    """
    uses = np.bincount(X.indices, X.data, X.columns).astype(np.float64)
    contexts = most_frequent(uses, context_words(X.columns, r))
    if r >= min(len(contexts), X.rows):
        most = min(len(contexts), X.rows) - 1
        raise RankError(f"{r:,} topics need data of a higher rank than {most:,}", do="lower --rank")
    pairs = _Pairs(X, lengths, folds, contexts, context)
    first: Float64 | None = None
    coordinates = np.empty((FOLDS, X.columns, r))
    for k in range(FOLDS):
        P = _left_vectors(pairs.ppmi_without(k), r, context, k)
        first = P if first is None else first
        mean = pairs.frequencies(k)
        coordinates[k] = _aligned(P, first)
        coordinates[k] -= mean @ coordinates[k]
    return coordinates


def context_words(words: int, r: int) -> int:
    """Return the number of context words for r topics."""
    return min(words, max(CONTEXTS, _EACH * r))


class _Pairs:
    """Co-occurrences of words and M contexts in passages, by fold."""

    def __init__(
        self, X: Csr, lengths: Float64, folds: Int64, contexts: Int64, context: Context
    ) -> None:
        self._X, self._folds, self._contexts, self._context = X, folds, contexts, context
        self._near, self._places = with_contexts(X, contexts)
        data = X.data / (lengths - 1.0)[X.entry_rows]
        self._columns = transpose(Csr(X.indptr, X.indices, data.astype(np.float32), X.columns))

    def frequencies(self, fold: int) -> Float64:
        """Return the relative frequencies (p) of words in the other folds."""
        uses = self._uses(self._folds != fold)
        return np.asarray(uses / uses.sum())

    def ppmi_without(self, fold: int) -> Csr:
        """Return PPMI (p × M) of the other folds."""
        among = self._folds != fold
        uses = self._uses(among)
        total = float(uses.sum())

        def block(start: int) -> tuple[Int64, Array, Float32]:
            words = np.arange(start, min(start + _WORDS, self._X.columns))
            counts = np.zeros((len(words), len(self._contexts)))
            add_contexts(words, self._columns, among, self._places, self._near, counts)
            values = ppmi(counts, uses[words], uses[self._contexts], total)
            rows, columns = np.nonzero(values)
            return np.bincount(rows, minlength=len(words)), columns, values[rows, columns]

        parts = list(self._context.pool.map(block, range(0, self._X.columns, _WORDS)))
        lengths, indices, data = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return Csr(offsets(lengths), indices.astype(np.int32), data, len(self._contexts))

    def _uses(self, among: Array) -> Float64:
        chosen = among[self._X.entry_rows]
        uses = np.bincount(self._X.indices, self._X.data * chosen, self._X.columns)
        return np.asarray(uses, np.float64)


def _left_vectors(values: Csr, r: int, context: Context, k: int) -> Float64:
    """Return the left singular vectors (p × r) in units of the singular values."""

    def follow(looks: Iterator[Convergence]) -> Iterator[Convergence]:
        label = f"topics, fold {k + 1} of {FOLDS}"
        return context.progress.follow(looks, label, r, "topics", lambda look: look.gained)

    wanted = EigenSettings(r, tol=_TOLERANCE, seed=context.seed)
    constant = np.full((values.rows, 1), values.rows**-0.5)  # is the same in every passage
    svd = truncated_svd(values, wanted, context.ops, effects=constant, follow=follow)
    return np.asarray(svd.left.astype(np.float64) * svd.values)


def _aligned(V: Float64, reference: Float64) -> Float64:
    """Return V (p × r) rotated towards the reference: orthogonal Procrustes."""
    left, _, right = np.linalg.svd(V.T @ reference)
    return np.asarray(V @ (left @ right))

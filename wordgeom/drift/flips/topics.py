"""Topics for the score test: static LSA of relative frequencies, cross-fitted over folds.

A word's coordinates P in r topics are right singular vectors of √w (X/N − mean)/√mean, with rows
weighted by w ∝ √N. The topics of a passage are U_i = Pᵀx_i/N_i, with P fitted to the other folds:
where passages influence their own topics, a test of all words rejects half of all true nulls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from wordgeom.core.errors import InputError, RankError
from wordgeom.core.types import Csr, Float64, Int64
from wordgeom.drift.flips.cells import FOLDS
from wordgeom.linalg.eigensolver import Convergence, EigenSettings
from wordgeom.linalg.svd import truncated_svd
from wordgeom.runtime.context import Context

_TOLERANCE = 1e-2  # the noise of topics is far above it


def cross_fitted_topics(
    X: Csr, lengths: Float64, weights: Float64, folds: Int64, r: int, context: Context
) -> Float64:
    """Return coordinates of words (FOLDS × p × r): those of fold k are fitted to the other folds.

    X (n × p): counts; lengths, weights, folds (n). Raises RankError if r is too large for X,
    InputError if no word varies.
    """
    first: Float64 | None = None
    coordinates = np.empty((FOLDS, X.columns, r))
    for k in range(FOLDS):
        rows = np.flatnonzero(folds != k)
        part, root = X.select(rows), np.sqrt(weights[rows])
        sums = np.bincount(part.indices, part.data, X.columns)
        mean = sums / sums.sum()
        metric = np.divide(1.0, np.sqrt(mean), out=np.zeros(len(mean)), where=mean > 0.0)
        scale = root / lengths[rows]
        entries = (part.data * scale[part.entry_rows] * metric[part.indices]).astype(np.float32)
        V = _right_vectors(replace(part, data=entries), root, r, context, k)
        first = V if first is None else first
        P = _aligned(V, first) * metric[:, None]
        coordinates[k] = P - mean @ P
    return coordinates


def _right_vectors(scaled: Csr, root: Float64, r: int, context: Context, k: int) -> Float64:
    """Return the right singular vectors (p × r) of rows without their mean, weighted by `root`."""
    most = min(scaled.rows - 1, scaled.columns - 1)
    if r > most:
        raise RankError(f"{r:,} topics need data of a higher rank than {most:,}", do="lower --rank")

    def follow(looks: Iterator[Convergence]) -> Iterator[Convergence]:
        label = f"topics, fold {k + 1} of {FOLDS}"
        return context.progress.follow(looks, label, r, "topics", lambda look: look.gained)

    wanted = EigenSettings(r, tol=_TOLERANCE, seed=context.seed)
    svd = truncated_svd(
        scaled, wanted, context.ops, effects=root[:, None] / np.linalg.norm(root), follow=follow
    )
    if not svd.values[0]:
        raise InputError("all words are constant over documents", do="check the counts")
    return svd.right.astype(np.float64)


def _aligned(V: Float64, reference: Float64) -> Float64:
    """Return V (p × r) rotated towards the reference: orthogonal Procrustes."""
    left, _, right = np.linalg.svd(V.T @ reference)
    return np.asarray(V @ (left @ right))

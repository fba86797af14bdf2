"""Moments of topics and words in cells, from pairs of different tokens of a passage.

With x̃_i = x_i/N_i, U_i = Pᵀx̃_i and weights w_i, centred within each time, a cell has

    C_c = Σ w_i (U_i − Ū)(U_i − Ū)ᵀ − own tokens,  G_cj = Σ w_i (x̃_ij − x̄_j)(U_i − Ū) − own tokens.

A token is in x̃_i and in U_i, so that their product has a part that grows with 1/N_i whatever the
topics: b_i (Pᵀdiag(x̃_i)P − U_iU_iᵀ), with b_i = w_i (1 − w_i/W) / (N_i − 1). Without it neither
moment depends on the lengths of passages, and centring within a time removes what the topics'
frequencies do over time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import InputError, RankError
from wordgeom.core.types import Csr, Float32, Float64, Int64
from wordgeom.drift.flips import kernels
from wordgeom.drift.flips.cells import FOLDS, Cells
from wordgeom.runtime.context import Context

# A topic is kept if its variance between passages exceeds this share of what the largest of r
# topics would have by chance (Marchenko and Pastur 1967). Dropped topics that come and go look like
# change; noise makes the test conservative.
_EDGE = 0.25
# Weaker topics are left out too if their energy is below this multiple of the norm of their moments
# over cells, and they matter little: together with all weaker ones, they have at most a small share
# of the energy. The direction of every word contains the inverse of ΣC: of 94 topics of 3.2 million
# passages, a single one with .02 % of the energy gave all words a large common error that the flips
# do not have, and p ≤ .05 for .22 of unchanged words.
_CLEAR, _LITTLE = 1.0, 0.005
_ROWS = 65_536  # of a block of passages
_FEWEST = 2  # topics: with a single one there are no directions


@dataclass(frozen=True, eq=False)
class Moments:
    """What all words share, in coordinates in which the own tokens' part is I and ΣC is diagonal.

    P (FOLDS × p × r): coordinates of words; C (c × r × r); energy (r): the diagonal of ΣC; lengths,
    weights (n).
    """

    cells: Cells
    P: Float64
    C: Float64
    energy: Float64
    lengths: Float64
    weights: Float64
    _own: Float64
    _Z: Float32
    _centre: Float64
    _total: Float64

    @property
    def rank(self) -> int:
        """The number of topics that exceed the noise."""
        return int(self.C.shape[1])

    def of_words(self, columns: Csr, start: int) -> Float64:
        """Return G (w × c × r) of the words from `start`, whose rows of Xᵀ are given (w × n)."""
        w, cells = columns.rows, self.cells
        G = np.zeros((w, len(cells), self.rank))
        owned, mass = np.zeros((w, len(cells))), np.zeros((w, len(self._total)))
        kernels.word_moments(
            columns.indptr, columns.indices, columns.data, self.lengths, self.weights, self._own,
            self._Z, cells.of, cells.time, G, owned, mass,
        )  # fmt: skip
        G -= (mass / self._total)[:, cells.time, None] * self._centre
        for k in range(FOLDS):
            among = np.flatnonzero(cells.fold == k)
            G[:, among] -= owned[:, among, None] * self.P[k, start : start + w, None]
        return G


def moments(
    X: Csr, P: Float64, lengths: Float64, weights: Float64, cells: Cells, context: Context,
) -> Moments:  # fmt: skip
    """Return the moments of passages X (n × p) in topics P (FOLDS × p × r).

    Raises InputError where topics do not exceed the noise, RankError where X lacks them.
    """
    folds, times = cells.fold[cells.of], cells.time[cells.of]
    U = _scores(X, P, lengths, folds, context)
    T = int(cells.time.max()) + 1
    total = np.bincount(times, weights, T).astype(np.float64)
    total[total == 0.0] = 1.0  # times without passages
    mean = np.stack([np.bincount(times, weights * u, T) for u in U.T], axis=1) / total[:, None]
    own = weights * (1.0 - weights / total[times]) / (lengths - 1.0)
    raw, noise = _cell_moments(X, P, U, mean, lengths, weights, own, cells, context)
    R, energy = _canonical(raw.sum(axis=0) - noise.sum(axis=0), noise.sum(axis=0), X.rows)
    C, clear = _clear(np.einsum("ia,cij,jb->cab", R, raw - noise, R, optimize=True), energy)
    R, energy, centre = R[:, clear], energy[clear], np.zeros((len(cells), len(clear)))
    flat, k = U.reshape(-1), len(clear)  # Z takes the place of U, which may have gigabytes
    for start in range(0, X.rows, _ROWS):
        part = slice(start, start + _ROWS)
        block = U[part].astype(np.float64)
        weighted = weights[part, None] * ((block - mean[times[part]]) @ R)
        cells.add(centre, part, weighted)
        made = weighted + own[part, None] * (block @ R)
        flat[k * start : k * start + made.size] = made.reshape(-1)
    Z = flat[: k * X.rows].reshape(-1, k)
    return Moments(cells, P @ R, C, energy, lengths, weights, own, Z, centre, total)


def _clear(C: Float64, energy: Float64) -> tuple[Float64, Int64]:
    """Return the moments (c × r' × r') without topics that are noise and matter little, and rows.

    energy (r): descending.
    """
    ratio = energy / np.sqrt(np.einsum("cab,cab->b", C, C))
    share = np.cumsum(energy[::-1])[::-1] / energy.sum()
    clear = (ratio > _CLEAR) | (share > _LITTLE) | (np.arange(len(energy)) < _FEWEST)
    rows = np.flatnonzero(clear)
    return np.ascontiguousarray(C[:, rows][:, :, rows]), rows


def _scores(X: Csr, P: Float64, lengths: Float64, folds: Int64, context: Context) -> Float32:
    """Return U (n × r); float32, because there may be millions of passages."""
    U = np.empty((X.rows, P.shape[2]), np.float32)
    for k in range(FOLDS):
        rows = np.flatnonzero(folds == k)
        product = context.ops.operator(X.select(rows)).multiply(context.ops.tall(P[k], np.float64))
        U[rows] = context.ops.to_numpy(product) / lengths[rows, None]
    return U


def _cell_moments(
    X: Csr, P: Float64, U: Float32, mean: Float64, lengths: Float64, weights: Float64,
    own: Float64, cells: Cells, context: Context,
) -> tuple[Float64, Float64]:  # fmt: skip
    """Return Σ w (U − Ū)(U − Ū)ᵀ and the part of own tokens, (c × r × r) each."""
    order = np.argsort(cells.of, kind="stable")
    bounds = np.searchsorted(cells.of[order], np.arange(len(cells) + 1))

    def of(cell: int) -> tuple[Float64, Float64]:
        rows = np.sort(order[bounds[cell] : bounds[cell + 1]])
        part = X.select(rows)
        amounts = part.data * np.repeat(own[rows] / lengths[rows], np.diff(part.indptr))
        amounts = np.bincount(part.indices, amounts, X.columns)
        words = np.flatnonzero(amounts)
        Q, V = P[cells.fold[cell], words], U[rows].astype(np.float64)
        W = V - mean[cells.time[cell]]
        noise = (Q.T * amounts[words]) @ Q - (V.T * own[rows]) @ V
        return (W.T * weights[rows]) @ W, noise

    found = context.pool.map(of, range(len(cells)))
    done = list(context.progress.follow(found, "moments", len(cells), "cells", lambda _: 1))
    return np.stack([raw for raw, _ in done]), np.stack([noise for _, noise in done])


def _canonical(signal: Float64, noise: Float64, n: int) -> tuple[Float64, Float64]:
    """Return the map R (r × r') to topics above the noise, and the diagonal (r') of RᵀΣCR."""
    try:
        L = np.linalg.cholesky(noise)
    except np.linalg.LinAlgError:
        what = f"{len(noise):,} topics need data of a higher rank"
        raise RankError(what, do="lower --rank") from None
    half = np.linalg.solve(L, signal)
    values, Q = np.linalg.eigh(np.linalg.solve(L, half.T))
    ratio = len(values) / n
    kept = int(np.count_nonzero(values > _EDGE * (2.0 * np.sqrt(ratio) + ratio)))
    kept = max(kept, _FEWEST)
    if len(values) < _FEWEST or values[-_FEWEST] <= 0.0:
        what = f"fewer than {_FEWEST} topics exceed the noise of the documents' words"
        raise InputError(what, do="raise --rank, or use more or longer documents")
    return np.linalg.solve(L.T, Q[:, : -kept - 1 : -1]), values[: -kept - 1 : -1]

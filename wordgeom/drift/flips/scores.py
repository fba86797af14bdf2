"""Scores of change: does a word's direction in the space of topics depend on time?

The model of a word with direction φ, frequency profile s(t) ∝ exp(Σ γ_l f_l(t)) and changes ψ_k is

    E[G_c] = s(t_c) C_c φ + Σ_k f_k(t_c) C_c ψ_k,    ψ = 0 if only the frequency changes.

With S_c = G_c − s C_c φ, φ and γ solve ΣS = 0 and φᵀΣ f_l S = ρ γ_l, and the score of ψ_k is
Σ f_k S. Its effective contributions E_c have the effect of estimating φ and γ subtracted cell by
cell (Hemerik, Goeman and Finos 2020, eq. 5), so that a change of frequency alone has the score 0.
ρ, a quarter of the noise in φᵀΣCφ, keeps γ finite for words that topics hardly describe.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.drift.flips.moments import Moments

_ITERATIONS = 10  # an exact solution is not needed: the effective score corrects to first order
_LONGEST = 0.1  # step of γ: where it is noise, few and short steps keep the profile moderate
_RIDGE = 0.25
_NOTHING = 1e-200  # the noise of a word without uses
_LEAST = 1e-2  # of the noise: the smallest energy that shrinks a direction
_HALF = 0.5  # of the leverage: (1 − h)^(−1/2) ≈ 1 + h/2, the correction HC2


@dataclass(frozen=True, eq=False)
class WordScores:
    """Scores of w words.

    total (w × qr): of changes; parts (w × c × qr): their contributions by cell, increased by what
    the fit has taken from their variance; turn (w): degrees between a word's direction at a time
    and its mean direction, root mean square over time, without noise; NaN where the mean direction
    is noise.
    """

    total: Float64
    parts: Float64
    turn: Float64


@dataclass(frozen=True, eq=False)
class ScoreModel:
    """Moments of topics, and the polynomials f (c × q) of time at the cells."""

    moments: Moments
    levels: Float64

    @property
    def degree(self) -> int:
        """The number q of polynomials."""
        return int(self.levels.shape[1])

    def scores(self, G: Float64) -> WordScores:
        """Return the scores of words with moments G (w × c × r)."""
        f = self.levels
        phi, gamma, rho = self._fit(G)
        profile = self._profile(gamma)
        S = G - profile[:, :, None] * self._explained(phi)
        sums = np.einsum("ck,wcr->wkr", self._basis, S, optimize=True)
        energy = self.moments.energy
        mean = G.sum(axis=1) ** 2 @ (1.0 / energy) - np.einsum("wcr,wcr->w", S, S / energy)
        weighted = self._weighted(profile)
        sides = self._sides(weighted, phi, rho)
        along = np.einsum("wkr,wr->wk", sums[:, 1:], phi) - rho[:, None] * gamma
        missed = np.hstack([sums[:, 0], along])  # (w × r+q): 0 at the exact solution
        total = [
            sums[:, k + 1] - np.einsum("wm,wmr->wr", missed, side) for k, side in enumerate(sides)
        ]
        S += _HALF * np.einsum("cab,wcb->wca", self.moments.C, S / energy, optimize=True)
        both = np.einsum("wcr,wr->wc", S, phi)[:, :, None] * f
        M = np.concatenate([S, both], axis=2)  # (w × c × r+q)
        parts = [f[:, k, None] * S - M @ side for k, side in enumerate(sides)]
        return self._with_turn(np.hstack(total), np.concatenate(parts, axis=2), weighted, mean)

    @cached_property
    def _basis(self) -> Float64:
        """(c × q+1): 1 and the polynomials."""
        return np.hstack([np.ones((len(self.levels), 1)), self.levels])

    def _profile(self, gamma: Float64) -> Float64:
        """Return s (w × c) with mean 1 over cells, weighted by their energy."""
        profile = np.exp(gamma @ self.levels.T)
        return np.asarray(profile / (profile @ self._sizes)[:, None])

    @cached_property
    def _sizes(self) -> Float64:
        """The share (c) of each cell in the energy of topics, at least 0."""
        sizes = np.maximum(np.einsum("caa->c", self.moments.C / self.moments.energy), 0.0)
        return np.asarray(sizes / sizes.sum())

    def _weighted(self, profile: Float64) -> Float64:
        """Return Σ f_k f_l s C (w × q+1 × q+1 × r × r), f_0 = 1."""
        (w, c), r, n = profile.shape, self.moments.rank, self._basis.shape[1]
        products = self._basis[:, :, None] * self._basis[:, None, :]
        scales = (profile[:, :, None, None] * products).transpose(0, 2, 3, 1)
        flat = scales.reshape(-1, c) @ self.moments.C.reshape(c, r * r)
        return flat.reshape(w, n, n, r, r)

    def _explained(self, phi: Float64) -> Float64:
        """Return C φ (w × c × r)."""
        c, r = self.moments.C.shape[:2]
        return (self.moments.C.reshape(c * r, r) @ phi.T).reshape(c, r, -1).transpose(2, 0, 1)

    def _fit(self, G: Float64) -> tuple[Float64, Float64, Float64]:
        """Return φ (w × r), γ (w × q) and ρ (w).

        φ is shrunk, as for a prior of independent coordinates with the variance that the energy
        gives. The error of weak topics' coordinates would be in every contribution, but not in
        their sum.
        """
        energy, (w, c, r) = self.moments.energy, G.shape
        sums = G.sum(axis=1)
        phi = sums / energy
        rest = G - self._explained(phi)
        noise = np.einsum("wcr,wcr->w", rest, rest / energy) + _NOTHING
        rho = _RIDGE * noise
        variance = np.einsum("wcr,wcr->w", rest, rest) / r
        mean = np.maximum(phi**2 @ energy - noise, _LEAST * noise)
        kappa = (variance * energy.sum() / mean)[:, None, None] * np.eye(r)
        gamma = np.zeros((w, self.levels.shape[1]))
        for _ in range(_ITERATIONS):
            gamma = self._step(G, phi, gamma, rho)
            profile = self._profile(gamma)
            whole = (profile @ self.moments.C.reshape(c, r * r)).reshape(w, r, r) + kappa
            phi = np.linalg.solve(whole, sums[:, :, None])[:, :, 0]
        return phi, gamma, rho

    def _step(self, G: Float64, phi: Float64, gamma: Float64, rho: Float64) -> Float64:
        """Return γ after a step of Newton, whose information is that of positive energies."""
        f, q = self.levels, self.levels.shape[1]
        explained = np.einsum("wcr,wr->wc", self._explained(phi), phi) * self._profile(gamma)
        left = np.einsum("wcr,wr->wc", G, phi) - explained
        gradient = left @ f - rho[:, None] * gamma
        size = np.maximum(explained.sum(axis=1), 0.0)[:, None] * self._sizes * self._profile(gamma)
        centred = f - np.einsum("wc,cq->wq", size, f)[:, None] / (
            size.sum(axis=1)[:, None, None] + _NOTHING
        )
        information = np.einsum("wc,wck,wcl->wkl", size, centred, centred, optimize=True)
        information += rho[:, None, None] * np.eye(q)
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        return np.asarray(gamma + np.clip(step, -_LONGEST, _LONGEST))

    def _sides(self, weighted: Float64, phi: Float64, rho: Float64) -> list[Float64]:
        """Return K_k = J⁻ᵀD_kᵀ (w × r+q × r): E_k = f_k S − [S, f φᵀS] K_k.

        J (r+q × r+q) are the derivatives of the equations of φ and γ, D_k (r × r+q) of Σ f_k S.
        """
        (w, r), q = phi.shape, self.levels.shape[1]
        crossed = np.einsum("wklab,wb->wkla", weighted, phi, optimize=True)  # Σ f_k f_l s C φ
        J = np.empty((w, r + q, r + q))
        J[:, :r, :r] = weighted[:, 0, 0]
        J[:, :r, r:] = crossed[:, 0, 1:].swapaxes(1, 2)
        J[:, r:, :r] = crossed[:, 1:, 0]
        J[:, r:, r:] = np.einsum("wkla,wa->wkl", crossed[:, 1:, 1:], phi, optimize=True)
        J[:, r:, r:] += rho[:, None, None] * np.eye(q)
        transposed = J.swapaxes(1, 2)
        D = (
            np.concatenate([weighted[:, k, 0].swapaxes(1, 2), crossed[:, k, 1:]], 1)
            for k in range(1, q + 1)
        )
        return [np.linalg.solve(transposed, Dk) for Dk in D]

    def _with_turn(
        self, total: Float64, parts: Float64, weighted: Float64, mean: Float64
    ) -> WordScores:
        """Return the scores with their turn; mean (w): the energy of the mean direction."""
        effects = self._effects(weighted)
        changed = np.einsum("wm,wmk->wk", total, effects)
        change = np.einsum("wk,wk->w", changed, changed)
        change -= np.einsum("wck,wck->w", *2 * [parts @ effects])  # noise
        with np.errstate(invalid="ignore", divide="ignore"):
            tangent = np.sqrt(np.maximum(change, 0.0) / np.where(mean > 0.0, mean, np.nan))
        return WordScores(total, parts, np.degrees(np.arctan(tangent)))

    def _effects(self, weighted: Float64) -> Float64:
        """Return the maps (w × qr × qr) from scores to changes, whose squared length is energy.

        A change is relative to the frequency: E[G] = s C (φ + Σ f_k ψ_k). Its information is
        Σ f_k f_l s C − (Σ f_k s C) (Σ s C)⁻¹ (Σ f_l s C). The energy of Σ f_k ψ_k is averaged over
        documents, in the metric ΣC.
        """
        w, n, r = weighted.shape[0], weighted.shape[1], weighted.shape[3]
        q = n - 1
        columns = weighted[:, 0, 1:].swapaxes(1, 2).reshape(w, r, q * r)  # Σ f_l s C side by side
        within = weighted[:, 1:, 1:].transpose(0, 1, 3, 2, 4).reshape(w, q * r, q * r)
        solved = np.linalg.solve(weighted[:, 0, 0], columns)
        information = within - columns.swapaxes(1, 2) @ solved
        metric = np.broadcast_to(self._metric, information.shape)
        return np.asarray(np.linalg.solve(information, metric))

    @cached_property
    def _metric(self) -> Float64:
        """The root (qr × qr) of the metric of changes."""
        # Moments without a bias may be negative in cells of few documents.
        size = np.maximum(np.einsum("caa->c", self.moments.C), 0.0)
        values, axes = np.linalg.eigh((self.levels.T * (size / size.sum())) @ self.levels)
        shape = (axes * np.sqrt(np.maximum(values, 0.0))) @ axes.T
        return np.asarray(np.kron(shape, np.diag(np.sqrt(self.moments.energy))))

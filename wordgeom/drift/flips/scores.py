"""Scores of change: does a word's direction in the space of topics depend on time?

The model of a word with direction φ, frequency profile s(t) = 1 + Σ γ_l f_l(t) and changes ψ_k is

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
_RIDGE = 0.25
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

    def scores(self, G: Float64) -> WordScores:
        """Return the scores of words with moments G (w × c × r)."""
        f = self.levels
        phi, gamma, rho = self._fit(G)
        S = G - (1.0 + gamma @ f.T)[:, :, None] * self._explained(phi)
        sums = np.einsum("ck,wcr->wkr", self._basis, S, optimize=True)
        energy = self.moments.energy
        mean = G.sum(axis=1) ** 2 @ (1.0 / energy) - np.einsum("wcr,wcr->w", S, S / energy)
        sides = self._sides(phi, gamma, rho)
        along = np.einsum("wkr,wr->wk", sums[:, 1:], phi) - rho[:, None] * gamma
        missed = np.hstack([sums[:, 0], along])  # (w × r+q): 0 at the exact solution
        total = [
            sums[:, k + 1] - np.einsum("wm,wmr->wr", missed, side) for k, side in enumerate(sides)
        ]
        S += _HALF * np.einsum("cab,wcb->wca", self.moments.C, S / self.moments.energy,
                               optimize=True)  # fmt: skip
        both = np.einsum("wcr,wr->wc", S, phi)[:, :, None] * f
        M = np.concatenate([S, both], axis=2)  # (w × c × r+q)
        parts = [f[:, k, None] * S - M @ side for k, side in enumerate(sides)]
        return self._with_turn(np.hstack(total), np.concatenate(parts, axis=2), gamma, mean)

    @cached_property
    def _basis(self) -> Float64:
        """(c × q+1): 1 and the polynomials."""
        return np.hstack([np.ones((len(self.levels), 1)), self.levels])

    @cached_property
    def _first(self) -> Float64:
        """A_k = Σ f_k C (q+1 × r × r), f_0 = 1."""
        return np.asarray(np.einsum("ck,cab->kab", self._basis, self.moments.C, optimize=True))

    @cached_property
    def _second(self) -> Float64:
        """A_kl = Σ f_k f_l C (q × q × r × r)."""
        f = self.levels
        return np.asarray(np.einsum("ck,cl,cab->klab", f, f, self.moments.C, optimize=True))

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
        A, AA, q = self._first, self._second, self.levels.shape[1]
        sums = np.einsum("ck,wcr->wkr", self._basis, G, optimize=True)
        phi = sums[:, 0] / self.moments.energy
        rest = G - self._explained(phi)
        energy = self.moments.energy
        noise = np.einsum("wcr,wcr->w", rest, rest / energy)
        rho = _RIDGE * noise
        mean = phi**2 @ energy - noise
        variance = np.einsum("wcr,wcr->w", rest, rest) / len(energy)
        kappa = variance * energy.sum() / np.maximum(mean, _LEAST * noise + np.finfo(float).tiny)
        kappa = kappa[:, None, None] * np.eye(len(energy))
        rho += np.finfo(float).tiny  # for a word without uses beside other words
        for _ in range(_ITERATIONS):
            inner = np.einsum("klab,wa,wb->wkl", AA, phi, phi, optimize=True)
            inner += rho[:, None, None] * np.eye(q)
            flat = np.einsum("kab,wa,wb->wk", A[1:], phi, phi, optimize=True)
            trend = np.einsum("wkr,wr->wk", sums[:, 1:], phi) - flat
            gamma = np.linalg.solve(inner, trend[:, :, None])[:, :, 0]
            profile = A[0] + np.einsum("wl,lab->wab", gamma, A[1:], optimize=True) + kappa
            phi = np.linalg.solve(profile, sums[:, 0, :, None])[:, :, 0]
        return phi, gamma, rho

    def _sides(self, phi: Float64, gamma: Float64, rho: Float64) -> list[Float64]:
        """Return K_k = J⁻ᵀD_kᵀ (w × r+q × r): E_k = f_k S − [S, f φᵀS] K_k.

        J (r+q × r+q) are the derivatives of the equations of φ and γ, D_k (r × r+q) of Σ f_k S.
        """
        (w, r), q = phi.shape, self.levels.shape[1]
        A, AA = self._first, self._second
        crossed = np.einsum("klab,wb->wkla", AA, phi, optimize=True)  # A_kl φ
        scaled = A[1:] + np.einsum("wl,klab->wkab", gamma, AA, optimize=True)  # Σ f_k s C
        J = np.empty((w, r + q, r + q))
        J[:, :r, :r] = A[0] + np.einsum("wl,lab->wab", gamma, A[1:], optimize=True)
        J[:, :r, r:] = np.einsum("kab,wb->wak", A[1:], phi, optimize=True)
        J[:, r:, :r] = np.einsum("wkab,wa->wkb", scaled, phi, optimize=True)
        J[:, r:, r:] = np.einsum("wkla,wa->wkl", crossed, phi, optimize=True)
        J[:, r:, r:] += rho[:, None, None] * np.eye(q)
        transposed = J.swapaxes(1, 2)
        D = (np.concatenate([scaled[:, k].swapaxes(1, 2), crossed[:, k]], 1) for k in range(q))
        return [np.linalg.solve(transposed, Dk) for Dk in D]

    def _with_turn(
        self, total: Float64, parts: Float64, gamma: Float64, mean: Float64
    ) -> WordScores:
        """Return the scores with their turn; mean (w): the energy of the mean direction."""
        effects = self._effects(gamma)
        changed = np.einsum("wm,wmk->wk", total, effects)
        change = np.einsum("wk,wk->w", changed, changed)
        change -= np.einsum("wck,wck->w", *2 * [parts @ effects])  # noise
        with np.errstate(invalid="ignore", divide="ignore"):
            tangent = np.sqrt(np.maximum(change, 0.0) / np.where(mean > 0.0, mean, np.nan))
        return WordScores(total, parts, np.degrees(np.arctan(tangent)))

    def _effects(self, gamma: Float64) -> Float64:
        """Return the maps (w × qr × qr) from scores to changes, whose squared length is energy.

        A change is relative to the frequency: E[G] = s C (φ + Σ f_k ψ_k). Its information is
        Σ f_k f_l s C − (Σ f_k s C) (Σ s C)⁻¹ (Σ f_l s C). The energy of Σ f_k ψ_k is averaged over
        documents, in the metric ΣC.
        """
        A, AA, energy = self._first, self._second, self.moments.energy
        (w, q), r = gamma.shape, len(energy)
        scaled = A[1:] + np.einsum("wl,klab->wkab", gamma, AA, optimize=True)
        within = AA + np.einsum("wm,klmab->wklab", gamma, self._third, optimize=True)
        whole = A[0] + np.einsum("wl,lab->wab", gamma, A[1:], optimize=True)
        columns = scaled.swapaxes(1, 2).reshape(w, r, q * r)  # Σ f_l s C beside each other
        solved = np.linalg.solve(whole, columns)
        information = within.transpose(0, 1, 3, 2, 4).reshape(w, q * r, q * r)
        information = information - columns.swapaxes(1, 2) @ solved
        return np.asarray(
            np.linalg.solve(information, np.broadcast_to(self._metric, information.shape))
        )

    @cached_property
    def _third(self) -> Float64:
        """A_klm = Σ f_k f_l f_m C (q × q × q × r × r)."""
        f, C = self.levels, self.moments.C
        return np.asarray(np.einsum("ck,cl,cm,cab->klmab", f, f, f, C, optimize=True))

    @cached_property
    def _metric(self) -> Float64:
        """The root (qr × qr) of the metric of changes."""
        size = np.einsum("caa->c", self.moments.C)
        shape = np.linalg.cholesky((self.levels.T * (size / size.sum())) @ self.levels)
        return np.asarray(np.kron(shape, np.diag(np.sqrt(self.moments.energy))))

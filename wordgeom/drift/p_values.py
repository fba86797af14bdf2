"""p and q values of words, from F under sign flips or permutations or the F distribution.

Values equal to the observed one up to rounding count against a word: with few distinct permutations
such ties are frequent.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Float32, Float64, Int64
from wordgeom.drift.options import MAX_T, POOLED

_TIE = 1e-5  # relative difference of F that is float32 rounding
BIN_SIZE = 200  # words of similar document frequency
_WORDS = 512


def p_values(null: str, F: Float32, frequencies: Int64) -> Float64:
    """Return p of w words from F (B+1 × w), whose row 0 is observed.

    frequencies (w): document frequencies.
    """
    if null == POOLED:
        return pooled_p_values(F, frequencies)
    return max_t_p_values(F) if null == MAX_T else own_p_values(F)


def f_tail_p(F: Float64, columns: int, degrees: int) -> Float64:
    """Return P(F' ≥ F) for F (w), F' with `columns` and `degrees` degrees of freedom."""
    from scipy.special import fdtrc

    return np.asarray(fdtrc(columns, degrees, np.maximum(F, 0.0)))


def q_values(p: Float64, adjusted: bool) -> Float64:
    """Return Benjamini–Hochberg q values; if p is `adjusted` for all words (max-T), q is p."""
    from scipy.stats import false_discovery_control

    return p.copy() if adjusted else np.asarray(false_discovery_control(p), np.float64)


def smallest_word_p(null: str, count: int, smallest: float, words: int) -> float:
    """Return the smallest possible p of one of `words` words; smallest: of a single statistic."""
    if null != POOLED:
        return smallest
    pooled = -(-words // max(1, words // BIN_SIZE))  # words in the largest bin
    return 1.0 / (1 + (count - 1) * pooled)


def frequency_bins(frequencies: Int64) -> list[Int64]:
    """Return word indices in bins of about BIN_SIZE words of similar frequency."""
    order = np.argsort(frequencies, kind="stable")
    return np.array_split(order, max(1, len(order) // BIN_SIZE))


def own_p_values(F: Float32) -> Float64:
    """Return p of each word from its own permutations."""
    lower = np.float32(1.0 - _TIE)  # by rounding
    counts = [(part >= part[0] * lower).sum(axis=0) for part in _parts(F)]
    return np.asarray(np.concatenate(counts) / len(F))


def single_p_value(values: Float64) -> float:
    """Return p of a single statistic (B+1), NaN if the statistic is."""
    if np.isnan(values[0]):
        return float("nan")
    return float(np.count_nonzero(values >= values[0] - _TIE * abs(values[0])) / len(values))


def pooled_p_values(F: Float32, frequencies: Int64) -> Float64:
    """Return p of words from the studentised permutations of all words of similar frequency.

    Each word is studentised by the mean and standard deviation of its own rows, in which words
    differ; pooling F itself loses power. The observed row is included, which keeps rows
    exchangeable.
    """
    p = np.empty(F.shape[1])
    for words in frequency_bins(frequencies):
        S, low = _studentised(F[:, words])
        rows = np.sort(S[1:], axis=None)
        p[words] = (1 + len(rows) - np.searchsorted(rows, low)) / (1 + len(rows))
    return p


def studentised(F: Float32) -> Float32:
    """Return F (B+1 × w) minus each word's mean, in standard deviations, row 0 included."""
    return np.concatenate([_studentised(part)[0].astype(np.float32) for part in _parts(F)], axis=1)


def max_t_p_values(F: Float32) -> Float64:
    """Return step-down max-T p values of studentised words (Westfall and Young 1993, alg. 4.1).

    Each word is compared with the maximum over all words whose statistic is not larger.
    """
    moments = [_moments(part) for part in _parts(F)]
    mean, sd = np.concatenate([m for m, _ in moments]), np.concatenate([s for _, s in moments])
    low = (F[0] * (1.0 - _TIE) - mean) / sd
    order = np.argsort(low, kind="stable")
    largest = np.full(len(F), -np.inf)
    p = np.empty(F.shape[1])
    for start in range(0, len(order), _WORDS):
        words = order[start : start + _WORDS]
        S = (F[:, words] - mean[words]) / sd[words]
        S[:, 0] = np.maximum(S[:, 0], largest)
        S = np.maximum.accumulate(S, axis=1)
        largest = S[:, -1]
        p[words] = np.mean(low[words] <= S, axis=0)
    p[order] = np.maximum.accumulate(p[order][::-1])[::-1]
    return p


def _parts(F: Float32) -> list[Array]:
    return [F[:, start : start + _WORDS] for start in range(0, F.shape[1], _WORDS)]


def _moments(F: Array) -> tuple[Float64, Float64]:
    """Return the mean and the standard deviation of each word, 1 for a deviation of 0."""
    wide = F.astype(np.float64)
    sd = wide.std(axis=0)
    return wide.mean(axis=0), np.where(sd > 0.0, sd, 1.0)


def _studentised(F: Array) -> tuple[Float64, Float64]:
    """Return the studentised rows, and row 0 lowered by rounding."""
    mean, sd = _moments(F)
    return (F - mean) / sd, (F[0] * (1.0 - _TIE) - mean) / sd

"""Defaults of the logistic loss that follow from the text: penalty, thinning, spectrum.

All are powers of tokens / K, the tokens for each number of a word vector. The longer the text and
the smaller K, the less noise there is to suppress, and the more would its frequent words and its
strongest directions decide. docs/methods/gbu.md shows what each rule does.
"""

from __future__ import annotations

# Tokens at K = 100 for which λ is .2, and from which thinning and the spectrum change.
_SHRUNK, _THINNED, _FLATTENED = 17e6, 20e6, 40e6


def shrinkage(tokens: int, K: int) -> float:
    """Return the penalty λ: .2 (K/100 · 17 million/tokens)^¼, .2 to .5.

    Above .5, noise and words vanish together.
    """
    return _within(0.2, 0.2 * _relative(tokens, K, _SHRUNK) ** -0.25, 0.5)


def thin(tokens: int, K: int) -> float:
    """Return τ, which thins frequent words: 1e-3 (K/100 · 20 million/tokens)⁴, 1e-4 to 1e-3."""
    return _within(1e-4, 1e-3 * _relative(tokens, K, _THINNED) ** -4.0, 1e-3)


def power(tokens: int, K: int) -> float:
    """Return the power of the singular values: .375 (K/100 · 40 million/tokens)^⅓, .25 to .375."""
    return _within(0.25, 0.375 * _relative(tokens, K, _FLATTENED) ** (-1.0 / 3.0), 0.375)


def _relative(tokens: int, K: int, reference: float) -> float:
    return max(tokens, 1) / reference * 100.0 / K


def _within(least: float, value: float, most: float) -> float:
    return min(max(value, least), most)

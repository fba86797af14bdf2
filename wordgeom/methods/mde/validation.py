"""Checks of an embedding (§2.6): the distribution of distortions, the worst pairs, held-out pairs.

`train` writes them to the run card, and a line on each to its notes. Held-out attributes are test
sets: `eval --categories` and `--classify`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core.errors import OptionError
from wordgeom.core.types import Array, Int64
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.methods.mde.problem import Distortion

_QUANTILES = {"min": 0.0, "5%": 0.05, "25%": 0.25, "median": 0.5, "75%": 0.75, "95%": 0.95,
              "99%": 0.99, "max": 1.0}  # fmt: skip
_LISTED = 10  # worst pairs of a run card
_BLOCK = 1 << 14  # pairs whose vectors are compared at once


@dataclass(frozen=True)
class Judged:
    """The pairs of one term, and their distances and distortions (p) in an embedding.

    name: what messages call the pairs, such as "similar pairs".
    """

    name: str
    pairs: Pairs
    distances: Array
    distortions: Array


def judged(name: str, pairs: Pairs, distortion: Distortion, vectors: Array) -> Judged:
    """Return the pairs with their distances and distortions between vectors (n × m), in float64."""
    distances, values = np.empty(len(pairs)), np.empty(len(pairs))
    for start in range(0, len(pairs), _BLOCK):
        part = slice(start, start + _BLOCK)
        left, right = (vectors[side[part]].astype(np.float64) for side in (pairs.left, pairs.right))
        apart = left - right
        distances[part] = np.sqrt(np.einsum("ij,ij->i", apart, apart))
        with np.errstate(all="ignore"):  # an infinite distortion is a number here
            values[part] = distortion.at(distances[part], pairs.given[part], np)[0]
    return Judged(name, pairs, distances, values)


def hold_out(pairs: Pairs, share: float, rng: np.random.Generator) -> tuple[Pairs, Pairs]:
    """Return the pairs without a random share, and that share; both in the order of the pairs.

    Raises OptionError where either would be empty.
    """
    held = np.zeros(len(pairs), bool)
    held[rng.permutation(len(pairs))[: round(share * len(pairs))]] = True
    if not held.any() or held.all():
        found = f"{int(held.sum()):,} of {len(pairs):,} pairs"
        do = "change --hold-out, or give more pairs"
        raise OptionError("--hold-out must leave pairs on both sides", found=found, do=do)
    return pairs.chosen(~held), pairs.chosen(held)


def stranded(pairs: Sequence[Pairs], fitted: Sequence[Pairs], items: int) -> int:
    """Return the number of items that have pairs, but none among the fitted ones."""
    return int(np.sum(_paired(pairs, items) & ~_paired(fitted, items)))


def average(terms: Sequence[Judged]) -> float:
    """Return the average distortion of the pairs of all terms, nan where there are none."""
    size = sum(len(term.pairs) for term in terms)
    total = sum(float(term.distortions.sum(dtype=np.float64)) for term in terms)
    return total / size if size else np.nan


def distortions(terms: Sequence[Judged], words: Sequence[str]) -> dict[str, Any]:
    """Return the distribution and the worst pairs of each term, as JSON values.

    Quantiles are distortions of pairs; None: not finite. share_of_worst_percent: of the sum, None
    where distortions may be negative. Terms without pairs are left out.
    """
    return {term.name: _distribution(term, words) for term in terms if len(term.pairs)}


def worst_line(terms: Sequence[Judged], words: Sequence[str]) -> str:
    """Return a line on the worst pair of each term, "" without pairs."""
    parts = []
    for term in terms:
        for at in _worst(term.distortions, 1).tolist():
            left, right = (words[side[at]] for side in (term.pairs.left, term.pairs.right))
            median = np.quantile(term.distortions, 0.5, method="inverted_cdf")
            parts.append(f"{left} {right} ({term.name}, {term.distortions[at]:.3g}, "
                         f"median {median:.3g})")  # fmt: skip
    return f"largest distortion: {'; '.join(parts)}" if parts else ""


def held_out(fitted: Sequence[Judged], held: Sequence[Judged]) -> dict[str, Any]:
    """Return the average distortions of the pairs that were fitted, and of those held out."""
    sides = {"fitted": fitted, "held_out": held}
    averages = {
        name: {"average": _number(average(side)), "pairs": sum(len(term.pairs) for term in side)}
        for name, side in sides.items()
    }
    terms = {
        one.name: {"fitted": _number(average([one])), "held_out": _number(average([other]))}
        for one in fitted for other in held if one.name == other.name
    }  # fmt: skip
    return {**averages, "terms": terms}


def held_out_line(fitted: Sequence[Judged], held: Sequence[Judged]) -> str:
    """Return a line that compares these averages."""
    pairs = sum(len(term.pairs) for term in held)
    return (
        f"average distortion {average(fitted):.4g}; of {pairs:,} pairs held out {average(held):.4g}"
    )


def _distribution(term: Judged, words: Sequence[str]) -> dict[str, Any]:
    values = term.distortions.astype(np.float64)
    found = np.quantile(values, list(_QUANTILES.values()), method="inverted_cdf")
    total, few = float(values.sum()), _worst(values, -(-len(values) // 100))
    shared = found[0] >= 0 and 0 < total < np.inf
    return {
        "pairs": len(values),
        "average": _number(total / len(values)),
        "quantiles": {name: _number(x) for name, x in zip(_QUANTILES, found, strict=True)},
        "share_of_worst_percent": float(values[few].sum() / total) if shared else None,
        "worst": [_pair(term, at, words) for at in _worst(values, _LISTED).tolist()],
    }


def _pair(term: Judged, at: int, words: Sequence[str]) -> dict[str, Any]:
    return {
        "words": [words[term.pairs.left[at]], words[term.pairs.right[at]]],
        "given": _number(term.pairs.given[at]),
        "distance": _number(term.distances[at]),
        "distortion": _number(term.distortions[at]),
    }


def _worst(values: Array, most: int) -> Int64:
    """Return the positions of the largest values, descending; ties in the order of the pairs."""
    if most < len(values):
        least = np.partition(values, len(values) - most)[len(values) - most]
        some = np.flatnonzero(values >= least)
    else:
        some = np.arange(len(values))
    return some[np.argsort(-values[some], kind="stable")][:most]


def _paired(groups: Sequence[Pairs], items: int) -> Array:
    found = np.zeros(items, bool)
    for pairs in groups:
        found[pairs.left] = found[pairs.right] = True
    return found


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None

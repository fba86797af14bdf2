"""Map entities to points whose Euclidean distances have the order of the chosen metric.

Cosine: unit rows, ‖x − y‖² = 2 − 2 cos. Correlation: the same for rows centred at their mean.
Euclidean points are not centred, because NNLS weights depend on the origin.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Float64
from wordgeom.imputation.domain import Domain, DomainOptions
from wordgeom.imputation.name_order import name_order

_MOST, _LEAST = 1e150, 1e-150  # squares neither overflow nor underflow in between


def points(domain: Domain, options: DomainOptions) -> tuple[Float64, list[str]]:
    """Return points (n × d) float64, finite, and notes; the domain's own matrix if unchanged.

    Raises InputError for an entity for which the metric is undefined: all features 0 (cosine) or
    equal (correlation).
    """
    matrix, notes = domain.matrix, []
    if options.standardise:
        # The order of the sums must not depend on the order of the rows.
        order = name_order(domain.names)
        made, constant = _standardised(matrix[order])
        matrix = np.empty_like(made)
        matrix[order] = made
        if constant:
            notes.append(f"constant columns, set to 0 by --standardise: {constant:,}")
    if options.metric == "cosine":
        return _directions(domain.names, matrix, "all are 0", centre=False), notes
    if options.metric == "correlation":
        return _directions(domain.names, matrix, "all are equal", centre=True), notes
    scaled, power = _scaled(matrix)
    if power:
        notes.append(f"features and distances are scaled by 2^{power} to avoid overflow")
    return scaled, notes


def _scaled(matrix: Float64) -> tuple[Float64, int]:
    """Scale a matrix so that squares neither overflow nor underflow; return the power of two.

    A power of two is exact, so that neighbours and weights do not change.
    """
    largest = float(_largest(matrix, None))
    if _LEAST <= largest <= _MOST or largest == 0:
        return matrix, 0
    power = -int(np.frexp(largest)[1])
    return np.ldexp(matrix, power), power


def _standardised(matrix: Float64) -> tuple[Float64, int]:
    """Return columns of mean 0 and variance 1, and the number of constant ones, which become 0."""
    constant = matrix.max(axis=0) == matrix.min(axis=0)
    result = matrix.copy()
    _resize(result, 0)
    _centre(result, 0)
    result[:, constant] = 0
    _resize(result, 0)
    deviations = np.sqrt(np.einsum("ij,ij->j", result, result) / len(result))
    deviations[constant] = 1
    result /= deviations
    return result, int(constant.sum())


def _directions(names: list[str], matrix: Float64, why: str, *, centre: bool) -> Float64:
    """Return unit rows. Raises InputError with the reason `why` for rows without a direction."""
    directionless = matrix.max(axis=1) == (matrix.min(axis=1) if centre else 0)
    if not centre:
        directionless &= matrix.min(axis=1) == 0
    _check_directions(names, directionless, why)
    result = matrix.copy()
    _resize(result, 1)
    if centre:
        _centre(result, 1)
        _resize(result, 1)
    result /= np.sqrt(np.einsum("ij,ij->i", result, result))[:, None]
    return result


def _check_directions(names: list[str], directionless: Array, why: str) -> None:
    if directionless.any():
        number, first = int(directionless.sum()), names[int(np.argmax(directionless))]
        others = f" and {number - 1:,} more" if number > 1 else ""
        what = f"the features of {first!r}{others} have no direction: {why}"
        raise InputError(what, do="remove them, or use --metric euclidean")


def _resize(matrix: Float64, axis: int) -> None:
    """Scale columns (axis 0) or rows (1) by powers of two: the largest value is in [½, 1)."""
    powers = np.frexp(_largest(matrix, axis))[1]
    np.ldexp(matrix, -np.expand_dims(powers, axis), out=matrix)


def _centre(matrix: Float64, axis: int) -> None:
    # The second pass removes the rounding error of the first mean.
    for _ in range(2):
        matrix -= matrix.mean(axis=axis, keepdims=True)


def _largest(matrix: Float64, axis: int | None) -> Array:
    return np.asarray(np.maximum(matrix.max(axis=axis), -matrix.min(axis=axis)))

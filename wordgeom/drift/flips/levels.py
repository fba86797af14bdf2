"""Polynomials of time for the score test, free of where time begins and of its unit."""

from __future__ import annotations

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural
from wordgeom.core.types import Float64
from wordgeom.drift.time_axis import Axis


def orthonormal_levels(axis: Axis) -> Float64:
    """Return polynomials (T × q) orthogonal to 1 and to each other, with mean square 1.

    A time weighs as much as its passages beside the first, because a single one has no part in the
    test. Raises InputError if such times are not more than the degree.
    """
    sizes = np.bincount(axis.codes, minlength=axis.times)
    weights = np.maximum(sizes - 1.0, 0.0)
    found, q = np.count_nonzero(weights), axis.degree
    if found <= q:
        what = f"--degree {q} needs more than {plural(q, 'time')} with two documents or more"
        do = "choose a wider --bin, or train with a lower --degree"
        raise InputError(what, found=f"{found:,}", do=do)
    powers = np.hstack([np.ones((axis.times, 1)), axis.levels])
    _, R = np.linalg.qr(np.sqrt(weights)[:, None] * powers)
    return np.asarray(np.linalg.solve(R.T, powers.T).T[:, 1:] * np.sqrt(weights.sum()))

"""Polynomials of time that are orthogonal over the documents.

A coefficient B_k of dynamic LSA is then what degree k adds to the lower degrees, and the columns of
the basis are not almost collinear, as 1, t, t² are if t is a year. With x = (t − mean) / sd, the
polynomials follow the recurrence c_k p_k = (x − a_k) p_{k−1} − c_{k−1} p_{k−2}. Its coefficients,
means over the documents (Stieltjes), are stored instead of powers and evaluate p_k at any time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import several
from wordgeom.core.types import Float64

HIGHEST = 10  # degree
_DIGITS = 6  # of a time in a message
_LEAST_NORM = 1e-6  # of a polynomial before scaling; less is rounding error


@dataclass(frozen=True)
class Polynomials:
    """p_1 … p_q, orthogonal over the documents, with mean 0, mean square 1 and positive leads.

    centre, scale: mean and standard deviation of the times; shifts, norms (q): a_k, c_k; values
    (n × q): at the times of the documents.
    """

    centre: float
    scale: float
    shifts: tuple[float, ...]
    norms: tuple[float, ...]
    values: Float64

    @classmethod
    def of(cls, times: Float64, degree: int) -> Self:
        """Return the polynomials over times (n); raises InputError if too few are distinct."""
        _check(times, degree)
        with np.errstate(over="ignore"):
            centre, scale = float(times.mean()), float(times.std())
        if not math.isfinite(scale):
            raise InputError(f"times up to {times.max():g} are too far apart for float64")
        if not scale > 0.0:
            what = f"times from {times.min():g} to {times.max():g} are too close for float64"
            raise InputError(what, do="use a smaller unit of time")
        x = (times - centre) / scale
        values, shifts, norms = [np.zeros(len(x)), np.ones(len(x))], [], [0.0]
        for k in range(degree):
            before, last = values[-2:]
            shifts.append(float(np.mean(x * last * last)))
            following = (x - shifts[-1]) * last - norms[-1] * before
            norms.append(math.sqrt(float(np.mean(following * following))))
            if not norms[-1] >= _LEAST_NORM:
                what = f"--degree {degree} is too high for times that almost coincide"
                raise InputError(what, do=f"lower it to --degree {k}")
            values.append(following / norms[-1])
        columns = np.stack(values[2:], axis=1)
        return cls(centre, scale, tuple(shifts), tuple(norms[1:]), columns)

    @classmethod
    def from_dict(cls, parts: Any, degree: int, times: Float64) -> Self:
        """Return polynomials from `to_dict`, for the same times (n); raises ValueError.

        `parts` may come from an edited file: at most `degree` polynomials, and at most HIGHEST, are
        evaluated.
        """
        if not isinstance(parts, Mapping) or parts.keys() != {"centre", "scale", "shifts", "norms"}:
            raise ValueError("not polynomials")
        if not len(parts["shifts"]) == len(parts["norms"]) == degree or not 0 < degree <= HIGHEST:
            raise ValueError("wrong degree")
        shifts, norms = (tuple(map(_number, parts[key])) for key in ("shifts", "norms"))
        centre, scale = _number(parts["centre"]), _number(parts["scale"])
        if min(scale, *norms) <= 0.0:
            raise ValueError("not positive")
        bare = cls(centre, scale, shifts, norms, np.empty((0, degree)))
        with np.errstate(over="ignore", invalid="ignore"):
            values = bare.at(times)
        if not np.isfinite(values).all():
            raise ValueError("not finite at these times")
        return cls(centre, scale, shifts, norms, values)

    @property
    def degree(self) -> int:
        """The highest degree, q."""
        return len(self.shifts)

    def at(self, times: Float64) -> Float64:
        """Return the values (m × q) of the polynomials at any times (m)."""
        x = (np.asarray(times, np.float64) - self.centre) / self.scale
        before, last, norm, columns = np.zeros(len(x)), np.ones(len(x)), 0.0, []
        for shift, following in zip(self.shifts, self.norms, strict=True):
            before, last = last, ((x - shift) * last - norm * before) / following
            norm = following
            columns.append(last)
        return np.stack(columns, axis=1)

    def to_dict(self) -> dict[str, Any]:
        """Return the recurrence as JSON values, for `from_dict`."""
        return {
            "centre": self.centre, "scale": self.scale,
            "shifts": list(self.shifts), "norms": list(self.norms),
        }  # fmt: skip


def _check(times: Float64, degree: int) -> None:
    """Raise InputError if there are too few distinct times for the degree."""
    distinct = np.unique(times)
    if len(distinct) < 2:
        found = f"only {distinct[0]:.{_DIGITS}g}" if len(distinct) else "no document"
        raise InputError("dynamic LSA needs at least two distinct times", found=found)
    if len(distinct) <= degree:
        what = f"--degree {degree} needs {degree + 1} distinct times"
        do = f"lower it to --degree {len(distinct) - 1}"
        raise InputError(what, found=several(len(distinct), "time", "times"), do=do)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("not a number")
    return float(value)

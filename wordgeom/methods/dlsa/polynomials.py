"""Polynomials of time that are orthogonal over the documents.

A coefficient B_k of dynamic LSA then tells what degree k adds to the lower ones, and no column of
the basis is nearly another, as 1, t, t² are where t is a year. With x = (t − mean) / sd they follow
the recurrence c_k p_k = (x − a_k) p_{k−1} − c_{k−1} p_{k−2}, whose numbers, and not powers, are
kept: they give the polynomials at any time. a_k and c_k are means over the documents (Stieltjes).
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
_SHOWN = 6  # digits of a time in a message
_APART = 1e-6  # what a degree must add to the lower ones, as a share of x: less is rounding


@dataclass(frozen=True)
class Polynomials:
    """p_1 … p_q; values (n × q) at the documents' times: mean 0, mean square 1, orthogonal.

    The leading coefficients are positive. centre, scale: of the times; shifts, norms (q): a_k, c_k.
    """

    centre: float
    scale: float
    shifts: tuple[float, ...]
    norms: tuple[float, ...]
    values: Float64

    @classmethod
    def of(cls, times: Float64, degree: int) -> Self:
        """Return those of times (n), all known; raises InputError for too few distinct ones."""
        _check(times, degree)
        with np.errstate(over="ignore"):
            centre, scale = float(times.mean()), float(times.std())
        if not math.isfinite(scale):
            raise InputError("times are too far apart to be computed with", found=times.max())
        if not scale > 0.0:
            raise InputError("times are too close to each other to be computed with",
                             found=f"{times.min():g} to {times.max():g}",
                             do="write them in a smaller unit")  # fmt: skip
        x = (times - centre) / scale
        values, shifts, norms = [np.zeros(len(x)), np.ones(len(x))], [], [0.0]
        for k in range(degree):
            before, last = values[-2:]
            shifts.append(float(np.mean(x * last * last)))
            following = (x - shifts[-1]) * last - norms[-1] * before
            norms.append(math.sqrt(float(np.mean(following * following))))
            if not norms[-1] >= _APART:
                what = f"--degree {degree} is too high for times that almost fall together"
                raise InputError(what, do=f"lower it to --degree {k}")
            values.append(following / norms[-1])
        columns = np.stack(values[2:], axis=1)
        return cls(centre, scale, tuple(shifts), tuple(norms[1:]), columns)

    @classmethod
    def read(cls, held: Any, degree: int, times: Float64) -> Self:
        """Return what `numbers` told, for the same times (n); raises ValueError for what is none.

        Such a thing comes from a file that anybody may have edited: nothing is computed of more
        than `degree` polynomials, nor of more than HIGHEST.
        """
        if not isinstance(held, Mapping) or held.keys() != {"centre", "scale", "shifts", "norms"}:
            raise ValueError("no polynomials")
        if not len(held["shifts"]) == len(held["norms"]) == degree or not 0 < degree <= HIGHEST:
            raise ValueError("of another degree")
        shifts, norms = (tuple(map(_number, held[key])) for key in ("shifts", "norms"))
        centre, scale = _number(held["centre"]), _number(held["scale"])
        if min(scale, *norms) <= 0.0:
            raise ValueError("no polynomials")
        made = cls(centre, scale, shifts, norms, np.empty((0, degree)))
        with np.errstate(over="ignore", invalid="ignore"):
            values = made.at(times)
        if not np.isfinite(values).all():
            raise ValueError("not for these times")
        return cls(centre, scale, shifts, norms, values)

    @property
    def degree(self) -> int:
        """The highest degree, q."""
        return len(self.shifts)

    def at(self, times: Float64) -> Float64:
        """Return the polynomials at times (m), of documents or not: (m × q)."""
        x = (np.asarray(times, np.float64) - self.centre) / self.scale
        before, last, norm, columns = np.zeros(len(x)), np.ones(len(x)), 0.0, []
        for shift, following in zip(self.shifts, self.norms, strict=True):
            before, last = last, ((x - shift) * last - norm * before) / following
            norm = following
            columns.append(last)
        return np.stack(columns, axis=1)

    def numbers(self) -> dict[str, Any]:
        """Return what `read` takes, to be written as JSON."""
        return {
            "centre": self.centre, "scale": self.scale,
            "shifts": list(self.shifts), "norms": list(self.norms),
        }  # fmt: skip


def _check(times: Float64, degree: int) -> None:
    """Refuse times of which there are too few distinct ones for the degree."""
    distinct = np.unique(times)
    if len(distinct) < 2:
        found = f"{distinct[0]:.{_SHOWN}g} in all of them" if len(distinct) else "no document"
        raise InputError("documents of one time tell of no change", found=found)
    if len(distinct) <= degree:
        what = f"--degree {degree} needs {degree + 1} distinct times"
        do = f"lower it to --degree {len(distinct) - 1}"
        raise InputError(what, found=several(len(distinct), "time", "times"), do=do)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("no number")
    return float(value)

"""The time axis: the distinct time of each document, and the polynomials at these times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Float64, Int32

_ROUNDING = 1e-9  # of a bin: 0.3 begins the bin [0.3, 0.4), although 0.3 / 0.1 < 3


def bin_times(times: Float64, width: float) -> Float64:
    """Return the start of each time's bin, a multiple of `width`: 1957.5 and 10 give 1950.

    Raises InputError if one bin holds all times, or if float64 cannot tell the bins apart.
    """
    with np.errstate(over="ignore"):
        starts = np.floor(times / width + _ROUNDING) * width
    if not np.isfinite(starts).all():
        raise InputError(f"--bin {width:g} is too narrow for the times", do="choose a wider one")
    if starts.min() == starts.max():
        span = f"all times, {times.min():g} to {times.max():g}"
        raise InputError(f"--bin {width:g} joins {span}", do="choose a narrower one")
    return np.asarray(starts)


@dataclass(frozen=True, eq=False)
class Axis:
    """Documents at T distinct times, in ascending order.

    levels (T × q): the polynomials at the times; codes (n): the index of each document's time.
    """

    levels: Float64
    codes: Int32

    @classmethod
    def of(cls, times: Float64, basis: Float64) -> Self:
        """Return the axis of documents with times (n) and polynomials (n × q).

        Raises InputError if there is a single time, or not more times than the degree.
        """
        distinct, first, codes = np.unique(times, return_index=True, return_inverse=True)
        if len(distinct) == 1:
            what = f"all documents have the same time, {distinct[0]:g}"
            raise InputError(what, do="train on documents of several times")
        if len(distinct) <= basis.shape[1]:
            what = f"--degree {basis.shape[1]} needs more than {basis.shape[1]} distinct times"
            do = "choose a narrower --bin, or train with a lower --degree"
            raise InputError(what, found=f"{len(distinct)}", do=do)
        return cls(basis[first].astype(np.float64), codes.astype(np.int32))

    @property
    def degree(self) -> int:
        """The degree q of the polynomials."""
        return int(self.levels.shape[1])

    @property
    def times(self) -> int:
        """The number T of distinct times."""
        return len(self.levels)

    @property
    def symmetric(self) -> bool:
        """Whether the times are symmetric, so that reversing them leaves F unchanged."""
        ends = self.levels[:, 0] + self.levels[::-1, 0]
        return bool(np.allclose(ends, ends[0], rtol=0.0, atol=1e-9 * np.ptp(self.levels[:, 0])))

    def values(self) -> Float64:
        """Return the polynomials at the documents' times (n × q)."""
        return self.levels[self.codes]

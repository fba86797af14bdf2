"""Documents on the axis of times: which distinct time each has, and the polynomials there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Float64, Int32


@dataclass(frozen=True, eq=False)
class Axis:
    """Documents at T distinct times, in ascending order.

    levels (T × q): the polynomials there; codes (n): the number of each document's time.
    """

    levels: Float64
    codes: Int32

    @classmethod
    def of(cls, times: Float64, basis: Float64) -> Self:
        """Place documents of times (n) and polynomials (n × q).

        Raises InputError for a single time, and for no more times than the degree.
        """
        distinct, first, codes = np.unique(times, return_index=True, return_inverse=True)
        if len(distinct) == 1:
            raise InputError("all documents have one time", found=f"{distinct[0]:g}",
                             do="nothing can have changed")  # fmt: skip
        if len(distinct) <= basis.shape[1]:
            what = f"--degree {basis.shape[1]} needs more times than that"
            raise InputError(what, found=f"{len(distinct)}", do="train with a lower --degree")
        return cls(basis[first].astype(np.float64), codes.astype(np.int32))

    @property
    def degree(self) -> int:
        """The polynomials' q."""
        return int(self.levels.shape[1])

    @property
    def times(self) -> int:
        """How many distinct times there are."""
        return len(self.levels)

    @property
    def symmetric(self) -> bool:
        """Whether times lie the same way from either end: polynomials of both explain as much."""
        ends = self.levels[:, 0] + self.levels[::-1, 0]
        return bool(np.allclose(ends, ends[0], rtol=0.0, atol=1e-9 * np.ptp(self.levels[:, 0])))

    def values(self) -> Float64:
        """Return the polynomials at the documents (n × q)."""
        return self.levels[self.codes]

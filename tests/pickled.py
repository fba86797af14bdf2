"""A cluster in this process, which gets and returns what a real one would: pickled blocks."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from wordgeom.core.types import Array
from wordgeom.runtime.scheduler import Held, Result, Shared


class PickledScheduler:
    """Computes pickled blocks one by one; number: of those computed; shared: of arrays shared."""

    threads = 2

    def __init__(self) -> None:
        self.number = self.shared = 0

    def share(self, array: Array) -> Held:
        """Return the array as a Shared, in the layout of a file."""
        self.shared += 1
        return Held(np.ascontiguousarray(array))

    def release(self, *shared: Shared) -> None:
        """Do nothing."""

    def map(
        self, compute: Callable[..., Result], blocks: Sequence[Any], spec: Any,
        ahead: int | None = None,
    ) -> Iterator[Result]:  # fmt: skip
        """Yield compute(block, spec) for every block, in order."""
        for block in blocks:
            self.number += 1
            function, given, what = pickle.loads(pickle.dumps((compute, block, spec)))
            yield function(given, what)

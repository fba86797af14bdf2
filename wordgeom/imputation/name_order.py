"""An order of entities that depends on their names alone, to break ties.

The rows of a table have no meaningful order, and names in alphabetical order may be related. A hash
of the names is neither.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from wordgeom.core.types import Int64

_BYTES = 16


def name_order(names: Sequence[str]) -> Int64:
    """Return the entities (n) in ascending order of the BLAKE2b digests of their unique names."""
    digests = b"".join(
        hashlib.blake2b(name.encode(), digest_size=_BYTES).digest() for name in names
    )
    halves = np.frombuffer(digests, ">u8").reshape(-1, 2).astype(np.uint64)
    return np.lexsort((halves[:, 1], halves[:, 0])).astype(np.int64)

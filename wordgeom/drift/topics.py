"""The topics U that a test is given: static LSA of X alone, which knows nothing of times.

A test whose topics were fitted with the times rejects three times too often (.16 at 5 %).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wordgeom.core.errors import InputError, RankError
from wordgeom.core.ops import Ops
from wordgeom.core.types import Csr, Float64
from wordgeom.linalg.eigensolver import Convergence, EigenSettings
from wordgeom.linalg.svd import svd_bytes, truncated_svd
from wordgeom.runtime.progress import Progress

_ROUNDING = 1e-6  # of the largest singular value: of X, whose entries are float32


def directions(X: Csr, r: int, ops: Ops, seed: int, progress: Progress | None = None) -> Float64:
    """Return U (n × r): orthonormal columns, orthogonal to 1, that explain most of X (n × p).

    Raises InputError where no word varies, RankError where X, its means aside, has fewer than r + 1
    dimensions: nothing would be left to test.
    """
    n = X.rows
    mean = np.full((n, 1), n**-0.5)
    most = min(n - 1, X.columns)
    if r >= most:
        raise _too_many(r, most)

    def follow(looks: Iterator[Convergence]) -> Iterator[Convergence]:
        told = progress or Progress()
        return told.follow(looks, "topics", r + 1, "topics", lambda look: look.gained)

    wanted = EigenSettings(r + 1, seed=seed)
    found = truncated_svd(X, wanted, ops, effects=mean, follow=follow)
    if not found.values[0]:
        raise InputError("all words are constant over documents", do="check the weights")
    there = int(np.count_nonzero(found.values > _ROUNDING * found.values[0]))
    if there <= r:
        raise _too_many(r, there)
    # The solver works in float32 where X is large.
    return np.linalg.qr(np.hstack([mean, found.left[:, :r]]))[0][:, 1:]


def topic_bytes(X: Csr, r: int) -> int:
    """Return the memory that `directions` takes beside X."""
    return svd_bytes(X.rows, X.columns, X.nnz, EigenSettings(r + 1)) + 3 * 8 * X.rows * (r + 1)


def _too_many(r: int, most: int) -> RankError:
    found = f"{most:,} dimensions of documents and words"
    return RankError(f"a test with {r:,} topics needs more than as many", found=found,
                     do="lower --rank, or pass --no-both-ranks")  # fmt: skip

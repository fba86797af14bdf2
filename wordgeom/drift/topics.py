"""The topics U of a test: static LSA of X, which ignores times.

A test whose topics were fitted with the times rejects three times too often (.16 at the 5 % level).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wordgeom.core.errors import InputError, RankError
from wordgeom.core.types import Csr, Float64
from wordgeom.linalg.eigensolver import Convergence, EigenSettings
from wordgeom.linalg.svd import svd_bytes, truncated_svd
from wordgeom.runtime.context import Context

_ROUNDING = 1e-6  # of the largest singular value, for float32 entries


def static_topics(X: Csr, r: int, context: Context) -> Float64:
    """Return U (n × r): orthonormal columns, orthogonal to 1, that explain most of X (n × p).

    Raises InputError if no word varies, and RankError if the centred X has rank r or less, which
    would leave nothing to test.
    """
    n = X.rows
    mean = np.full((n, 1), n**-0.5)
    most = min(n - 1, X.columns)
    if r >= most:
        raise _too_many(r, most)

    def follow(looks: Iterator[Convergence]) -> Iterator[Convergence]:
        return context.progress.follow(looks, "topics", r + 1, "topics", lambda look: look.gained)

    wanted = EigenSettings(r + 1, seed=context.seed)
    svd = truncated_svd(X, wanted, context.ops, effects=mean, follow=follow)
    if not svd.values[0]:
        raise InputError("all words are constant over documents", do="check the weights")
    rank = int(np.count_nonzero(svd.values > _ROUNDING * svd.values[0]))
    if rank <= r:
        raise _too_many(r, rank)
    # The solver uses float32 for a large X, so U is orthogonalised in float64.
    return np.linalg.qr(np.hstack([mean, svd.left[:, :r]]))[0][:, 1:]


def topic_bytes(X: Csr, r: int) -> int:
    """Return the memory in bytes that `static_topics` needs besides X."""
    return svd_bytes(X.rows, X.columns, X.nnz, EigenSettings(r + 1)) + 3 * 8 * X.rows * (r + 1)


def _too_many(r: int, most: int) -> RankError:
    what = f"{r:,} topics need data of a higher rank than {most:,}"
    return RankError(what, do="lower --rank or pass --no-both-ranks")

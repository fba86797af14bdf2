"""Stored matrices that the workers of a cluster read: each opens the same stores itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import SchedulerError, WordgeomError
from wordgeom.core.types import Csr, Int64
from wordgeom.matrices.cooccurrence import StoredMatrix, read_rows
from wordgeom.runtime.scheduler import Scheduler, Shared
from wordgeom.storage.store import Store

_REMEDY = "keep matrices in folders that all workers see under the same path"


@dataclass(frozen=True)
class OpenedRows:
    """The rows of a stored matrix, without its words; indptr (rows + 1)."""

    store: Store
    indptr: Int64
    columns: int
    symmetric: bool

    def rows(self, start: int, stop: int) -> Csr:
        """Return stored rows, their columns checked; raises FormatError."""
        return read_rows(self.store, self.indptr[start : stop + 1], start, self.columns,
                         symmetric=self.symmetric)  # fmt: skip


@dataclass(frozen=True)
class SharedRows:
    """Matrices of one shape, as the spec of a map holds them.

    stores: path and digest of each; indptr: of all (n × rows + 1).
    """

    stores: tuple[tuple[str, str], ...]
    indptr: Shared
    columns: int
    symmetric: bool

    @classmethod
    def of(cls, matrices: Sequence[StoredMatrix], scheduler: Scheduler) -> SharedRows:
        """Share matrices; raises WriteError."""
        stores = tuple((str(m.path.absolute()), m.store.digest) for m in matrices)
        indptr = scheduler.share(np.stack([m.indptr for m in matrices]))
        return cls(stores, indptr, matrices[0].shape[1], matrices[0].symmetric)

    def open(self) -> list[OpenedRows]:
        """Open the matrices; raises SchedulerError where this process finds others."""
        indptr = self.indptr.open()
        return [OpenedRows(_opened(*one), rows, self.columns, self.symmetric)
                for one, rows in zip(self.stores, indptr, strict=True)]  # fmt: skip


def _opened(path: str, digest: str) -> Store:
    try:
        store = Store.open(path)
    except WordgeomError as error:
        what = f"a worker cannot open it: {error.what}"
        raise SchedulerError(what, where=path, do=_REMEDY) from None
    if store.digest != digest:
        raise SchedulerError("a worker reads another matrix there", where=path, do=_REMEDY)
    return store

"""A scheduler and two workers, started once for the tests of schedulers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dask_cluster import DaskCluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A running cluster."""
    pytest.importorskip("distributed", reason="needs Dask: pip install 'wordgeom[cluster]'")
    with DaskCluster(tmp_path_factory.mktemp("dask"), 2) as running:
        yield running

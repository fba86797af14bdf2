"""dask-jobqueue files: workers in jobs compute blocks, and malformed files are named."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from dask_cluster import PATH, Sums, blocks_of, dask_scheduler, sums

from wordgeom.core.errors import FormatError

# Its import replaces the handler of SIGINT, which other tests need.
pytestmark = pytest.mark.skipif(
    find_spec("dask_jobqueue") is None,
    reason="needs dask-jobqueue: pip install 'wordgeom[cluster]'",
)
JOBS = """
jobs: 1
jobqueue:
  local: {cores: 1, processes: 1, memory: 1GB, interface: lo}
"""


# The `local` jobs of dask-jobqueue, which it has for tests, are not awaited when they are removed.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_workers_in_jobs_compute_blocks(tmp_path, monkeypatch):
    (tmp_path / "jobs.yaml").write_text(JOBS)
    monkeypatch.setenv("PYTHONPATH", PATH)
    monkeypatch.chdir(tmp_path)  # where Dask puts its temporary files
    rows = np.arange(20.0).reshape(10, 2)
    with dask_scheduler(str(tmp_path / "jobs.yaml"), tmp_path / "shared") as scheduler:
        spec = Sums(scheduler.share(rows))
        done = [one["sums"] for one in scheduler.map(sums, blocks_of(10, 4), spec)]
    np.testing.assert_array_equal(np.concatenate(done), rows.sum(1))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("jobs: [", "cannot be read"),
        ("jobs: 2", "needs a table jobqueue"),
        (JOBS.replace("local", "lokal"), "needs a table jobqueue"),
        (JOBS.replace("jobs: 1", "jobs: 0"), "needs the number of jobs"),
        (JOBS.replace("interface: lo", "queue: a"), "needs the interface"),
    ],
)
def test_a_malformed_file_is_one_line(tmp_path, content, what):
    path = tmp_path / "jobs.yaml"
    path.write_text(content)
    with pytest.raises(FormatError, match=what) as error, dask_scheduler(str(path), tmp_path / "s"):
        pass
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(str(path))

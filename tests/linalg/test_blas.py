"""BLAS on one thread, also that of libraries that are not loaded yet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import wordgeom

PROGRAM = """
import sys
from wordgeom.linalg.blas import one_thread
assert "scipy.linalg" not in sys.modules
with one_thread(scipy=True):
    import scipy.linalg
    from threadpoolctl import threadpool_info
    print(sorted({one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}))
print(sorted({one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}))
"""


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one CPU has one thread")
def test_scipy_is_limited_also_where_it_is_loaded_within():
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
    here = {**os.environ, **dict.fromkeys(names, "2")}
    here["PYTHONPATH"] = str(Path(wordgeom.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True,
        env=here,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["[1]", "[2]"]  # within, and after

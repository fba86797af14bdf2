"""Run by another interpreter: embeddings of PyMDE, umap-learn and openTSNE, with their seconds.

    python scripts/mde_rivals.py pymde|umap|tsne JOB.npz RESULT.npz THREADS

It needs NumPy and the program, and nothing of wordgeom. scripts/mde_problems.py writes the jobs.
"""

from __future__ import annotations

import os
import sys
import time
from importlib import import_module
from typing import Any

import numpy as np


def pymde(job: dict[str, np.ndarray], threads: int) -> dict[str, Any]:
    """Return PyMDE's embedding of a problem after a number of steps."""
    program, torch = import_module("pymde"), import_module("torch")
    torch.set_num_threads(threads)
    weights = torch.tensor(job["weights"])
    attractive = {
        "quadratic": program.penalties.Quadratic, "log1p": program.penalties.Log1p,
        "huber": lambda given: program.penalties.Huber(2.0 * given),  # the book's is twice as large
    }[str(job["attractive"])]  # fmt: skip
    function = attractive(weights)
    if (job["weights"] < 0).any():
        function = program.penalties.PushAndPull(weights, attractive, program.penalties.Log)
    constraint = {
        "centered": program.Centered, "standardized": program.Standardized,
        "anchored": lambda: program.Anchored(torch.tensor(job["anchors"]),
                                             torch.tensor(job["values"])),
    }[str(job["constraint"])]()  # fmt: skip
    edges, start = torch.tensor(job["edges"]), torch.tensor(job["start"])
    items, columns = start.shape
    began, worked = time.perf_counter(), time.process_time()
    problem = program.MDE(items, columns, edges, function, constraint)
    found = problem.embed(X=start, eps=float(job["enough"]), max_iter=int(job["steps"]))
    took, used = time.perf_counter() - began, time.process_time() - worked
    stats = problem.solve_stats
    return {
        "vectors": found.detach().numpy(), "seconds": took, "processor": used,
        "norms": stats.residual_norms, "times": stats.times, "version": program.__version__,
    }  # fmt: skip


def umap(job: dict[str, np.ndarray], threads: int) -> dict[str, Any]:
    """Return umap-learn's map, at its defaults."""
    program = import_module("umap")
    model = program.UMAP(metric=str(job["metric"]), n_jobs=threads)
    began, worked = time.perf_counter(), time.process_time()
    found = model.fit_transform(job["points"])
    return {"vectors": found, "seconds": time.perf_counter() - began,
            "processor": time.process_time() - worked, "version": program.__version__}  # fmt: skip


def tsne(job: dict[str, np.ndarray], threads: int) -> dict[str, Any]:
    """Return openTSNE's map, at its defaults."""
    program = import_module("openTSNE")
    model = program.TSNE(metric=str(job["metric"]), n_jobs=threads, random_state=1)
    began, worked = time.perf_counter(), time.process_time()
    found = np.asarray(model.fit(job["points"]))
    return {"vectors": found, "seconds": time.perf_counter() - began,
            "processor": time.process_time() - worked, "version": program.__version__}  # fmt: skip


if __name__ == "__main__":
    threads = int(sys.argv[4])
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(threads)
    with np.load(sys.argv[2]) as archive:
        given = dict(archive)
    made = {"pymde": pymde, "umap": umap, "tsne": tsne}[sys.argv[1]](given, threads)
    np.savez(sys.argv[3], **made)

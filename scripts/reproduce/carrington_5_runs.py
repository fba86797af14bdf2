"""Simulations in parallel processes; each depends only on its seed, not on the processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from carrington_5_cells import FIGURES, NOISES, simulate
from carrington_5_permutation import permutation_p

from wordgeom.core.types import Array, Float64
from wordgeom.drift.factor_test import factor_test
from wordgeom.linalg.blas import one_thread

_BLOCK = 25  # runs per job
FIELDS = ("statistic", "plain", "p", "plain_p", "converged", "permutation", "mixture")

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True)
class Plan:
    """Runs per cell, the number with permutation tests, permutations per test, and the seed."""

    runs: int
    permuted: int
    shuffles: int
    seed: int


@dataclass(frozen=True)
class Job:
    """The runs [start:stop) of a cell of a figure at one noise variance."""

    plan: Plan
    figure: str
    cell: int
    noise: int
    start: int
    stop: int

    def generators(self) -> Iterator[tuple[int, np.random.Generator]]:
        """Yield the numbers of the runs, each with its own random generator."""
        number = int(self.figure.replace(".", ""))
        for run in range(self.start, self.stop):
            key = [self.plan.seed, number, self.cell, self.noise, run]
            yield run, np.random.default_rng(key)


@contextmanager
def working(processes: int) -> Iterator[Map]:
    """Yield a function that maps a function over jobs, with results in order."""
    if processes == 1:
        yield map
        return
    # Spawned, not forked, since the parent has threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as executor:
        try:
            yield executor.map
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise


def gather(
    function: Callable[[Job], Array], figure: str, cells: int, plan: Plan, work: Map
) -> Array:
    """Return the rows of `function` for every cell, noise and run (cells × noises × runs × …)."""
    starts = range(0, plan.runs, _BLOCK)
    jobs = [
        Job(plan, figure, cell, noise, start, min(start + _BLOCK, plan.runs))
        for cell in range(cells)
        for noise in range(len(NOISES))
        for start in starts
    ]
    parts = list(work(function, jobs))
    rows = [np.concatenate(parts[k : k + len(starts)]) for k in range(0, len(parts), len(starts))]
    return np.array(rows).reshape(cells, len(NOISES), *rows[0].shape)


def outcomes(job: Job) -> Float64:
    """Return FIELDS (runs × fields) of a cell of FIGURES; NaN without a permutation test."""
    cell = FIGURES[job.figure].cells[job.cell]
    rows = []
    with one_thread():
        for run, rng in job.generators():
            X, times = simulate(cell, NOISES[job.noise], rng)
            found = factor_test(X, cell.fitted)
            permuted = (float("nan"), float("nan"))
            if run < job.plan.permuted:
                seed = int(rng.integers(2**31))
                permuted = permutation_p(X, times, cell.fitted, job.plan.shuffles, seed)
            rows.append((found.statistic, found.plain, found.p, found.plain_p,
                         found.converged, *permuted))  # fmt: skip
    return np.array(rows, np.float64)


def field(found: Float64, name: str) -> Float64:
    """Return one of FIELDS (cells × noises × runs)."""
    return np.asarray(found[..., FIELDS.index(name)])

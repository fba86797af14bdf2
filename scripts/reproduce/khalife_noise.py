"""Tables 1 and 2: Algorithm 1 and Adam on noisy Gram matrices (Appendix A, eq. 13).

`G` is n × n, `m` the number of references (rows and columns 1 … m of G are known), `V` n × K.
Noise has the standard deviation η |G|; the paper prints a variance η G, which can be negative.
Adam starts from N(0, 1) and uses all pairs in each step; the paper states neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from tables_report import Claim, conclude, judge, show, timed

from wordgeom.core.errors import OptionError, UnavailableError
from wordgeom.core.types import Float64

SIZES, DIMS, NOISES, RATES = (500, 1000), (3, 50, 200), (0.0, 0.01, 0.02), (1e-3, 1e-1)
GBU, CUT = "Algorithm 1", "Algorithm 1, rank cut"
ROWS = (GBU, CUT, *(f"Adam, rate {rate:g}" for rate in RATES))
EPOCHS, GOAL = 1000, 1e-3
_ROUNDING = 1e-6  # smallest eigenvalue in use, relative to the largest: what gbu does

# (table, n, η, K): score of GBU, seconds, score of SGD, seconds; None: "*", failed
PUBLISHED: Mapping[tuple[int, int, float, int], tuple[float | None, float | None, float, float]] = {
    (1, 500, 0.0, 3): (4.480e-32, 1.930e-02, 1.224e-03, 1.485e+01),
    (1, 500, 0.0, 50): (1.931e-28, 4.652e-02, 1.009e-02, 1.593e+01),
    (1, 500, 0.0, 200): (7.437e-29, 1.20e-01, 1.266e-02, 1.719e+01),
    (1, 500, 0.01, 3): (7.181e-07, 1.950e-02, 1.500e-03, 1.394e+01),
    (1, 500, 0.01, 50): (9.932e-06, 2.149e-02, 1.069e-02, 1.595e+01),
    (1, 500, 0.01, 200): (None, None, 1.306e-02, 1.706e+01),
    (1, 500, 0.02, 3): (3.762e-06, 2.013e-02, 1.182e-03, 1.364e+01),
    (1, 500, 0.02, 50): (6.148e-06, 4.089e-03, 1.055e-02, 1.599e+01),
    (1, 500, 0.02, 200): (None, None, 1.416e-02, 1.705e+01),
    (1, 1000, 0.0, 3): (1.794e-32, 4.598e-02, 1.121e-03, 4.596e+01),
    (1, 1000, 0.0, 50): (5.105e-30, 9.387e-02, 1.335e-02, 5.543e+01),
    (1, 1000, 0.0, 200): (6.757e-29, 2.99e-01, 2.680e-02, 5.943e+01),
    (1, 1000, 0.01, 3): (3.360e-07, 4.568e-02, 1.167e-03, 5.054e+01),
    (1, 1000, 0.01, 50): (4.960e-06, 1.898e-02, 1.367e-02, 5.600e+01),
    (1, 1000, 0.01, 200): (None, None, 2.743e-02, 5.990e+01),
    (1, 1000, 0.02, 3): (1.757e-06, 4.809e-02, 1.434e-03, 5.189e+01),
    (1, 1000, 0.02, 50): (None, None, 1.336e-02, 5.774e+01),
    (1, 1000, 0.02, 200): (None, None, 2.892e-02, 5.939e+01),
    (2, 500, 0.02, 3): (3.617e-06, 1.948e-02, 1.350e-03, 1.470e+01),
    (2, 500, 0.02, 50): (5.275e-04, 5.246e-02, 1.230e-02, 1.592e+01),
    (2, 500, 0.02, 200): (5.609e-03, 1.21e-01, 1.621e-02, 1.711e+01),
    (2, 1000, 0.02, 3): (2.203e-06, 4.591e-02, 1.061e-03, 4.541e+01),
    (2, 1000, 0.02, 50): (5.587e-04, 1.070e-01, 1.646e-02, 5.647e+01),
    (2, 1000, 0.02, 200): (7.524e-03, 3.67e-01, 3.525e-02, 6.039e+01),
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """A setting of the tables."""

    table: int
    n: int
    noise: float
    dim: int

    @property
    def references(self) -> int:
        """The number of references m."""
        return self.dim + 1 if self.table == 1 else math.ceil(1.5 * self.dim)

    def __str__(self) -> str:
        return f"n = {self.n}, η = {self.noise:g}, K = {self.dim}"


@dataclass(frozen=True)
class Outcome:
    """The runs of a cell: scores (nan where a run failed) and CPU seconds."""

    scores: tuple[float, ...]
    seconds: tuple[float, ...]

    @property
    def failed(self) -> int:
        """The number of runs that were not finite."""
        return int(np.sum(~np.isfinite(self.scores)))

    @property
    def score(self) -> float:
        """The mean score; nan if a run failed."""
        return float(np.mean(self.scores))

    @property
    def time(self) -> float:
        """The mean time in seconds."""
        return float(np.mean(self.seconds))


Found = Mapping[tuple[Cell, str], Outcome]


def cells(table: int) -> list[Cell]:
    """Return the cells of Table 1 or 2."""
    noises = NOISES if table == 1 else NOISES[-1:]
    return [Cell(table, n, noise, K) for n in SIZES for noise in noises for K in DIMS]


def build_up(G: Float64, K: int, m: int, cut: float | None = None) -> Float64 | None:
    """Return V (n × K) of Algorithm 1; None if R is singular or V not finite.

    cut: set columns with eigenvalues below this fraction of the largest to zero, as `train --method
    gbu` does; None: as printed.
    """
    from scipy.linalg import LinAlgError, eigh, solve_triangular

    values, U = eigh(G[:m, :m], subset_by_index=(m - K, m - 1))
    used = slice(None) if cut is None else values > cut * max(values[-1], 0.0)
    A = U[:, used] * np.sqrt(np.maximum(values[used], 0.0))
    V = np.zeros((len(G), K))
    try:
        Q, R = np.linalg.qr(A)
        V[:m, used] = A
        V[m:, used] = solve_triangular(R, Q.T @ G[:m, m:]).T
    except (LinAlgError, np.linalg.LinAlgError):
        return None
    return V if np.isfinite(V).all() else None


def require_torch() -> Any:
    """Return Torch, or raise UnavailableError."""
    try:
        import torch
    except ImportError:
        what = "Tables 1, 2 and 6 need Torch"
        raise UnavailableError(what, do="pip install torch") from None
    return torch


def adam(G: Float64, K: int, m: int, rate: float, seed: int) -> Float64 | None:
    """Return V (n × K) after EPOCHS full steps of Adam on eq. 13, or once it is below GOAL.

    Returns None if the rate diverges.
    """
    from wordgeom.methods.sgd.dense import descend, random_start
    from wordgeom.methods.sgd.descent import Settings

    start = random_start(len(G), K, np.random.default_rng(seed))
    try:
        return descend(G, start, m, Settings("adam", rate, EPOCHS, enough=GOAL)).vectors
    except OptionError:
        return None


def _methods(cell: Cell, seed: int) -> Iterator[tuple[str, Callable[[Float64], Float64 | None]]]:
    K, m = cell.dim, cell.references
    yield GBU, partial(build_up, K=K, m=m)
    yield CUT, partial(build_up, K=K, m=m, cut=_ROUNDING)
    for name, rate in zip(ROWS[2:], RATES, strict=True):
        yield name, partial(adam, K=K, m=m, rate=rate, seed=seed)


def measure(cell: Cell, runs: int) -> dict[str, Outcome]:
    """Return the outcome of each row of ROWS over `runs` data sets."""
    from wordgeom.methods.sgd.dense import noisy_gram, score

    scores: dict[str, list[float]] = {row: [] for row in ROWS}
    seconds: dict[str, list[float]] = {row: [] for row in ROWS}
    for run in range(runs):
        key = [run, cell.table, cell.n, cell.dim, round(1000 * cell.noise)]
        G = noisy_gram(cell.n, cell.dim, cell.noise, np.random.default_rng(key))
        for row, method in _methods(cell, run):
            V, took = timed(partial(method, G))
            scores[row].append(math.nan if V is None else score(G, V, cell.references))
            seconds[row].append(took.cpu)
    return {row: Outcome(tuple(scores[row]), tuple(seconds[row])) for row in ROWS}


def criteria(table: int, found: Found) -> list[Claim]:
    """Return the criteria of Table 1 or 2."""
    adams, every = ROWS[2:], cells(table)

    def below(cell: Cell, other: str) -> bool:
        ours, theirs = found[cell, GBU], found[cell, other]
        return ours.failed == 0 and ours.score < theirs.score and ours.time < theirs.time

    if table == 2:
        return [judge(f"Table 2, {row}", [(str(c), below(c, row)) for c in every]) for row in adams]
    exact = [(f"{c}, {row}", below(c, row)) for c in every if not c.noise for row in adams]
    noisy, few, many = [c for c in every if c.noise], min(DIMS), max(DIMS)
    fails = [(str(c), found[c, GBU].failed > 0) for c in noisy if c.dim == many]
    fails += [(str(c), found[c, GBU].failed == 0) for c in noisy if c.dim == few]
    fails += [(f"{c}, {row}", found[c, row].failed == 0) for c in noisy for row in adams]
    return [judge("Table 1, exact", exact), judge("Table 1, noise", fails)]


def run(tables: Sequence[int], runs: int) -> None:
    """Print the tables with their criteria; every row uses one thread. Raises UnavailableError."""
    require_torch()
    measure(Cell(1, 20, 0.0, 3), 1)  # imports, which would count as time of the first cell
    for table in tables:
        found: dict[tuple[Cell, str], Outcome] = {}
        for cell in cells(table):
            found |= {(cell, row): outcome for row, outcome in measure(cell, runs).items()}
        head = ("n", "η", "K", "m", *ROWS, "paper, GBU", "paper, SGD")
        title = f"## Table {table}: score (CPU seconds), means of {runs} runs"
        show(title, head, [_line(cell, found) for cell in cells(table)])
        conclude(criteria(table, found))


def _line(cell: Cell, found: Found) -> list[str]:
    printed = PUBLISHED[cell.table, cell.n, cell.noise, cell.dim]
    theirs = [_pair(*printed[:2]), _pair(*printed[2:])]
    setting = [f"{cell.n}", f"{cell.noise:g}", f"{cell.dim}", f"{cell.references}"]
    return [*setting, *(_cell(found[cell, row]) for row in ROWS), *theirs]


def _cell(outcome: Outcome) -> str:
    if not outcome.failed:
        return _pair(outcome.score, outcome.time)
    rest = [score for score in outcome.scores if np.isfinite(score)]
    others = f", others {np.mean(rest):.1e}" if rest else ""
    return f"{outcome.failed} of {len(outcome.scores)} failed{others}"


def _pair(score: float | None, seconds: float | None) -> str:
    return "failed" if score is None else f"{score:.1e} ({seconds:.2g})"

"""The dimension of `--dim auto`: the values of a matrix and of its permutations, and three answers.

Cost: the values of one matrix and of one permuted matrix are computed (of three where the matrix is
small), up to 300 of each, to a tolerance of 1e-2. A permuted matrix takes two products a step. The
memory is that of the matrix, two copies of it, and the basis of the solver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from wordgeom.core.types import Array, Csr, Float64
from wordgeom.linalg.dimension.permuted import permuted_columns
from wordgeom.linalg.dimension.rules import (
    EIGENGAP,
    PARALLEL,
    PIP,
    RULES,
    Spectrum,
    eigengap,
    parallel_analysis,
    pip_loss,
)
from wordgeom.linalg.eigensolver import Convergence, EigenSettings, largest_eigenpairs
from wordgeom.linalg.svd import svd_bytes, truncated_svd
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

MOST = 300  # values that are searched
_SMALL, _PERMUTATIONS = 1024, 3  # rows of a matrix with several permutations, and their number
_TOLERANCE = 1e-2
_ENTRY = 24  # bytes of an entry: the matrix and two copies, while one is permuted
_NAMES = {PARALLEL: "parallel analysis", EIGENGAP: "eigengap", PIP: "PIP loss"}


@dataclass(frozen=True)
class Choice:
    """The answers of the rules by name, the one to use, and the spectrum that they saw."""

    rule: str
    answers: Mapping[str, int]
    spectrum: Spectrum

    @property
    def dim(self) -> int:
        """The dimension, at least 1."""
        return max(1, self.answers[self.rule])

    @property
    def notes(self) -> list[str]:
        """All three answers; what they mean where none or all values exceed the noise."""
        searched, own = len(self.spectrum.values), self.answers[self.rule]
        others = ", ".join(f"{_NAMES[rule]}: {answer}" for rule, answer in self.answers.items()
                           if rule != self.rule)  # fmt: skip
        chosen = f"--dim {self.dim} by {_NAMES[self.rule]} ({others}; {searched} values searched)"
        notes = [chosen]
        if own == 0:
            notes.append(f"no value exceeds the noise by {_NAMES[self.rule]}; --dim 1 is used")
        if own == searched > 1:
            notes.append(f"{_NAMES[self.rule]} would take more dimensions than were searched")
        return notes

    @property
    def statistics(self) -> dict[str, Any]:
        """The answers, the values and those of the permuted matrix, for the run card."""
        of = {} if self.spectrum.symmetric else {"spectrum_of": "singular values"}
        return {"dimension": {"rule": self.rule, **self.answers, **of,
                              "spectrum": self.spectrum.values.tolist(),
                              "permuted": self.spectrum.null.tolist()}}  # fmt: skip


def choose_dimension(
    X: Csr, rule: str, power: float, restarts: int, context: Context, *, symmetric: bool
) -> Choice:
    """Return the choice of a rule for the vectors U Λ^power of X, and the answers of the others.

    X (n × m); symmetric: X is, and its largest eigenvalues count, else its singular values.
    """
    found = _restored(context, partial(_values, X, restarts, context, symmetric))
    spectrum = Spectrum(found["values"], float(np.sum(X.data.astype(np.float64) ** 2)),
                        (X.rows, X.columns), symmetric, found["null"])  # fmt: skip
    answers = {PARALLEL: parallel_analysis(spectrum), EIGENGAP: eigengap(spectrum),
               PIP: pip_loss(spectrum, power)}  # fmt: skip
    return Choice(rule, {name: answers[name] for name in RULES}, spectrum)


def check_choice_memory(shape: tuple[int, int], entries: int, memory: int) -> None:
    """Raise InputError where the search needs more than `memory` bytes."""
    needed = _ENTRY * entries + svd_bytes(*shape, entries, _settings(min(shape), 0, 0))
    do = "raise --memory, or pass --dim K"
    check_memory("the permuted matrices of --dim auto", needed, memory, do)


def _settings(size: int, restarts: int, seed: int) -> EigenSettings:
    pairs = min(MOST, max(1, size // 2))
    return EigenSettings(pairs, tol=_TOLERANCE, restarts=restarts, seed=seed)


def _restored(context: Context, compute: partial[Mapping[str, Array]]) -> Mapping[str, Array]:
    """Return what an interrupted run saved, or compute and save it."""
    name = f"{context.prefix}dimension"
    if context.checkpoint.holds(name):
        return context.checkpoint.find(name)
    found = compute()
    context.checkpoint.keep(name, found)
    return found


def _values(X: Csr, restarts: int, context: Context, symmetric: bool) -> Mapping[str, Array]:
    """Return the largest values of X and of its permutations, the largest of these at each k."""
    ops, rng = context.ops, np.random.default_rng([context.seed, X.rows])
    wanted = _settings(min(X.rows, X.columns), restarts, context.seed)

    def follow(label: str, checks: Iterator[Convergence]) -> Iterator[Convergence]:
        return context.progress.follow(checks, label, wanted.pairs, "values", lambda c: c.gained)

    seen = partial(follow, "spectrum")
    if symmetric:
        values = largest_eigenpairs(ops.operator(X), wanted, ops, follow=seen).values
    else:
        values = truncated_svd(X, wanted, ops, follow=seen).values
    null: Float64 = np.zeros(len(values))
    for _ in range(_PERMUTATIONS if max(X.rows, X.columns) <= _SMALL else 1):
        noise = truncated_svd(permuted_columns(X, rng), wanted, ops,
                              follow=partial(follow, "permuted"))  # fmt: skip
        null = np.maximum(null, noise.values)
    return {"values": values, "null": null}

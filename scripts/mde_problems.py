"""Problems of minimum-distortion embedding, solved by wordgeom and by other programs.

Shared by `scripts/bench mde` and `scripts/reproduce/agrawal`. Results of other programs are stored
in a directory under a digest of the job, and read again by later runs.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.core.types import Array, Float32
from wordgeom.methods.mde import quadratic
from wordgeom.methods.mde.distortions.attractive.huber import Huber
from wordgeom.methods.mde.distortions.attractive.log1p import Log1p
from wordgeom.methods.mde.distortions.repulsive.log import Log
from wordgeom.methods.mde.graphs.keys import to_pairs
from wordgeom.methods.mde.graphs.sampling import random_keys
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.methods.mde.problem import Distortion, Problem, Term
from wordgeom.methods.mde.solve import Settings, get_problem, solve
from wordgeom.optim.constraints import Anchored, Centered, Constraint, Standardized
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool

CENTERED, ANCHORED, STANDARDIZED = "centered", "anchored", "standardized"
QUADRATIC, LOG1P, HUBER = "quadratic", "log1p", "huber"
STEPS, SIZES = 40, ((1000, 10_000), (10_000, 100_000), (100_000, 1_000_000))  # of Table 7.1
_FUNCTIONS: Mapping[str, Distortion] = {
    QUADRATIC: quadratic.Squared(),
    LOG1P: Log1p(),
    HUBER: Huber(),
}
_NONE = np.empty(0, np.int64)
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """A problem: similar and dissimilar pairs, a constraint, a start (n × m) float32.

    anchors (a), values (a × m): of the constraint ANCHORED.
    """

    similar: Pairs
    start: Float32
    dissimilar: Pairs | None = None
    attractive: str = LOG1P
    constraint: str = CENTERED
    anchors: Array | None = None
    values: Array | None = None

    @property
    def terms(self) -> list[Term]:
        """The terms of the average distortion."""
        made = [Term(self.similar, _FUNCTIONS[self.attractive])]
        return made if self.dissimilar is None else [*made, Term(self.dissimilar, Log())]

    def bound(self, context: Context) -> Constraint:
        """Return the constraint."""
        if self.constraint == ANCHORED:
            assert self.anchors is not None
            assert self.values is not None
            return Anchored(self.anchors, self.values, context.ops)
        made = Centered if self.constraint == CENTERED else Standardized
        return made(len(self.start), context.ops)


@dataclass(frozen=True)
class Run:
    """An embedding, the seconds it took, its steps, and norms of the projected gradient.

    processor: seconds of all threads together, which a busy machine changes less; norms: before
    each step, and of wordgeom after the last one too; stored: whether it was read.
    """

    vectors: Array
    seconds: float
    processor: float
    norms: Array
    steps: int
    stored: bool = False
    version: str = ""


@dataclass(frozen=True)
class Rivals:
    """Other programs: the interpreter that has them, or None, and where results are stored."""

    python: str | None
    folder: Path
    threads: int

    def run(self, program: str, job: Mapping[str, Any]) -> Run | None:
        """Return the result of a program, from the directory or a new one; None without it."""
        if self.python is None:
            return None
        content = hashlib.sha256(f"{program} {self.threads}".encode())
        for name, value in sorted(job.items()):
            content.update(name.encode() + np.ascontiguousarray(value).tobytes())
        path = self.folder / f"{program}-{content.hexdigest()[:16]}.npz"
        stored = path.exists()
        if not stored:
            self._make(program, job, path)
        with np.load(path) as made:
            norms = made["norms"] if "norms" in made else np.empty(0)
            return Run(made["vectors"], float(made["seconds"]), float(made["processor"]), norms,
                       len(norms), stored,
                       str(made["version"]))  # fmt: skip

    def _make(self, program: str, job: Mapping[str, Any], path: Path) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            given, result = Path(name, "job.npz"), Path(name, "result.npz")
            np.savez(given, **job)
            command = [str(self.python), str(_HERE / "mde_rivals.py"), program, str(given),
                       str(result), str(self.threads)]  # fmt: skip
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            result.replace(path)

    def pymde(self, case: Case, steps: int, enough: float = 0.0) -> Run | None:
        """Return PyMDE's embedding of the same problem from the same start."""
        parts = [case.similar] if case.dissimilar is None else [case.similar, case.dissimilar]
        edges = np.concatenate([np.column_stack([part.left, part.right]) for part in parts])
        signs = [1.0, -1.0]
        weights = np.concatenate(
            [sign * part.given for part, sign in zip(parts, signs, strict=False)]
        )
        job = {"edges": edges.astype(np.int64), "weights": weights.astype(np.float32),
               "start": case.start, "steps": steps, "enough": enough,
               "attractive": case.attractive, "constraint": case.constraint}  # fmt: skip
        if case.anchors is not None:
            job |= {"anchors": case.anchors, "values": case.values}
        return self.run("pymde", job)


def random_pairs(items: int, number: int, seed: int) -> Pairs:
    """Return distinct random pairs with weight 1 (§7.1)."""
    keys = random_keys(items, number, np.random.default_rng(seed), _NONE)
    return to_pairs(keys, items, np.ones(len(keys)))


def halves(pairs: Pairs, seed: int) -> tuple[Pairs, Pairs]:
    """Return the pairs, divided at random into similar and dissimilar ones (§7.2)."""
    first = np.random.default_rng(seed).random(len(pairs)) < 0.5
    return pairs.chosen(first), pairs.chosen(~first)


def normal(items: int, columns: int, seed: int) -> Float32:
    """Return a random start."""
    return np.random.default_rng(seed).standard_normal((items, columns), np.float32)


def quadratic_case(items: int, number: int, m: int, context: Context) -> Case:
    """Return a standardised quadratic problem of random pairs, with a random start (§7.1)."""
    case = Case(random_pairs(items, number, 1), normal(items, m, 1), attractive=QUADRATIC,
                constraint=STANDARDIZED)  # fmt: skip
    return placed(case, context)


def placed(case: Case, context: Context) -> Case:
    """Return the case with its start projected on the constraint."""
    return replace(case, start=case.bound(context).onto(case.start.copy()))


def ours(case: Case, context: Context, steps: int, *, enough: float = 0.0, batch: int = 0) -> Run:
    """Return wordgeom's embedding; the seconds include the preparation of the pairs."""
    began, worked = time.perf_counter(), time.process_time()
    problem = get_problem(len(case.start), case.terms, context)
    settings = Settings(steps=steps, tol=0.0, enough=enough, batch=batch)
    found = solve(problem, case.start.copy(), case.bound(context), settings, context)
    took, used = time.perf_counter() - began, time.process_time() - worked
    return Run(found.vectors, took, used, np.array(found.norms), len(found.lengths))


def compiled(context: Context) -> None:
    """Run small problems once, so that kernels are compiled before they are timed."""
    one, other = halves(random_pairs(200, 1000, 1), 1)
    for columns in (2, 10, 100):
        for constraint in (CENTERED, STANDARDIZED):
            case = Case(one, normal(200, columns, 1), other, constraint=constraint)
            ours(placed(case, context), context, 2)


def distortion(case: Case, vectors: Array, pool: Pool) -> float:
    """Return the average distortion of an embedding, in float64."""
    problem = Problem(len(case.start), case.terms, pool)
    total = sum(float(each.sum()) for each in problem.distortions(vectors.astype(np.float64)))
    return total / problem.size


def least(case: Case, columns: int, context: Context) -> float:
    """Return the least average distortion of a standardised quadratic problem.

    By all eigenvectors of small graphs, and by SciPy's LOBPCG of others, as in the book.
    """
    found = quadratic.standardized(case.similar, len(case.start), columns, context.pool, 1,
                                   exact=True)  # fmt: skip
    return distortion(case, found, context.pool)

"""The vectors to start from: eigenpairs, the build-up, random ones, or those of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.errors import InputError, RankError
from wordgeom.core.formatting import several
from wordgeom.core.ops import Operator, Ops
from wordgeom.core.types import Csr, Float64, Int64
from wordgeom.linalg.eigensolver import EigenSettings, largest_eigenpairs
from wordgeom.linalg.signs import fix_signs

if TYPE_CHECKING:
    from wordgeom.vectors.keyed import Vectors

_TOL, _ROUNDING = 1e-3, 1e-6  # of the eigenpairs; eigenvalues relative to the largest
_ANCHORS = 10  # times K, of the build-up
_SMALL = 1e-2  # length of a vector that the file lacks, relative to the others


@dataclass(frozen=True)
class Start:
    """Vectors (V × K) float64; notes: on the words that a file lacks or has in addition."""

    vectors: Float64
    notes: tuple[str, ...] = ()


def by_eigenpairs(operator: Operator, K: int, ops: Ops, seed: int) -> Start:
    """Return U Λ^½ of the K largest eigenpairs; columns of eigenvalues that are not positive are 0.

    Raises RankError where none is positive.
    """
    pairs = largest_eigenpairs(operator, EigenSettings(K, tol=_TOL, seed=seed), ops)
    rank = int(np.count_nonzero(pairs.values > _ROUNDING * max(float(pairs.values[0]), 0.0)))
    if rank == 0:
        what = f"the largest eigenvalue of the data is {pairs.values[0]:.3g}, not positive"
        raise RankError(what, do="start with --start random, or check the matrix")
    roots = np.zeros(len(pairs.values))
    roots[:rank] = np.sqrt(pairs.values[:rank])
    return Start(np.asarray(fix_signs(pairs.vectors) * roots, np.float64, order="C"))


def by_build_up(matrix: Any, K: int, ops: Ops) -> Start:
    """Return the vectors of the geometric build-up from frequent words."""
    from wordgeom.methods.gbu.algorithm1 import build_up

    most = min(_ANCHORS * K, len(matrix.frequencies))
    anchors: Int64 = np.sort(np.argsort(-matrix.frequencies, kind="stable")[:most])
    columns: Csr = matrix.columns(anchors)
    return Start(np.array(build_up(columns, anchors, K, 0.5, ops).vectors, np.float64, order="C"))


def at_random(size: int, K: int, deviation: float, rng: np.random.Generator) -> Start:
    """Return independent normal entries (V × K)."""
    return Start(deviation * rng.standard_normal((size, K)))


def from_file(init: Vectors, words: list[str], rng: np.random.Generator | None) -> Start:
    """Return the vectors of a file for `words`; short random ones for words that it lacks.

    Without rng, words that it lacks have zero vectors. Raises InputError where it has none of them.
    """
    rows = np.array([-1 if (row := init.row(word)) is None else row for word in words], np.int64)
    known = rows >= 0
    if not known.any():
        what = f"--init has none of the {len(words):,} words of the matrix"
        raise InputError(what, do="start from vectors of the same words")
    vectors = np.zeros((len(words), init.matrix.shape[1]))
    vectors[known] = init.matrix[rows[known]]
    if not (np.isfinite(vectors).all() and vectors.any()):
        how = "zero" if np.isfinite(vectors).all() else "not finite"
        raise InputError(f"the vectors of --init are {how}", do="check the file")
    absent, zero = int(np.count_nonzero(~known)), int(np.count_nonzero(~vectors[known].any(1)))
    notes = []
    if zero:
        notes.append(
            f"{several(zero, 'word has a zero vector', 'words have zero vectors')} in --init"
        )
    how = several(absent, "word has a zero vector", "words have zero vectors")
    if rng is not None:
        typical = np.sqrt(np.mean(vectors[known] ** 2))
        vectors[~known] = _SMALL * typical * rng.standard_normal((absent, vectors.shape[1]))
        how = f"{several(absent, 'word starts', 'words start')} at random"
    if absent:
        notes.append(f"{how}, absent from --init")
    if extra := len(init.words) - len(np.unique(rows[known])):
        is_not = several(extra, "word of --init is", "words of --init are")
        notes.append(f"{is_not} not in the matrix and left out")
    return Start(vectors, tuple(notes))


def _of_zero(number: int) -> str:
    return several(number, "word has a zero vector", "words have zero vectors")

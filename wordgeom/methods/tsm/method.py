"""Thresholded similarity matching: fewer dimensions that keep lengths and small angles.

Saul (2022). Two items are similar if their cosine exceeds τ. The vectors of fewer dimensions are to
have the same lengths, the same angles between similar items, and cosines up to τ between others.
With `--landmarks`, some items are embedded so, and the others by local reconstruction. Angles
between dissimilar items are not kept; for those, and for speed, project: docs/methods/tsm.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.errors import InputError, RankError
from wordgeom.core.formatting import several
from wordgeom.methods.contract import VECTORS, Result, Status
from wordgeom.methods.loss_curve import loss_curve
from wordgeom.methods.notes import rank_notes
from wordgeom.methods.tsm.options import Options
from wordgeom.runtime.context import Context

if TYPE_CHECKING:
    from wordgeom.core.types import Float32, Float64, Int64
    from wordgeom.methods.tsm.extension import Extension
    from wordgeom.methods.tsm.solve import Matching
    from wordgeom.vectors.keyed import Vectors

__all__ = ["MAKES", "NEEDS", "Options", "fit"]

NEEDS = ("vectors",)
MAKES = (VECTORS,)


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return vectors (n × K) of matching thresholded similarities; zero vectors stay zero.

    Raises RankError for K ≥ n, InputError for vectors that are not finite, a threshold that leaves
    most items without similar ones, and if memory is insufficient.
    """
    from wordgeom.methods.tsm.checks import Plan

    vectors: Vectors = inputs["vectors"]
    used = _used_rows(vectors, options)
    points, scale = _scaled(vectors.matrix[used])
    rows = _landmarks(points, options, context)
    chosen = points if rows is None else points[rows]
    plan = Plan(chosen, options, context)
    matching = plan.match()
    extension = None
    made = matching.vectors
    if rows is not None:
        extension = _extended(points, rows, made, options, context)
        made = extension.vectors
    out = np.zeros((len(vectors.words), options.dim), np.float32)
    out[used] = made / np.float32(scale)
    facts = plan.statistics(matching) | {"zero_vectors": len(vectors.words) - len(used)}
    return _result(out, matching, extension, facts, plan.notes, options)


def _used_rows(vectors: Vectors, options: Options) -> Int64:
    """Return the rows that are not zero. Raises InputError, RankError."""
    from wordgeom.vectors.finite import check_finite
    from wordgeom.vectors.zeros import zero_rows

    n = len(vectors.words)
    check_finite(vectors, range(n), "", "check the vectors")
    used = np.setdiff1d(np.arange(n), zero_rows(vectors.matrix))
    if options.dim >= len(used):
        what = f"--dim {options.dim} needs more than {options.dim} nonzero vectors"
        raise RankError(what, found=f"{len(used):,}", do="lower --dim")
    if vectors.matrix.shape[1] == 1:
        raise InputError("vectors of one dimension have no angles", do="pass other vectors")
    if options.dim > (columns := vectors.matrix.shape[1]):
        what = f"--dim {options.dim} exceeds the number of columns of the vectors"
        raise RankError(what, found=f"{columns:,}", do="lower --dim")
    return used


def _scaled(matrix: Float32) -> tuple[Float64, float]:
    """Return the points times a power of two that makes their lengths about 1, and that power."""
    points = matrix.astype(np.float64)
    largest = float(np.abs(points).max()) * np.sqrt(points.shape[1])
    scale = 2.0 ** -float(np.frexp(largest)[1])
    return points * scale, scale


def _landmarks(points: Float64, options: Options, context: Context) -> Int64 | None:
    """Return the rows to embed first, None for all. Raises InputError."""
    from wordgeom.methods.tsm.landmarks import choose_landmarks
    from wordgeom.methods.tsm.similarities import unit_rows

    m, n = options.landmarks, len(points)
    if not m:
        return None
    if m >= n:
        what = f"--landmarks {m:,} leave none of {n:,} nonzero vectors to extend to"
        raise InputError(what, do="lower --landmarks, or omit it")
    if m <= options.dim:
        what = f"--dim {options.dim} needs more than {options.dim} landmarks"
        raise RankError(what, found=f"{m:,}", do="raise --landmarks, or lower --dim")
    units = unit_rows(points)
    return choose_landmarks(units, m, options.landmark_choice, context)


def _extended(
    points: Float64, rows: Int64, known: Float32, options: Options, context: Context
) -> Extension:
    from wordgeom.methods.tsm.extension import extend

    penalty, k = options.weight_penalty, options.reconstructing
    return extend(points, rows, known, k, penalty, options.tol, context)


def _result(
    vectors: Float32, matching: Matching, extension: Extension | None, facts: dict[str, Any],
    notes: list[str], options: Options,
) -> Result:  # fmt: skip
    """Return the vectors with what to say of them."""
    rank = matching.embedding.rank
    why = "the other eigenvalues of the Gram matrix are not positive"
    notes += rank_notes("the vectors have", rank, options.dim, why, "lower --dim")
    if facts["zero_vectors"]:
        zeros = several(facts["zero_vectors"], "zero vector stays", "zero vectors stay")
        notes.append(f"{zeros} zero")
    missed = False
    if extension is not None:
        missed = not extension.reached
        facts |= {
            "extension_steps": extension.steps, "extension_residual": extension.residual,
            "neighbour_recall": extension.recall, "stranded": extension.stranded,
        }  # fmt: skip
        if missed:
            notes.append(f"the reconstruction reached a residual of {extension.residual:.2g}, "
                         f"and missed --tol {options.tol:g}; raise --tol")  # fmt: skip
        if extension.stranded:
            items = several(extension.stranded, "item has", "items have")
            notes.append(f"{items} no chain of neighbours to a landmark: zero vectors")
    facts["effective_rank"] = rank
    facts |= loss_curve(matching.relative, "update", first=0)
    status = Status.of(missed=missed, deficient=rank < options.dim)
    return Result(vectors, {}, notes, facts, status)

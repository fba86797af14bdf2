"""The mean and the leading principal components, removed (Mu and Viswanath 2018)."""

from __future__ import annotations

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.formatting import several
from wordgeom.transforms.space import Space, Step


def centre(space: Space) -> Step:
    """Subtract the mean of the vectors; raises RankError where nothing is left."""
    found = space.moments().components(1, centre=True)
    if not len(found.directions):
        raise RankError("all vectors are equal, so --center makes them zero", do="leave it out")
    moved = space.mapped(np.eye(space.columns), found.mean)
    return Step(moved, {"mean_length": float(np.linalg.norm(found.mean))})


def remove_top(space: Space, number: int) -> Step:
    """Subtract the mean, and remove the projections on the leading principal components.

    Raises RankError where no other component is left.
    """
    moments = space.moments()
    found = moments.components(number + 1, centre=True)
    if len(found.directions) <= number:
        rank = len(found.directions)
        dimensions = several(rank, "dimension", "dimensions")
        what = f"--remove-top {number} leaves nothing of the {dimensions} of the centred vectors"
        raise RankError(what, do="lower it")
    top = found.directions[:number]
    spread = moments.products - moments.number * np.outer(found.mean, found.mean)
    removed = float(np.einsum("ij,jk,ik->", top, spread, top) / np.trace(spread))
    A = np.eye(space.columns) - top.T @ top
    return Step(space.mapped(A, found.mean), {"removed_variance": removed})

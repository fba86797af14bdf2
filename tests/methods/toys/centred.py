"""Centred vectors: an existing space without its mean, rotated to its principal axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core import options as base
from wordgeom.core.options import option
from wordgeom.methods.contract import VECTORS, Context, Result, Status

NEEDS = ("vectors",)
MAKES = (VECTORS,)


@dataclass(frozen=True)
class Options(base.Options):
    """The options of the method."""

    dim: int = option(2, "dimension of the vectors", low=1, metavar="K")


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return the K leading principal components (V × K) of the centred vectors."""
    centred = inputs["vectors"].matrix - inputs["vectors"].matrix.mean(axis=0)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    made = np.zeros((len(centred), options.dim), np.float32)
    rank = min(options.dim, int(np.count_nonzero(sizes > 1e-6 * sizes[0])))
    made[:, :rank] = centred @ axes[:rank].T
    status = Status.of(missed=False, deficient=rank < options.dim)
    return Result(made, statistics={"effective_rank": rank}, status=status)

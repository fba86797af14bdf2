"""Profiles: how a word's counts are distributed over documents, as a model of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core import options as base
from wordgeom.core.options import option
from wordgeom.methods.contract import MODEL, Context, Result

NEEDS = ("documents",)
MAKES = (MODEL,)


@dataclass(frozen=True)
class Options(base.Options):
    """The options of the method."""

    scale: float = option(1.0, "factor of all numbers", low=0.0)


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return the mean (V) and the largest weight (V) of every word."""
    X = inputs["documents"].full()
    total, most = np.zeros(X.columns), np.zeros(X.columns)
    np.add.at(total, X.indices, X.data)
    np.maximum.at(most, X.indices, X.data)
    arrays = {"means": options.scale * total / X.rows, "peaks": options.scale * most}
    made = np.zeros((X.columns, 1), np.float32)
    return Result(made, arrays, statistics={"documents": X.rows}, summary="profiles of words")

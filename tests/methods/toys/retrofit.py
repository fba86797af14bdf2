"""Retrofitted vectors: the eigenvectors of a matrix, drawn towards words that pairs call alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from wordgeom.core import options as base
from wordgeom.core.options import option
from wordgeom.core.types import Array
from wordgeom.methods.contract import VECTORS, Context, Result

NEEDS = ("matrix", "pairs", "init")
MAKES = (VECTORS,)


@dataclass(frozen=True)
class Options(base.Options):
    """The options of the method."""

    dim: int = option(2, "dimension of the vectors", low=1, metavar="K")
    pull: float = option(0.5, "share of the neighbours' mean in a step", low=0.0, high=1.0)
    rounds: int = option(4, "steps", low=0)


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return vectors after some steps towards the mean of each word's partners in pairs."""
    matrix = inputs["matrix"]
    rows = {word: row for row, word in enumerate(matrix.words)}
    pairs = [(rows[p.left], rows[p.right]) for p in inputs["pairs"]]
    saved = context.checkpoint.restore()
    if saved is not None:
        made, first = saved["made"], int(saved["round"][0])
    else:
        made, first = _start(matrix, inputs.get("init"), options.dim, context), 0

    def steps() -> Iterator[int]:
        nonlocal made, first
        while first < options.rounds:
            made, first = _step(made, pairs, options.pull), first + 1
            context.checkpoint.save(partial(_state, made, first))
            yield 1

    for _ in context.progress.follow(steps(), "retrofitting", options.rounds, "rounds", int):
        pass
    return Result(np.ascontiguousarray(made, np.float32), statistics={"pairs": len(pairs)})


def _state(made: Array, done: int) -> dict[str, Array]:
    return {"made": made, "round": np.array([done])}


def _start(matrix: Any, init: Any, dim: int, context: Context) -> Array:
    if init is not None:
        places = {word: row for row, word in enumerate(init.words)}
        return np.array([init.matrix[places[word], :dim] for word in matrix.words], np.float64)
    G = matrix.full()
    dense = np.zeros((G.rows, G.columns))
    dense[np.repeat(np.arange(G.rows), np.diff(G.indptr)), G.indices] = G.data
    values, vectors = context.ops.eigh_top(dense, dim)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _step(made: Array, pairs: list[tuple[int, int]], pull: float) -> Array:
    moved = made.copy()
    for left, right in pairs:
        moved[left] += pull * (made[right] - made[left])
        moved[right] += pull * (made[left] - made[right])
    return moved

"""Figures 9 and 11: Isomap of the same similar pairs, and the eigenvalues of its Gram matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from saul_cells import MATCHED, PROJECTED, Cell, Cells, stored
from saul_data import Study
from saul_matching import Grid
from saul_plots import Panel, draw, spectra
from tables_report import Claim, conclude, judge, show

from wordgeom.core.types import Array, Float64
from wordgeom.evaluation.common_words import common_words
from wordgeom.evaluation.isomap import fitted
from wordgeom.evaluation.near_pairs import near_measures, near_values
from wordgeom.evaluation.options import COSINE, EUCLIDEAN
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors, digest_of, read_vectors

ISOMAP = "Isomap"
_SHOWN, _HALF = 200, 100  # eigenvalues, by magnitude


@dataclass(frozen=True)
class Paths:
    """Isomap of one data set: J by dimension, and its largest eigenvalues by magnitude."""

    jaccard: Mapping[int, float]
    eigenvalues: Sequence[float]

    @property
    def first_negative(self) -> int | None:
        """The rank, from 1, of the first negative eigenvalue."""
        ranks = [k for k, value in enumerate(self.eigenvalues, 1) if value < 0]
        return ranks[0] if ranks else None


def run(studies: Sequence[Study], few: Grid, cells: Cells, context: Context) -> None:
    """Print Figures 9 and 11 as tables, and draw them; few: results of the smaller sets."""
    dims = list(few[studies[0].name])
    found = {one.name: _paths(one.few, few[one.name], cells, context) for one in studies}
    rows = [
        [name, *(f"{row[d]:.3f}" for d in dims)]
        for study in studies
        for name, row in _jaccards(study.name, few[study.name], found[study.name]).items()
    ]
    show("### Figure 9: J of the smaller sets", ["", *(f"d = {d}" for d in dims)], rows)
    conclude(criteria_9(found, few, dims))
    head = ["", "first negative", f"negative of 1–{_HALF}", f"of {_HALF + 1}–{_SHOWN}"]
    show("### Figure 11: eigenvalues of Isomap's Gram matrix, by magnitude", head,
         [[name, f"{one.first_negative}", *map(str, _negative(one))]
          for name, one in found.items()])  # fmt: skip
    conclude(criteria_11(found, dims))
    _draw(found, few, dims, cells.folder)


def _jaccards(name: str, made: Mapping[int, Cell], paths: Paths) -> dict[str, dict[int, float]]:
    return {
        f"{name}, {MATCHED}": {d: cell.matched["J"] for d, cell in made.items()},
        f"{name}, {ISOMAP}": dict(paths.jaccard),
        f"{name}, {PROJECTED}": {d: cell.projected["J"] for d, cell in made.items()},
    }


def _paths(data: Path, made: Mapping[int, Cell], cells: Cells, context: Context) -> Paths:
    """Return what Isomap makes of the items that TSM made the results of."""
    vectors, dims = read_vectors(data), list(made)
    tau = made[dims[0]].facts["tau"]
    key = {"vectors": digest_of(vectors), "tau": tau, "dims": dims}
    path = cells.folder / f"{data.stem}-isomap.json"
    value = stored(path, key, lambda: isomap_facts(vectors, dims, tau, context))
    jaccard = {int(d): float(J) for d, J in value["jaccard"].items()}
    return Paths(jaccard, value["eigenvalues"])


def isomap_facts(
    vectors: Vectors, dims: Sequence[int], tau: float, context: Context
) -> dict[str, Any]:
    """Return J by dimension, and the largest eigenvalues by magnitude.

    Isomap's embeddings are nested: one of d dimensions is the first d columns of a wider one.
    """
    units = common_words(vectors, vectors, COSINE, COSINE).theirs.units(slice(None))
    isomap = fitted(units, max(dims), tau, context)
    embedded = np.asarray(isomap.embedding_, np.float32)
    jaccard = {
        d: _jaccard(Vectors(vectors.words, np.ascontiguousarray(embedded[:, :d])), vectors, tau,
                    context)
        for d in dims
    }  # fmt: skip
    values = eigenvalues(isomap.dist_matrix_, min(_SHOWN, len(units) - 1))
    return {"jaccard": jaccard, "eigenvalues": values.tolist()}


def _jaccard(made: Vectors, vectors: Vectors, tau: float, context: Context) -> float:
    """Return J of pairs that are near by their distance, ½‖y − y′‖² < 1 − τ."""
    words = common_words(made, vectors, EUCLIDEAN, COSINE)
    every = np.arange(len(words.items))
    values = near_values(words, every, tau, context, by_distance=True)
    measure = near_measures(0, by_distance=True)[0]
    return measure.of(values[:, measure.columns], values)


def eigenvalues(distances: Array, number: int) -> Float64:
    """Return the largest eigenvalues by magnitude of the Gram matrix of distances (n × n)."""
    from scipy.sparse.linalg import eigsh

    G = -0.5 * np.square(distances)
    G -= G.mean(axis=0)
    G -= G.mean(axis=1)[:, None]
    start = np.random.default_rng(1).standard_normal(len(G))
    values = eigsh(G, number, which="LM", v0=start, return_eigenvectors=False)
    return np.asarray(values[np.argsort(-np.abs(values), kind="stable")])


def _negative(paths: Paths) -> tuple[int, int]:
    """Return how many of the first and of the second hundred are negative."""
    values = np.array(paths.eigenvalues)
    return int((values[:_HALF] < 0).sum()), int((values[_HALF:] < 0).sum())


def criteria_9(found: Mapping[str, Paths], made: Grid, dims: Sequence[int]) -> list[Claim]:
    """Return the criteria of Figure 9."""
    low, high = dims[0], dims[-1]
    above, fallen = [], []
    for name, paths in found.items():
        ours, theirs = made[name][low].matched["J"], paths.jaccard[low]
        above.append((f"{name}, d = {low}: {theirs:.3f} and {ours:.3f}", theirs > ours))
        best = max(paths.jaccard.values())
        last = paths.jaccard[high]
        fallen.append((f"{name}: {last:.3f} of at most {best:.3f}", last < best))
    return [judge("Figure 9, low d", above), judge("Figure 9, decline", fallen)]


def criteria_11(found: Mapping[str, Paths], dims: Sequence[int]) -> list[Claim]:
    """Return the criteria of Figure 11."""
    onset, frequent = [], []
    for name, paths in found.items():
        falls = [d for before, d in pairwise(dims) if paths.jaccard[d] < paths.jaccard[before]]
        first = paths.first_negative
        if falls:
            met = first is not None and first <= falls[0]
            onset.append((f"{name}: rank {first}, J falls at d = {falls[0]}", met))
        one, other = _negative(paths)
        frequent.append((f"{name}: {one} and {other}", other > one))
    return [judge("Figure 11, onset", onset), judge("Figure 11, frequency", frequent)]


def _draw(found: Mapping[str, Paths], made: Grid, dims: Sequence[int], folder: Path) -> None:
    panels = []
    for name, paths in found.items():
        curves = _jaccards(name, made[name], paths)
        named = {key.removeprefix(f"{name}, "): list(row.items()) for key, row in curves.items()}
        panels.append(Panel(name, named))
    draw([("J", panels)], folder / "figure-9.png", ticks=dims)
    spectra({name: one.eigenvalues for name, one in found.items()}, folder / "figure-11.png")

"""Measure how far to trust each imputed vector: its neighbours, and how well they fit.

Distances are between points. The error of an imputed entity is ‖x_i − Σ_j w_ij x_j‖ divided by
the distance to its nearest neighbour: 0 if the neighbours reconstruct it, 1 if they do no better
than the nearest one alone. It is dimensionless, and at most 1 with `simplex` weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wordgeom.core.formatting import several
from wordgeom.core.frames import data_frame, html_table
from wordgeom.core.types import Array, Bytes, Csr, Float64, Int32, Int64, offsets
from wordgeom.imputation.graph import Graph
from wordgeom.imputation.identical import identical_limits
from wordgeom.imputation.name_order import name_order
from wordgeom.imputation.nearest_anchors import NO_ANCHOR, nearest_anchors
from wordgeom.imputation.weights import reconstruction_errors
from wordgeom.runtime.pool import Pool

if TYPE_CHECKING:
    from pandas import DataFrame

_SHOWN = 20  # rows that a notebook shows
KNOWN, IMPUTED, REATTACHED, NGRAMS = "known", "imputed", "mended", "n-grams"
SOURCES = (KNOWN, IMPUTED, REATTACHED, NGRAMS)


class Row(NamedTuple):
    """A row of the trust table; undefined fields are "" (anchor) or nan.

    anchor: nearest known entity; distance: to the anchor; error: see the module;
    anchor_weight: total weight of known entities; neighbours: names and positive weights, largest
    first; tied: neighbours as far as the last one, 0 where the number of neighbours caused no
    choice between equals; excluded: 1 if more were tied than the limit, else 0.
    """

    entity: str
    source: str
    anchor: str
    distance: float
    error: float
    anchor_weight: float
    neighbours: tuple[tuple[str, float], ...]
    tied: int = 0
    excluded: int = 0


@dataclass(frozen=True, eq=False)
class Trust:
    """The trust table of n entities, in the domain's order; iterates over `Row`s.

    Entities that the domain does not describe follow, with NGRAMS as their source.

    source (n) uint8: index into SOURCES; anchor (n) int64; distance, error, anchor_weight (n)
    float64; weights (n × n): rows of known entities have no entries; tied (n) int32, excluded (n)
    uint8: see `Row`, 0 for known entities.
    """

    names: Sequence[str]
    source: Bytes
    anchor: Int64
    distance: Float64
    error: Float64
    anchor_weight: Float64
    weights: Csr
    tied: Int32
    excluded: Bytes

    def __repr__(self) -> str:
        number = np.bincount(self.source, minlength=len(SOURCES)).tolist()
        parts = [f"{n:,} {source}" for n, source in zip(number, SOURCES, strict=True) if n]
        return f"<Trust of {several(len(self), 'entity', 'entities')}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        rows = [Row._fields[:6], *(_shown(self.row(n)) for n in range(min(len(self), _SHOWN)))]
        more = len(self) - _SHOWN
        return html_table(rows, 3, f"… and {more:,} more" if more > 0 else "")

    def to_frame(self) -> DataFrame:
        """Return the table as a DataFrame of pandas: a row per entity. Raises UnavailableError."""
        return data_frame([row._asdict() for row in self]).set_index(Row._fields[0])

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Row]:
        return (self.row(entity) for entity in range(len(self)))

    def row(self, entity: int) -> Row:
        """Return the row of one entity."""
        anchor = int(self.anchor[entity])
        others, weights = self.neighbours(entity)
        return Row(
            self.names[entity],
            SOURCES[self.source[entity]],
            "" if anchor == NO_ANCHOR else self.names[anchor],
            float(self.distance[entity]),
            float(self.error[entity]),
            float(self.anchor_weight[entity]),
            tuple(zip((self.names[j] for j in others.tolist()), weights.tolist(), strict=True)),
            int(self.tied[entity]),
            int(self.excluded[entity]),
        )

    def followed_by(self, names: Sequence[str]) -> Trust:
        """Return the table with further entities, whose vectors come from their n-grams."""
        m, n = len(names), len(self) + len(names)
        weights, blank = self.weights, np.full(m, np.nan)
        indptr = np.append(weights.indptr, np.full(m, weights.indptr[-1]))
        return Trust(
            [*self.names, *names],
            np.append(self.source, np.full(m, SOURCES.index(NGRAMS), np.uint8)),
            np.append(self.anchor, np.full(m, NO_ANCHOR)),
            np.append(self.distance, blank), np.append(self.error, blank),
            np.append(self.anchor_weight, blank),
            Csr(indptr, weights.indices, weights.data, n),
            np.append(self.tied, np.zeros(m, np.int32)),
            np.append(self.excluded, np.zeros(m, np.uint8)),
        )  # fmt: skip

    def neighbours(self, entity: int) -> tuple[Int32, Float64]:
        """Return an entity's neighbours (k) with positive weights (k), largest first."""
        part = slice(self._ranked.indptr[entity], self._ranked.indptr[entity + 1])
        return self._ranked.indices[part], self._ranked.data[part]

    @cached_property
    def _ranked(self) -> Csr:
        """The positive weights (n × n), largest first in each row."""
        n, owner = len(self), self.weights.entry_rows
        order = np.lexsort((-self.weights.data, owner))
        order = order[self.weights.data[order] > 0]
        indptr = offsets(np.bincount(owner[order], minlength=n))
        return Csr(indptr, self.weights.indices[order], self.weights.data[order], n)


def _shown(row: Row) -> tuple[str, ...]:
    """Return the first fields of a row as text, without its neighbours."""
    return (*row[:3], *map(format_number, row[3:6]))


def assess_trust(
    names: Sequence[str],
    points: Float64,
    known: Array,
    graph: Graph | None,
    weights: Csr,
    reattached: Int64,
    pool: Pool,
) -> Trust:
    """Return the trust table of the points (n × d); known (n) marks the anchors.

    graph: None if nothing is imputed; weights (q × n): of the unknown entities; reattached: the
    numbers of the reattached entities.
    """
    n, unknown = len(names), np.flatnonzero(~known)
    near = nearest_anchors(points, known, graph, name_order(names), pool)
    error = np.full(n, np.nan)
    rest = reconstruction_errors(points, weights, unknown, pool)
    nearest = near.neighbour[unknown]
    nearest[nearest**2 <= identical_limits(points)[unknown]] = 0.0
    error[unknown] = _ratio(rest, nearest)
    embedded = embed_rows(weights, unknown, n)
    source = np.where(known, 0, 1).astype(np.uint8)
    source[reattached] = 2
    return Trust(
        names, source, near.anchor, near.distance, error,
        _anchor_weights(embedded, known), embedded,
        _of_unknown(None if graph is None else graph.tied, known, np.int32),
        _of_unknown(None if graph is None else graph.excluded, known, np.uint8),
    )  # fmt: skip


def embed_rows(weights: Csr, rows: Int64, n: int) -> Csr:
    """Return n rows: those numbered `rows`, ascending, are the weights, the others are empty."""
    lengths = np.zeros(n, np.int64)
    lengths[rows] = np.diff(weights.indptr)
    return Csr(offsets(lengths), weights.indices, weights.data, n)


def _of_unknown(values: Array | None, known: Array, kind: type) -> Array:
    """Return the values (n) of unknown entities, 0 for the known ones."""
    return np.where(known, 0, 0 if values is None else values).astype(kind)


def _ratio(rest: Float64, nearest: Float64) -> Float64:
    """Return rest / nearest, 0 for an entity with an identical other one."""
    twin = nearest == 0
    return np.asarray(np.where(twin, 0.0, rest / np.where(twin, 1.0, nearest)))


def _anchor_weights(weights: Csr, known: Array) -> Float64:
    sums = np.bincount(weights.entry_rows, weights.data * known[weights.indices], weights.rows)
    return np.where(known, np.nan, sums)


def format_number(value: float) -> str:
    """Return a number as the table has it, empty where there is none."""
    return "" if math.isnan(value) else f"{value:.6g}"

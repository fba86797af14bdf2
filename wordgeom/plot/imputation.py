"""Imputed entities among their neighbours, projected on a plane of maximal variance.

The plane is fitted to all entities in the plot, or with `--around` to one entity and its
neighbours. Known entities are filled, imputed ones hollow. An imputed vector is a weighted mean of
its neighbours': lines lead to them, as wide as the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wordgeom.core.errors import InputError, MissingInputError
from wordgeom.core.formatting import several
from wordgeom.core.options import suggestion
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.imputation.output import table_path
from wordgeom.imputation.trust import Trust
from wordgeom.imputation.trust_table import read_trust
from wordgeom.linalg.signs import fix_signs
from wordgeom.plot.figure import INK, PALE, saved_figure
from wordgeom.plot.labels import boxes, fix_layout, outline, place_labels
from wordgeom.vectors.keyed import read_vectors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST, _MOST_AROUND = 500, 60  # entities in a legible plot
_NAMED = 12  # entities labelled by default
_DEPTH = 2  # steps in the graph from the entity in the centre
_FEWEST = 3  # vectors that span a plane
_WIDTH, _HEIGHT = 7.2, 5.6  # inches
_THINNEST, _WIDEST = 0.2, 2.2  # line width in points: at weight 0, increase at weight 1
_SMALL, _LARGE, _RING = 6.0, 16.0, 90.0  # area of a marker, square points
_FAINT = "#e9e9e9"
_NEAR = 3.0  # pixels between a marker and a name


@dataclass(frozen=True, eq=False)
class Chart:
    """The content of a plot: m entities and e lines.

    names (m); positions (m × 2); known (m) bool; edges (e × 2), from an imputed entity to a
    neighbour, and weights (e); named: entities with a label; centre: the entity of `--around`, or
    None.
    """

    names: Sequence[str]
    positions: Float64
    known: Array
    edges: Int64
    weights: Float64
    named: Int64
    caption: str
    centre: int | None = None


def read_chart(
    path: str | Path, table: str | Path | None, labels: Sequence[str], around: str | None
) -> Chart:
    """Return the plot of a vectors file and its trust table, `vectors.imputed.tsv`.

    Raises what reading raises, and InputError for a name that is not in the table or an entity
    without a vector.
    """
    trust = read_trust(_table_of(Path(path)) if table is None else Path(table))
    numbers = {name: entity for entity, name in enumerate(trust.names)}
    chosen = [_number(name, numbers) for name in labels]
    if around is None:
        named = np.array(chosen or _best_supported(trust), np.int64)
        shown = _overview(trust, named)
        return _chart(trust, _rows(path, trust, shown), shown, named, shown)
    centre = _number(around, numbers)
    near, shown = _within(trust, centre)
    named = np.union1d(chosen or near, centre)
    if (far := np.setdiff1d(named, shown)).size:
        do = "omit its --label, or pass it to --around"
        raise InputError(f"{trust.names[far[0]]!r} is not near {around!r}", do=do)
    plane = np.array(near if len(near) >= _FEWEST else shown)
    chart = _chart(trust, _rows(path, trust, shown), shown, named, plane)
    return replace(chart, centre=int(np.searchsorted(shown, centre)))


def draw(chart: Chart, path: str | Path) -> str:
    """Draw a chart into `path`, return its caption; raises what `figure.saved_figure` raises."""
    with saved_figure(path, _WIDTH, _HEIGHT) as figure:
        axes = figure.subplots()
        _lines(axes, chart)
        _marks(axes, chart)
        axes.set_title(chart.caption)  # reserves the height; completed below
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_xticks([])
        axes.set_yticks([])
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        axes.margins(0.06)
        axes.legend(ncols=2, frameon=False, handletextpad=0.3, loc="lower right",
                    bbox_to_anchor=(1, 1), borderaxespad=0.0)  # fmt: skip
        fix_layout(figure)
        omitted = _label(axes, chart)
        caption = chart.caption + (
            f", {several(omitted, 'name', 'names')} omitted" if omitted else ""
        )
        axes.set_title(f"{caption}; line width: weight")
    return caption


def _table_of(vectors: Path) -> Path:
    """Return the trust table beside a vectors file; raises MissingInputError."""
    table = table_path(vectors)
    if table.exists():
        return table
    if not vectors.exists():
        raise MissingInputError("no such file", where=vectors, do="check the path")
    do = "create it with wordgeom impute, or name one with --table"
    raise MissingInputError("no trust table beside it", where=vectors, do=do)


def _number(name: str, numbers: dict[str, int]) -> int:
    if name not in numbers:
        raise InputError(f"unknown entity {name!r}", do=suggestion(name, numbers))
    return numbers[name]


def _best_supported(trust: Trust) -> list[int]:
    """Return the imputed entities with the largest weight on known ones."""
    imputed = np.flatnonzero(trust.source > 0)
    order = np.argsort(-trust.anchor_weight[imputed], kind="stable")
    return [int(entity) for entity in imputed[order[:_NAMED]]]


def _overview(trust: Trust, named: Int64) -> Int64:
    """Return all entities, or the named ones, their neighbours and a regular sample of others."""
    n = len(trust)
    if n <= _MOST:
        return np.arange(n)
    near = np.unique(np.concatenate([named, *(trust.neighbours(int(e))[0] for e in named)]))
    others = np.setdiff1d(np.arange(n), near)
    room = max(0, _MOST - len(near))
    spaced = others[np.linspace(0, len(others) - 1, room).astype(np.int64)]
    return np.union1d(near, spaced)


def _within(trust: Trust, centre: int) -> tuple[list[int], Int64]:
    """Return an entity with its neighbours in either direction, and those within two steps.

    The former in order of weight, the latter ascending.
    """
    weights = trust.weights
    used = weights.data > 0
    source, weight = weights.entry_rows[used], weights.data[used]
    target = weights.indices[used].astype(np.int64)
    steps = [[centre]]
    for _ in range(_DEPTH):
        out, back = np.isin(source, steps[-1]), np.isin(target, steps[-1])
        adjacent = np.concatenate((target[out], source[back]))
        order = np.argsort(-np.concatenate((weight[out], weight[back])), kind="stable")
        reached = set(chain(*steps))
        steps.append([e for e in dict.fromkeys(adjacent[order].tolist()) if e not in reached])
    shown = list(chain(*steps))[:_MOST_AROUND]
    return shown[: 1 + len(steps[1])], np.sort(np.array(shown, np.int64))


def _rows(path: str | Path, trust: Trust, shown: Int64) -> Float64:
    """Return the vectors (m × K) of the entities in the plot."""
    vectors = read_vectors(path)
    rows = [vectors.index.get(trust.names[entity], -1) for entity in shown.tolist()]
    if min(rows) < 0:
        name = trust.names[int(shown[rows.index(-1)])]
        do = "name the vectors that belong to the table"
        raise InputError(f"no vector for {name!r}", where=path, do=do)
    return np.asarray(vectors.matrix[rows], np.float64)


def _chart(trust: Trust, rows: Float64, shown: Int64, named: Int64, plane: Int64) -> Chart:
    """Return the chart of the entities `shown`, on the plane fitted to `plane`."""
    index_of = {entity: k for k, entity in enumerate(shown.tolist())}
    edges, weights = [], []
    for k, entity in enumerate(shown.tolist()):
        for other, weight in zip(*trust.neighbours(entity), strict=True):
            if other in index_of:
                edges.append((k, index_of[int(other)]))
                weights.append(float(weight))
    known = trust.source[shown] == 0
    of = "" if len(shown) == len(trust) else f" of {len(trust):,}"
    caption = f"{len(shown):,}{of} entities, {np.sum(~known):,} imputed"
    return Chart(
        [trust.names[entity] for entity in shown.tolist()],
        _plane(rows, np.searchsorted(shown, plane)), known,
        np.array(edges, np.int64).reshape(-1, 2), np.array(weights),
        np.searchsorted(shown, named), caption,
    )  # fmt: skip


def _plane(rows: Float64, fitted: Int64) -> Float64:
    """Return vectors (m × K) on the first two principal components of `fitted` rows (m × 2)."""
    centre = rows[fitted].mean(axis=0)
    _, _, components = np.linalg.svd(rows[fitted] - centre, full_matrices=False)
    positions = np.zeros((len(rows), 2))
    used = min(2, len(components))
    positions[:, :used] = fix_signs((rows - centre) @ components[:used].T)
    return positions


def _lines(axes: Axes, chart: Chart) -> None:
    """Draw the lines of the named entities or of the centre, and others faintly."""
    from matplotlib.collections import LineCollection

    own = _own_edges(chart)
    for chosen, ink, depth in ((~own, _FAINT, 1), (own, PALE, 2)):
        widths = _THINNEST + _WIDEST * chart.weights[chosen]
        ends = list(chart.positions[chart.edges[chosen]])
        axes.add_collection(LineCollection(ends, linewidths=widths, colors=ink, zorder=depth))


def _marks(axes: Axes, chart: Chart) -> None:
    """Draw the entities: named ones larger, their neighbours dark, others pale."""
    near = np.isin(np.arange(len(chart.known)), _near(chart))
    size = np.full(len(chart.known), _SMALL if len(chart.known) > _MOST_AROUND else _LARGE)
    size[chart.named] = _LARGE
    for chosen, name in ((chart.known, "known"), (~chart.known, "imputed")):
        for tone, ink, depth in ((~near, PALE, 3.0), (near, INK, 3.5)):
            fill = ink if name == "known" else "white"
            x, y = chart.positions[chosen & tone].T
            axes.scatter(x, y, s=size[chosen & tone], c=fill, edgecolors=ink, linewidths=0.7,
                         zorder=depth)  # fmt: skip
        fill = INK if name == "known" else "white"  # dark in the legend
        axes.scatter([], [], s=_LARGE, c=fill, edgecolors=INK, linewidths=0.7, label=name)
    if chart.centre is not None:
        x, y = chart.positions[chart.centre]
        axes.scatter(x, y, s=_RING, c="none", edgecolors=INK,
                     linewidths=1.2, zorder=4)  # fmt: skip


def _own_edges(chart: Chart) -> Array:
    """Return which lines (e) belong to named entities, or to the centre."""
    if chart.centre is None:
        return np.isin(chart.edges[:, 0], chart.named)
    return np.asarray((chart.edges == chart.centre).any(axis=1))


def _near(chart: Chart) -> Int64:
    """Return the named entities and the other ends of their lines."""
    return np.union1d(chart.named, chart.edges[_own_edges(chart)])


def _label(axes: Axes, chart: Chart) -> int:
    """Write names, the centre's first; return the number of names omitted for lack of space."""
    marks = boxes(axes.transData.transform(chart.positions), _NEAR)
    occupied = [marks[n] for n in _near(chart).tolist()]
    first = [chart.centre] if chart.centre is not None else []
    others = [n for n in chart.named.tolist() if n not in first]
    omitted = 0
    for chosen, weight in ((first, "bold"), (others, "normal")):
        names, drop = [chart.names[n] for n in chosen], chosen is others
        omitted += place_labels(
            axes, chart.positions[chosen], names, occupied, marks=marks, drop=drop, weight=weight
        )  # fmt: skip
    for text in axes.texts:
        outline(text)
        text.set_zorder(6 if text.get_fontweight() == "bold" else 5)
    return omitted

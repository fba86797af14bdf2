"""Imputed entities among their neighbours, projected on a plane of maximal variance.

The plane is fitted to all entities in the plot, or with `--around` to one entity and its
neighbours. Known entities are filled, imputed ones hollow. An imputed vector is a weighted mean of
its neighbours': lines lead to them, as wide as the weights. Known entities that support the named
ones are named too, in their own colour.
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
from wordgeom.plot.colours import BLUE, VERMILION, Painted, painted
from wordgeom.plot.figure import INK, PALE, fix_layout, legend_above, saved_figure, write_caption
from wordgeom.plot.labels import Labels, coinciding, omission
from wordgeom.plot.options import ColourOptions, PlotOptions
from wordgeom.vectors.keyed import in_nfc, read_vectors, row_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST, _MOST_AROUND = 500, 60  # entities in a legible plot
_NAMED = 12  # entities labelled by default
_DEPTH = 2  # steps in the graph from the entity in the centre
_FEWEST = 3  # vectors that span a plane
_WIDTH, _HEIGHT = 7.2, 5.6  # inches
_THINNEST, _WIDEST = 0.2, 2.2  # line width in points: at weight 0, increase at weight 1
_SMALL, _LARGE, _RING = 6.0, 16.0, 90.0  # area of a marker, square points
_ROUNDING = 1e-9  # of a position, relative to the largest coordinate
_FAINT = "#e9e9e9"
_NEAR = 4.5  # points between the centre of a marker and a name
_GROUPS = ((True, "known", BLUE), (False, "imputed", VERMILION))


@dataclass(frozen=True, eq=False)
class Chart:
    """The content of a plot: m entities and e lines.

    names (m); positions (m × 2); known (m) bool; edges (e × 2), from an imputed entity to a
    neighbour, and weights (e); named: entities with a label; supports: known entities with a label
    besides, the most important first; centre: the entity of `--around`, or None.
    """

    names: Sequence[str]
    positions: Float64
    known: Array
    edges: Int64
    weights: Float64
    named: Int64
    caption: str
    supports: Int64
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
    if len(shown) == 1:
        what = f"{around!r} has no neighbours, and no imputed entity depends on it"
        raise InputError(what, do="choose another for --around")
    named = np.union1d(chosen or near, centre)
    if (far := np.setdiff1d(named, shown)).size:
        do = "omit its --label, or pass it to --around"
        raise InputError(f"{trust.names[far[0]]!r} is not near {around!r}", do=do)
    plane = np.array(near if len(near) >= _FEWEST else shown)
    chart = _chart(trust, _rows(path, trust, shown), shown, named, plane)
    return replace(chart, centre=int(np.searchsorted(shown, centre)))


def draw(
    chart: Chart,
    path: str | Path,
    options: PlotOptions | None = None,
    colours: ColourOptions | None = None,
) -> str:
    """Draw a chart into `path`, return its caption.

    Raises what `figure.saved_figure` and `colours.read_colouring` raise.
    """
    paint = painted(None if colours is None else colours.colour_by, chart.names)
    caption = _caption(chart, paint)
    with saved_figure(path, _WIDTH, _HEIGHT, options, chart.names) as figure:
        axes = figure.subplots()
        _lines(axes, chart)
        _marks(axes, chart, paint)
        if paint is not None:
            paint.legend(figure, axes)
        write_caption(figure, caption + omission(len(chart.names)), options)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_xticks([])
        axes.set_yticks([])
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        axes.margins(0.06)
        legend_above(figure, axes.get_legend_handles_labels()[0])
        fix_layout(figure)
        caption += omission(_label(axes, chart, coloured=paint is not None))
        write_caption(figure, caption, options)
    return caption


def _caption(chart: Chart, paint: Painted | None) -> str:
    """Return the chart's caption, with what its colours and positions do not show."""
    parts = [chart.caption]
    if hidden := coinciding(chart.positions):
        parts.append(f"{several(hidden, 'entity is', 'entities are')} at the position of another")
    if paint is not None and paint.caption:
        parts.append(paint.caption)
    return ", ".join(parts)


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
    number = row_in(numbers, name)
    if number is None:  # a table may have kept another Unicode form
        number = row_in({in_nfc(known): number for known, number in numbers.items()}, name)
    if number is None:
        do = f"{suggestion(name, numbers)} (with a name map, entities have the names it gave)"
        raise InputError(f"unknown entity {name!r}", do=do)
    return number


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
    names = [trust.names[entity] for entity in shown.tolist()]
    places = [vectors.row(name) for name in names]
    if None in places:
        name = names[places.index(None)]
        do = "name the vectors that belong to the table"
        raise InputError(f"no vector for {name!r}", where=path, do=do)
    return np.asarray(vectors.matrix[np.array(places, np.int64)], np.float64)


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
    entities = (
        several(len(shown), "entity", "entities") if not of else f"{len(shown):,}{of} entities"
    )
    caption = f"{entities}, {np.sum(~known):,} imputed"
    return Chart(
        [trust.names[entity] for entity in shown.tolist()],
        _plane(rows, np.searchsorted(shown, plane)), known,
        np.array(edges, np.int64).reshape(-1, 2), np.array(weights),
        np.searchsorted(shown, named), caption, _supports(trust, shown, named),
    )  # fmt: skip


def _supports(trust: Trust, shown: Int64, named: Int64) -> Int64:
    """Return up to 12 known entities in the plot, with the largest weights in the named ones."""
    weights = np.zeros(len(trust))
    for entity in named.tolist():
        others, shares = trust.neighbours(entity)
        weights[others] += shares
    weights[trust.source > 0] = 0
    weights[named] = 0
    order = shown[np.argsort(-weights[shown], kind="stable")][:_NAMED]
    return np.searchsorted(shown, order[weights[order] > 0])


def _plane(rows: Float64, fitted: Int64) -> Float64:
    """Return vectors (m × K) on the first two principal components of `fitted` rows (m × 2)."""
    centre = rows[fitted].mean(axis=0)
    _, _, components = np.linalg.svd(rows[fitted] - centre, full_matrices=False)
    positions = np.zeros((len(rows), 2))
    used = min(2, len(components))
    positions[:, :used] = fix_signs((rows - centre) @ components[:used].T)
    positions[np.abs(positions) < _ROUNDING * np.abs(rows).max()] = 0.0
    return positions


def _lines(axes: Axes, chart: Chart) -> None:
    """Draw the lines of the named entities or of the centre, and others faintly."""
    from matplotlib.collections import LineCollection

    own = _own_edges(chart)
    for chosen, ink, depth in ((~own, _FAINT, 1), (own, PALE, 2)):
        widths = _THINNEST + _WIDEST * chart.weights[chosen]
        ends = list(chart.positions[chart.edges[chosen]])
        axes.add_collection(LineCollection(ends, linewidths=widths, colors=ink, zorder=depth))


def _marks(axes: Axes, chart: Chart, paint: Painted | None) -> None:
    """Draw the entities: named ones and their neighbours larger and on top, others pale."""
    near = np.isin(np.arange(len(chart.known)), _near(chart))
    size = np.full(len(chart.known), _SMALL if len(chart.known) > _MOST_AROUND else _LARGE)
    size[near] = _LARGE
    markers = np.array(["o"] * len(size) if paint is None else paint.markers)
    for known, name, own in _GROUPS:
        inks = np.array([own] * len(size) if paint is None else paint.colours)
        for marker, top in ((m, t) for m in np.unique(markers) for t in (False, True)):
            chosen = (chart.known == known) & (near == top) & (markers == marker)
            x, y = chart.positions[chosen].T
            fill = inks[chosen].tolist() if known else "white"
            axes.scatter(x, y, s=size[chosen], c=fill, edgecolors=inks[chosen].tolist(),
                         marker=marker, linewidths=1.0, zorder=3.5 if top else 3.0,
                         alpha=1.0 if top or paint is not None else 0.5)  # fmt: skip
        ink = own if paint is None else INK
        fill, label = ink if known else "white", f"{name} ({np.sum(chart.known == known):,})"
        axes.scatter([], [], s=_LARGE, c=fill, edgecolors=ink, linewidths=0.8, label=label)
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


def _label(axes: Axes, chart: Chart, *, coloured: bool) -> int:
    """Write names, the centre's first; return the number of names omitted for lack of space."""
    first = [chart.centre] if chart.centre is not None else []
    others = [n for n in chart.named.tolist() if n not in first]
    labels = Labels(axes, chart.positions[[*first, *others]], chart.positions, _NEAR)
    for chosen, weight in ((first, "bold"), (others, "normal"), (chart.supports, "normal")):
        for n in np.asarray(chosen, np.int64).tolist():
            colour = BLUE if chart.known[n] and not coloured else INK
            labels.place(chart.positions[[n]], [chart.names[n]], colour=colour, weight=weight)
    return labels.omitted

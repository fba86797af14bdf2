"""Imputed entities among their neighbours: vectors in their plane of greatest variance.

Around an entity it is the plane of that one and its neighbours, and theirs lie where they fall.
Known entities are filled, imputed ones hollow; lines to the neighbours whose weighted mean an
imputed vector is, as wide as the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.errors import InputError, MissingInputError
from wordgeom.core.options import suggestion
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.imputation.output import table_path
from wordgeom.imputation.trust import Trust
from wordgeom.imputation.trust_table import read_trust
from wordgeom.linalg.signs import fix_signs
from wordgeom.plot.figure import INK, PALE, drawn
from wordgeom.plot.labels import place, settle
from wordgeom.vectors.keyed import read_vectors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST, _MOST_AROUND = 500, 60  # entities of a picture that can be read
_NAMED = 12  # entities that are named when the user names none
_DEPTH = 2  # steps from the one that is drawn around
_FEWEST = 3  # vectors that have a plane
_WIDTH, _HEIGHT = 7.2, 5.6  # inches
_THINNEST, _WIDEST = 0.2, 2.2  # points of a line of weight 0, and what weight 1 adds
_SMALL, _LARGE, _RING = 6.0, 16.0, 90.0  # square points of a mark
_FAINT = "#e9e9e9"
_NEAR = 3.0  # pixels around a mark that a name keeps off


@dataclass(frozen=True, eq=False)
class Chart:
    """What is drawn: m entities and e lines.

    names (m); places (m × 2); known (m) bool; edges (e × 2), from the imputed to its neighbour,
    and weights (e); named: the numbers of those whose names are written; centre: the number of the
    one that is drawn around, or None.
    """

    names: Sequence[str]
    places: Float64
    known: Array
    edges: Int64
    weights: Float64
    named: Int64
    caption: str
    centre: int | None = None


def read_chart(
    path: str | Path, table: str | Path | None, labels: Sequence[str], around: str | None
) -> Chart:
    """Return what to draw of a vectors file and its table of trust, `vectors.imputed.tsv`.

    Raises what reading raises, and InputError for a name that the table does not hold and for an
    entity that the vectors do not.
    """
    trust = read_trust(_table_of(Path(path)) if table is None else Path(table))
    numbers = {name: entity for entity, name in enumerate(trust.names)}
    asked = [_number(name, numbers) for name in labels]
    if around is None:
        named = np.array(asked or _leaning(trust), np.int64)
        shown = _overview(trust, named)
        return _chart(trust, _rows(path, trust, shown), shown, named, shown)
    centre = _number(around, numbers)
    near, shown = _within(trust, centre)
    named = np.union1d(asked or near, centre)
    if (far := np.setdiff1d(named, shown)).size:
        do = "leave its --label out, or draw it with --around"
        raise InputError(f"{trust.names[far[0]]!r} is not drawn around {around!r}", do=do)
    plane = np.array(near if len(near) >= _FEWEST else shown)
    chart = _chart(trust, _rows(path, trust, shown), shown, named, plane)
    return replace(chart, centre=int(np.searchsorted(shown, centre)))


def draw(chart: Chart, path: str | Path) -> str:
    """Draw a chart into `path` and return its caption; raises what `figure.drawn` raises."""
    with drawn(path, _WIDTH, _HEIGHT) as figure:
        axes = figure.subplots()
        _lines(axes, chart)
        _marks(axes, chart)
        axes.set_title(chart.caption)  # for its height: its end is known when names are placed
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_xticks([])
        axes.set_yticks([])
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        axes.margins(0.06)
        above: dict[str, Any] = {
            "loc": "lower right",
            "bbox_to_anchor": (1, 1),
            "borderaxespad": 0.0,
        }
        axes.legend(ncols=2, frameon=False, handletextpad=0.3, **above)
        settle(figure)
        left = _write_names(axes, chart)
        caption = chart.caption + (f", names without room: {left:,}" if left else "")
        axes.set_title(f"{caption}; lines as wide as weights")
    return caption


def _table_of(vectors: Path) -> Path:
    """Return the table of trust beside a vectors file. Raises MissingInputError for none."""
    table = table_path(vectors)
    if table.exists():
        return table
    if not vectors.exists():
        raise MissingInputError("no such file", where=vectors, do="check the path")
    do = "make it with wordgeom impute, or name one with --table"
    raise MissingInputError("has no table of trust beside it", where=vectors, do=do)


def _number(name: str, numbers: dict[str, int]) -> int:
    if name not in numbers:
        raise InputError(f"no entity {name!r}", do=suggestion(name, numbers))
    return numbers[name]


def _leaning(trust: Trust) -> list[int]:
    """Return the imputed entities that lean most on known ones: the best to be looked at."""
    imputed = np.flatnonzero(trust.source > 0)
    order = np.argsort(-trust.anchor_weight[imputed], kind="stable")
    return [int(entity) for entity in imputed[order[:_NAMED]]]


def _overview(trust: Trust, named: Int64) -> Int64:
    """Return all entities, or the named with their neighbours and others evenly spaced."""
    n = len(trust)
    if n <= _MOST:
        return np.arange(n)
    near = np.unique(np.concatenate([named, *(trust.neighbours(int(e))[0] for e in named)]))
    others = np.setdiff1d(np.arange(n), near)
    room = max(0, _MOST - len(near))
    spaced = others[np.linspace(0, len(others) - 1, room).astype(np.int64)]
    return np.union1d(near, spaced)


def _within(trust: Trust, centre: int) -> tuple[list[int], Int64]:
    """Return an entity with those that lean on it or it on; and with theirs too, ascending."""
    weights = trust.weights
    owner = np.repeat(np.arange(weights.rows), np.diff(weights.indptr))
    used = weights.data > 0
    one, other, size = owner[used], weights.indices[used].astype(np.int64), weights.data[used]
    steps = [[centre]]
    for _ in range(_DEPTH):
        out, back = np.isin(one, steps[-1]), np.isin(other, steps[-1])
        found = np.concatenate((other[out], one[back]))
        order = np.argsort(-np.concatenate((size[out], size[back])), kind="stable")
        reached = set(chain(*steps))
        steps.append([e for e in dict.fromkeys(found[order].tolist()) if e not in reached])
    shown = list(chain(*steps))[:_MOST_AROUND]
    return shown[: 1 + len(steps[1])], np.sort(np.array(shown, np.int64))


def _rows(path: str | Path, trust: Trust, shown: Int64) -> Float64:
    """Return the vectors (m × K) of the entities that are shown."""
    vectors = read_vectors(path)
    rows = [vectors.index.get(trust.names[entity], -1) for entity in shown.tolist()]
    if min(rows) < 0:
        name = trust.names[int(shown[rows.index(-1)])]
        do = "name the vectors that the table was made with"
        raise InputError(f"holds no vector of {name!r}", where=path, do=do)
    return np.asarray(vectors.matrix[rows], np.float64)


def _chart(trust: Trust, rows: Float64, shown: Int64, named: Int64, plane: Int64) -> Chart:
    """Return a chart of the entities `shown`, in the plane of some of them."""
    place_of = {entity: k for k, entity in enumerate(shown.tolist())}
    edges, weights = [], []
    for k, entity in enumerate(shown.tolist()):
        for other, weight in zip(*trust.neighbours(entity), strict=True):
            if other in place_of:
                edges.append((k, place_of[int(other)]))
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
    """Return vectors (m × K) in the first two principal directions of some of them, as (m × 2)."""
    middle = rows[fitted].mean(axis=0)
    _, _, directions = np.linalg.svd(rows[fitted] - middle, full_matrices=False)
    places = np.zeros((len(rows), 2))
    kept = min(2, len(directions))
    places[:, :kept] = fix_signs((rows - middle) @ directions[:kept].T)
    return places


def _lines(axes: Axes, chart: Chart) -> None:
    """Draw the lines of the named entities, or of the centre, and those of the others faintly."""
    from matplotlib.collections import LineCollection

    own = _own_edges(chart)
    for chosen, ink, depth in ((~own, _FAINT, 1), (own, PALE, 2)):
        widths = _THINNEST + _WIDEST * chart.weights[chosen]
        ends = list(chart.places[chart.edges[chosen]])
        axes.add_collection(LineCollection(ends, linewidths=widths, colors=ink, zorder=depth))


def _marks(axes: Axes, chart: Chart) -> None:
    """Draw the entities; the named and their neighbours in ink, the named larger."""
    near = np.isin(np.arange(len(chart.known)), _near(chart))
    size = np.full(len(chart.known), _SMALL if len(chart.known) > _MOST_AROUND else _LARGE)
    size[chart.named] = _LARGE
    for chosen, name in ((chart.known, "known"), (~chart.known, "imputed")):
        for tone, ink, depth in ((~near, PALE, 3.0), (near, INK, 3.5)):
            fill = ink if name == "known" else "white"
            x, y = chart.places[chosen & tone].T
            axes.scatter(x, y, s=size[chosen & tone], c=fill, edgecolors=ink, linewidths=0.7,
                         zorder=depth)  # fmt: skip
        fill = INK if name == "known" else "white"  # the key's, whatever is pale
        axes.scatter([], [], s=_LARGE, c=fill, edgecolors=INK, linewidths=0.7, label=name)
    if chart.centre is not None:
        x, y = chart.places[chart.centre]
        axes.scatter(x, y, s=_RING, c="none", edgecolors=INK,
                     linewidths=1.2, zorder=4)  # fmt: skip


def _own_edges(chart: Chart) -> Array:
    """(e) Tell which lines matter: those of the named entities, or to and from the centre."""
    if chart.centre is None:
        return np.isin(chart.edges[:, 0], chart.named)
    return np.asarray((chart.edges == chart.centre).any(axis=1))


def _near(chart: Chart) -> Int64:
    """Return the named entities and those at the other ends of their lines."""
    return np.union1d(chart.named, chart.edges[_own_edges(chart)])


def _write_names(axes: Axes, chart: Chart) -> int:
    """Write the names that find room, the centre's first, and return how many do not."""
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import Bbox

    pixels = axes.transData.transform(chart.places)
    marks = [Bbox([point, point]).padded(_NEAR) for point in pixels]
    taken = [marks[n] for n in _near(chart).tolist()]
    first = [chart.centre] if chart.centre is not None else []
    others = [n for n in chart.named.tolist() if n not in first]
    left = 0
    for chosen, weight in ((first, "bold"), (others, "normal")):
        points = [(float(x), float(y)) for x, y in chart.places[chosen]]
        names = [chart.names[n] for n in chosen]
        left += place(
            axes, points, names, taken, marks=marks, drop=chosen is others, weight=weight
        )  # fmt: skip
    for text in axes.texts:  # to be read where a line or a mark is behind
        depth = 6 if text.get_fontweight() == "bold" else 5
        text.set(path_effects=[withStroke(linewidth=2.0, foreground="white")], zorder=depth)
    return left

"""Direct labels: names next to their points, placed with as little overlap as possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wordgeom.core.types import Float64
from wordgeom.plot.figure import PALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation, Text
    from matplotlib.transforms import Bbox

_Place = tuple[int, int, str, str]

# Offsets in points with the anchored side of the text, the most readable first.
_PLACES = (
    (7, 0, "left", "center"),
    (-7, 0, "right", "center"),
    (5, 5, "left", "bottom"),
    (5, -5, "left", "top"),
    (-5, 5, "right", "bottom"),
    (-5, -5, "right", "top"),
    (7, 14, "left", "bottom"),
    (7, -14, "left", "top"),
    (-7, 14, "right", "bottom"),
    (-7, -14, "right", "top"),
    (7, 26, "left", "bottom"),
    (7, -26, "left", "top"),
)
_CLOSE = 6  # leading positions at which a name clearly belongs to its point
_AWAY = ((20, 20), (32, 0), (0, 28), (44, 24), (28, 44), (60, 0), (70, 40), (0, 64))  # with leaders
_FAR = tuple(
    (x * across, y * up, {1: "left", -1: "right"}[across] if x else "center", "center")
    for x, y in _AWAY
    for across, up in ((1, 1), (1, -1), (-1, 1), (-1, -1))
)
_OUTSIDE = 9.0  # cost of area outside the axes, relative to overlap
_APART = 1.5  # pixels between names


def fix_layout(figure: Figure) -> None:
    """Fix a figure's layout, so that pixel coordinates are final."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def boxes(pixels: Float64, near: float) -> list[Bbox]:
    """Return boxes around points (n × 2) that reach `near` pixels to each side."""
    from matplotlib.transforms import Bbox

    return [Bbox([point, point]).padded(near) for point in pixels]


def outline(text: Text) -> None:
    """Give a name a white outline, so that it is legible in front of lines and markers."""
    from matplotlib.patheffects import withStroke

    text.set_path_effects([withStroke(linewidth=2.0, foreground="white")])


def place_labels(
    axes: Axes,
    points: Float64,
    names: Sequence[str],
    occupied: list[Bbox],
    *,
    marks: Sequence[Bbox] = (),
    drop: bool = False,
    leaders: bool = False,
    weight: str = "normal",
) -> int:
    """Write each name next to its point (n × 2), off the boxes in `occupied` (pixels) if possible.

    The layout must be fixed. Placed names are added to `occupied`. marks: boxes that names avoid if
    they can; drop: omit names without space next to their point, and with `leaders`, first try
    positions further away, joined by a leader line. Returns the number of omitted names.
    """
    omitted = 0
    # From right to left, so that the right one of two close points has its name on the right.
    for (x, y), name in sorted(zip(points.tolist(), names, strict=True), reverse=True):
        point, close = (x, y), _PLACES[:_CLOSE] if drop else _PLACES
        cost, box, offset = _best(axes, point, name, close, occupied, marks, weight)
        leader = cost > 0 and leaders
        if leader:
            cost, box, offset = _best(axes, point, name, _FAR, occupied, marks, weight)
        if drop and cost > 0:
            omitted += 1
            continue
        _annotate(axes, point, name, offset, weight, leader=leader)
        occupied.append(box.padded(_APART))
    return omitted


def _best(
    axes: Axes,
    point: tuple[float, float],
    name: str,
    places: Sequence[_Place],
    occupied: Sequence[Bbox],
    marks: Sequence[Bbox],
    weight: str,
) -> tuple[float, Bbox, _Place]:
    """Return the lowest cost of a name over the positions, its box and the position."""
    tried = []
    for offset in places:
        text = _annotate(axes, point, name, offset, weight)
        box = text.get_window_extent()
        cost = _cost(box, occupied, axes.get_window_extent())
        tried.append((cost, sum(_overlap(box, mark) for mark in marks), box, offset))
        text.remove()
    cost, _, box, offset = min(tried, key=lambda attempt: attempt[:2])
    return cost, box, offset


def _annotate(
    axes: Axes,
    point: tuple[float, float],
    name: str,
    offset: _Place,
    weight: str,
    *,
    leader: bool = False,
) -> Annotation:
    x, y, side, height = offset
    line = {"arrowstyle": "-", "linewidth": 0.5, "color": PALE, "shrinkA": 1, "shrinkB": 2}
    return axes.annotate(
        name, point, (x, y), textcoords="offset points", fontsize="small", fontweight=weight,
        horizontalalignment=side, verticalalignment=height, annotation_clip=False,
        arrowprops=line if leader else None,
    )  # fmt: skip


def _cost(box: Bbox, occupied: Sequence[Bbox], within: Bbox) -> float:
    """Return the area of a name, in square pixels, that overlaps boxes or lies outside."""
    covered = sum(_overlap(box, other) for other in occupied)
    outside = box.width * box.height - _overlap(box, within)
    return covered + _OUTSIDE * outside


def _overlap(box: Bbox, other: Bbox) -> float:
    width = float(min(box.x1, other.x1) - max(box.x0, other.x0))
    height = float(min(box.y1, other.y1) - max(box.y0, other.y0))
    return max(width, 0.0) * max(height, 0.0)

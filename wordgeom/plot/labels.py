"""Names beside what they name, where they cover as little as possible: no legend to look up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wordgeom.plot.figure import PALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

_Place = tuple[int, int, str, str]

# Offsets in points with the sides of the text that they are of, the most readable first.
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
_CLOSE = 6  # of the places, those where a name is plainly its point's
_AWAY = ((20, 20), (32, 0), (0, 28), (44, 24), (28, 44), (60, 0), (70, 40), (0, 64))  # with a line
_FAR = tuple(
    (x * across, y * up, {1: "left", -1: "right"}[across] if x else "center", "center")
    for x, y in _AWAY
    for across, up in ((1, 1), (1, -1), (-1, 1), (-1, -1))
)
_OUTSIDE = 9.0  # how much worse a name outside the axes is than one on top of something
_APART = 1.5  # pixels between names


def settle(figure: Figure) -> None:
    """Fix a figure's layout, so that places in it are known."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def place(
    axes: Axes,
    points: Sequence[tuple[float, float]],
    names: Sequence[str],
    taken: list[Bbox],
    *,
    marks: Sequence[Bbox] = (),
    drop: bool = False,
    lines: bool = False,
    weight: str = "normal",
) -> int:
    """Write each name beside its point, off what is `taken` (in pixels), if there is room.

    The figure must be settled. Names that find their place are added to `taken`. marks: what they
    rather do not cover; drop: a name without room close to its point is left out, unless there is
    some further away and `lines` may lead there. Returns how many were.
    """
    left = 0
    # From right to left: of close neighbours the right one then has its name on the right.
    for point, name in sorted(zip(points, names, strict=True), reverse=True):
        near = _PLACES[:_CLOSE] if drop else _PLACES
        cost, box, offset = _best(axes, point, name, near, taken, marks, weight)
        led = cost > 0 and lines
        if led:
            cost, box, offset = _best(axes, point, name, _FAR, taken, marks, weight)
        if drop and cost > 0:
            left += 1
            continue
        _written(axes, point, name, offset, weight, led=led)
        taken.append(box.padded(_APART))
    return left


def _best(
    axes: Axes,
    point: tuple[float, float],
    name: str,
    places: Sequence[_Place],
    taken: Sequence[Bbox],
    marks: Sequence[Bbox],
    weight: str,
) -> tuple[float, Bbox, _Place]:
    """Return the least cost of a name at one of some places, its box there, and the place."""
    tried = []
    for offset in places:
        text = _written(axes, point, name, offset, weight)
        box = text.get_window_extent()
        cost = _cost(box, taken, axes.get_window_extent())
        tried.append((cost, sum(_shared(box, mark) for mark in marks), box, offset))
        text.remove()
    cost, _, box, offset = min(tried, key=lambda one: one[:2])
    return cost, box, offset


def _written(
    axes: Axes,
    point: tuple[float, float],
    name: str,
    offset: _Place,
    weight: str,
    *,
    led: bool = False,
) -> Annotation:
    x, y, side, height = offset
    line = {"arrowstyle": "-", "linewidth": 0.5, "color": PALE, "shrinkA": 1, "shrinkB": 2}
    return axes.annotate(
        name, point, (x, y), textcoords="offset points", fontsize="small", fontweight=weight,
        horizontalalignment=side, verticalalignment=height, annotation_clip=False,
        arrowprops=line if led else None,
    )  # fmt: skip


def _cost(box: Bbox, taken: Sequence[Bbox], within: Bbox) -> float:
    """Return how many square pixels of a name cover something or lie outside."""
    covered = sum(_shared(box, other) for other in taken)
    outside = box.width * box.height - _shared(box, within)
    return covered + _OUTSIDE * outside


def _shared(box: Bbox, other: Bbox) -> float:
    width = float(min(box.x1, other.x1) - max(box.x0, other.x0))
    height = float(min(box.y1, other.y1) - max(box.y0, other.y0))
    return max(width, 0.0) * max(height, 0.0)

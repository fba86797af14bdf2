"""Direct labels: each name beside its point, so that no two overlap and none leaves the axes.

Names are placed in order of importance. Each takes the free position that covers the fewest
markers: next to its point, or farther away at the end of a leader line. A name has no leader only
where its own point is clearly the nearest one with a name. A name without a free position is
omitted and counted. The result depends on nothing but the points, names and size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.formatting import several
from wordgeom.core.types import Array, Float64
from wordgeom.plot.figure import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 40  # characters of a name
_POINT = 1 / 72  # inches
# Sides of a point in order of preference, and distances between it and its name, in points.
_SIDES = ((1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1), (0, -1))
_ANGLES = 24  # of positions with a leader line
_RINGS = (12.0, 18.0, 26.0, 36.0, 48.0, 62.0, 78.0, 96.0)
_LED, _FARTHER, _WORSE = 0.25, 0.05, 0.01  # cost of a leader, a ring and a lesser side
_COVERED = 0.1  # cost of a marker below a name
_PASSED, _BESIDE = 2.0, 0.3  # cost of a leader through markers, and of being beside others' points
_CLEAR = 1.5  # ratio of the distances of other points and its own, for a name without a leader
_CROWD = 200  # names from which no leader lines are tried
_APART = 1.5  # points between names
_STEPS = np.linspace(0.0, 1.0, 24)  # of a leader line, checked for names in its way
_ROUNDED = 9  # digits of a position, relative to the extent of all


def printable(text: str, most: int = LONGEST) -> str:
    """Return a text as at most `most` printable characters, by leaving out its middle."""
    plain = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    tail = most // 3
    return plain if len(plain) <= most else f"{plain[: most - 1 - tail]}…{plain[-tail:]}"


def boxes(pixels: Float64, near: float) -> Float64:
    """Return boxes (n × 4: left, bottom, right, top) that reach `near` beyond points (n × 2)."""
    return np.hstack((pixels - near, pixels + near))


def coinciding(points: Float64) -> int:
    """Return how many points (n × 2) lie on an earlier one, up to rounding."""
    low, extent = points.min(axis=0), np.ptp(points, axis=0)
    relative = (points - low) / np.where(extent > 0, extent, 1.0)
    return len(points) - len(np.unique(np.round(relative, _ROUNDED), axis=0))


def omission(omitted: int) -> str:
    """Return the end of a caption that counts omitted names, "" for none."""
    names = several(omitted, "name", "names")
    return f", {names} omitted for lack of room" if omitted else ""


class Labels:
    """The names in an axes whose layout is fixed.

    points (n × 2): data coordinates of markers with names, which no name covers; others (m × 2):
    of markers that names cover only if they must; near: points between a marker's centre and its
    name; blocked (b × 4): more boxes, in pixels, that no name covers.
    """

    def __init__(
        self,
        axes: Axes,
        points: Float64,
        others: Float64,
        near: float,
        blocked: Float64 | None = None,
    ) -> None:
        self._axes, self.omitted, self._crowd = axes, 0, False
        self._pixel = axes.figure.dpi * _POINT  # pixels in a point
        self._near, self._apart = near * self._pixel, _APART
        self._points = self._pixels(points)
        hard = boxes(self._points, 0.8 * self._near)
        self._blocked = hard if blocked is None else np.vstack((hard, blocked))
        self._others = boxes(self._pixels(others), 0.8 * self._near)
        self._names = np.empty((0, 4))
        self._leaders = np.empty((0, 4))  # ends of the leader lines
        self._led = np.empty((0, 4))  # points along them, as boxes
        box = axes.get_window_extent()
        self._frame = np.array([box.x0, box.y0, box.x1, box.y1])
        self._sizes: dict[tuple[str, str], tuple[float, float]] = {}

    def crowd(self, apart: float) -> None:
        """Place names from now on beside their points, without leader lines, `apart` points apart.

        Points with a name are not covered by other names then.
        """
        self._crowd, self._apart = True, apart

    def place(
        self,
        points: Float64,
        names: Sequence[str],
        *,
        colour: str = INK,
        weight: str = "normal",
        between: tuple[float, float] = (-np.inf, np.inf),
    ) -> None:
        """Write the names of points (n × 2, data coordinates), the most important first.

        between: heights in pixels which the names do not leave.
        """
        for point, pixel, name in zip(points, self._pixels(points), names, strict=True):
            shown = printable(name)
            covered = self._crowd and bool(_within(pixel[None, None], self._names).any())
            found = None if covered else self._best(pixel, self._size(shown, weight), between)
            if found is None:
                self.omitted += 1
                continue
            box, led = found
            if self._crowd:
                self._blocked = np.vstack((self._blocked, boxes(pixel[None], 0.8 * self._near)))
            if led:
                line = _line(pixel, _centres(box[None]))[0]
                self._leaders = np.vstack((self._leaders, np.hstack(line[[0, -1]])))
                self._led = np.vstack((self._led, np.tile(line, 2)))
            margin = self._apart * self._pixel * np.array([-1, -1, 1, 1])
            self._names = np.vstack((self._names, box + margin))
            self._write(shown, point, _centres(box[None])[0] - pixel, led, colour, weight)

    def _pixels(self, points: Float64) -> Float64:
        return np.asarray(self._axes.transData.transform(np.reshape(points, (-1, 2))), np.float64)

    def _size(self, name: str, weight: str) -> tuple[float, float]:
        """Return the width and height of a name in pixels."""
        if (name, weight) not in self._sizes:
            text = self._axes.text(0, 0, name, fontsize="small", fontweight=weight)
            box = text.get_window_extent()
            text.remove()
            self._sizes[name, weight] = box.width, box.height
        return self._sizes[name, weight]

    def _best(
        self, pixel: Float64, size: tuple[float, float], between: tuple[float, float]
    ) -> tuple[Float64, bool] | None:
        """Return the best free box of a name, and whether it has a leader line."""
        if not np.isfinite(pixel).all():
            return None
        places, costs, led = _candidates(pixel, np.array(size), self._near, self._pixel)
        crowd = self._crowd or len(self._points) > _CROWD
        if crowd:
            places, costs, led = places[~led], costs[~led], led[~led]
        inside = (places[:, :2] >= self._frame[:2]) & (places[:, 2:] <= self._frame[2:])
        free: Array = np.asarray(inside.all(axis=1))
        free &= (places[:, 1] >= between[0]) & (places[:, 3] <= between[1])
        for obstacles in (self._names, self._blocked, self._led):
            free &= ~_overlaps(places, _around(obstacles, places)).any(axis=1)
        if not crowd:
            free[free] = led[free] | self._unambiguous(pixel, places[free])
        free[free] = ~led[free] | self._unobstructed(pixel, places[free])
        free[free] = ~led[free] | ~_crosses(pixel, _centres(places[free]), self._leaders)
        if not free.any():
            return None
        places, costs, led = places[free], costs[free], led[free]
        near = _around(self._others, np.vstack((places, np.tile(pixel, (1, 2)))))
        covered = _COVERED * (_overlaps(places, near) > 0).sum(axis=1)
        passed = _within(_line(pixel, _centres(places)), near).mean(axis=1) * led
        enclosed = _overlaps(places, self._beside(pixel, size[1])) > 0
        best = int(np.argmin(costs + covered + _PASSED * passed + _BESIDE * enclosed.sum(axis=1)))
        return places[best], bool(led[best])

    def _beside(self, pixel: Float64, reach: float) -> Float64:
        """Return the surroundings of other points with names, where their leader lines start."""
        own = (self._points == pixel).all(axis=1)
        return boxes(self._points[~own], reach)

    def _unambiguous(self, pixel: Float64, places: Float64) -> Array:
        """Return for which places (n) a point is clearly nearer than other points with names."""
        others = self._points[(self._points != pixel).any(axis=1)]
        other = _distances(places, others).min(axis=1, initial=np.inf)
        return np.asarray(other > _CLEAR * _distances(places, pixel[None])[:, 0])

    def _unobstructed(self, pixel: Float64, places: Float64) -> Array:
        """Return whether the leader line to each place (n) crosses no name."""
        steps = _line(pixel, _centres(places))
        near = _around(self._names, np.vstack((places, np.tile(pixel, (1, 2)))))
        return np.asarray(~_within(steps, near).any(axis=1))

    def _write(
        self, name: str, point: Float64, offset: Float64, led: bool, colour: str, weight: str
    ) -> None:
        line = {"arrowstyle": "-", "linewidth": 0.4, "color": colour, "shrinkA": 0, "shrinkB": 1}
        x, y = (offset / self._pixel).tolist()
        text: Any = self._axes.annotate(
            name, (float(point[0]), float(point[1])), (x, y), textcoords="offset points",
            fontsize="small", fontweight=weight, color=colour, horizontalalignment="center",
            verticalalignment="center", annotation_clip=False, arrowprops=line if led else None,
            zorder=5 if led else 6,  # names are in front of leader lines
            bbox={"boxstyle": "square,pad=0", "facecolor": "white", "alpha": 0.7, "linewidth": 0},
        )  # fmt: skip
        text.set_in_layout(False)  # it is inside its axes


def _candidates(
    pixel: Float64, size: Float64, near: float, scale: float
) -> tuple[Float64, Float64, Array]:
    """Return the boxes (k × 4) where a name may be, their costs (k), which have a leader (k)."""
    sides = np.array(_SIDES, np.float64)
    gaps = near / np.maximum(np.hypot(*sides.T), 1.0)[:, None] + scale
    angles = 2 * np.pi * np.arange(_ANGLES) / _ANGLES
    rays = np.round(np.column_stack((np.cos(angles), np.sin(angles))), 6)
    places = [_boxes(pixel, sides, gaps, size)]
    costs = [_WORSE * np.arange(len(sides))]
    for ring, radius in enumerate(_RINGS):
        places.append(_boxes(pixel, rays, np.full((len(rays), 1), near + radius * scale), size))
        costs.append(_LED + _FARTHER * ring + _WORSE * np.arange(_ANGLES) / _ANGLES)
    led = np.arange(sum(map(len, costs))) >= len(sides)
    return np.vstack(places), np.concatenate(costs), led


def _boxes(pixel: Float64, directions: Float64, gaps: Float64, size: Float64) -> Float64:
    """Return boxes of a size whose nearest side or corner is a gap away, in these directions."""
    centres = pixel + directions * (gaps + size / 2)
    return np.hstack((centres - size / 2, centres + size / 2))


def _centres(places: Float64) -> Float64:
    return np.asarray((places[:, :2] + places[:, 2:]) / 2)


def _line(pixel: Float64, ends: Float64) -> Float64:
    """Return points (n × steps × 2) along the lines from a point to each end (n × 2)."""
    return np.asarray(pixel + _STEPS[:, None] * (ends - pixel)[:, None])


def _within(points: Float64, obstacles: Float64) -> Array:
    """Return which points (k × s × 2) are in any obstacle (n × 4)."""
    low, high = obstacles[:, :2], obstacles[:, 2:]
    inside = (points[:, :, None] >= low) & (points[:, :, None] <= high)
    return np.asarray(np.asarray(inside.all(axis=3)).any(axis=2))


def _crosses(pixel: Float64, ends: Float64, lines: Float64) -> Array:
    """Return whether the line from a point to each end (k × 2) crosses any line (n × 4)."""

    def side(start: Float64, stop: Float64, point: Float64) -> Float64:
        along, to = stop - start, point - start
        return np.asarray(np.sign(along[..., 0] * to[..., 1] - along[..., 1] * to[..., 0]))

    a, b, stop = lines[None, :, :2], lines[None, :, 2:], ends[:, None]
    apart = side(pixel, stop, a) * side(pixel, stop, b) < 0  # lines from one point do not cross
    return np.asarray((apart & (side(a, b, pixel) * side(a, b, stop) < 0)).any(axis=1))


def _around(obstacles: Float64, places: Float64) -> Float64:
    """Return the obstacles that are in the bounding box of the places."""
    low, high = places[:, :2].min(axis=0), places[:, 2:].max(axis=0)
    chosen = ((obstacles[:, :2] <= high) & (obstacles[:, 2:] >= low)).all(axis=1)
    return np.asarray(obstacles[chosen])


def _distances(places: Float64, points: Float64) -> Float64:
    """Return the distances of boxes (k × 4) from points (m × 2), k × m."""
    low, high = places[:, None, :2] - points, points - places[:, None, 2:]
    return np.asarray(np.linalg.norm(np.maximum(np.maximum(low, high), 0.0), axis=2))


def _overlaps(places: Float64, others: Float64) -> Float64:
    """Return the areas that boxes (k × 4) share with others (m × 4), k × m; 1 for a point."""
    low = np.maximum(places[:, None, :2], others[None, :, :2])
    high = np.minimum(places[:, None, 2:], others[None, :, 2:])
    degenerate = (others[:, :2] == others[:, 2:]).all(axis=1)
    sides = np.where(degenerate[None, :, None], (high >= low) * 1.0, np.maximum(high - low, 0.0))
    return np.asarray(sides.prod(axis=2))

"""Figures that are inspected instead of written."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def unwritten(monkeypatch: pytest.MonkeyPatch, plot: ModuleType) -> list[Any]:
    """The figures that `plot` draws from now on, which are neither rendered nor written."""
    from matplotlib.figure import Figure

    from wordgeom.plot import figure

    figures: list[Any] = []
    saved_figure = plot.saved_figure

    @contextmanager
    def keeping(*args: Any) -> Iterator[Any]:
        with saved_figure(*args) as made:
            figures.append(made)
            yield made

    @contextmanager
    def discarded(_: Path) -> Iterator[io.BytesIO]:
        yield io.BytesIO()

    monkeypatch.setattr(plot, "saved_figure", keeping)
    monkeypatch.setattr(figure, "atomic_file", discarded)
    monkeypatch.setattr(Figure, "savefig", lambda *_, **__: None)
    return figures


def caption_of(figure: Any) -> str:
    """The caption below the plot, on one line."""
    return " ".join(figure.get_supxlabel().split())


def assert_tidy(figure: Any) -> None:
    """Check that no label overlaps another or leaves its axes, and no part of the plot another."""
    from matplotlib.text import Text

    figure.draw_without_rendering()  # puts each text in its place
    for axes in figure.axes:
        labels = [(t.get_text(), Text.get_window_extent(t)) for t in axes.texts]
        frame = axes.get_window_extent()
        for name, box in labels:
            assert _inside(box, frame), f"{name!r} leaves its axes"
        for (one, box), (two, other) in combinations(labels, 2):
            assert not _meet(box, other), f"{one!r} overlaps {two!r}"
    parts = [(f"axes {n}", axes.get_tightbbox()) for n, axes in enumerate(figure.axes)]
    parts += [("legend", legend.get_window_extent()) for legend in figure.legends]
    parts += [(t.get_text(), t.get_window_extent()) for t in figure.texts if t.get_text()]
    for name, box in parts:
        assert _inside(box, figure.bbox), f"{name!r} leaves the figure"
    for (one, box), (two, other) in combinations(parts, 2):
        assert not _meet(box, other), f"{one!r} overlaps {two!r}"


def _inside(box: Any, frame: Any) -> bool:
    return bool(
        frame.x0 - 1 <= box.x0 and box.x1 <= frame.x1 + 1
        and frame.y0 - 1 <= box.y0 and box.y1 <= frame.y1 + 1
    )  # fmt: skip


def _meet(one: Any, two: Any) -> bool:
    """Whether two boxes share more than a pixel's width of area."""
    across = min(one.x1, two.x1) - max(one.x0, two.x0)
    return bool(across > 1 and min(one.y1, two.y1) - max(one.y0, two.y0) > 1)

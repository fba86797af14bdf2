"""Figures that are inspected instead of written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest


def unwritten(monkeypatch: pytest.MonkeyPatch, plot: ModuleType) -> list[Any]:
    """The figures that `plot` draws from now on, which are not written."""
    figures: list[Any] = []

    @contextmanager
    def keeping(path: Any, width: float, height: float) -> Iterator[Any]:
        from matplotlib.figure import Figure

        figures.append(Figure(figsize=(width, height), layout="constrained"))
        yield figures[-1]

    monkeypatch.setattr(plot, "saved_figure", keeping)
    return figures

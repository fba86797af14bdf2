"""Word vectors at the times of `--at`, written next to a model."""

from __future__ import annotations

import os

from wordgeom.core.types import Float32
from wordgeom.matrices.times import read_time
from wordgeom.methods.contract import Export
from wordgeom.methods.dlsa.model import DynamicModel


def exports_at(at: str | None, eig: float) -> list[Export]:
    """Return an export for each of the comma-separated times in `at`.

    eig: power of the singular values. Raises OptionError.
    """
    return [] if at is None else [_export(text.strip(), eig) for text in at.split(",")]


def _export(text: str, eig: float) -> Export:
    time = read_time(text, "--at must be times")

    def vectors(model: DynamicModel) -> Float32:
        return model.words_at(time, eig)

    def note(model: DynamicModel, path: str | os.PathLike[str]) -> str:
        return model.extrapolation(time, f"{path}: {text}")

    return Export(text, {"at": text, "eig": eig}, {"time": time}, vectors, note)

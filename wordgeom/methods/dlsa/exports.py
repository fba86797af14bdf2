"""Word vectors at the times of `--at`, written next to a model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

from wordgeom.core.errors import OptionError
from wordgeom.core.types import Float32
from wordgeom.matrices.times import FORMATS, parse_time
from wordgeom.methods.contract import Export
from wordgeom.methods.dlsa.model import DynamicModel


def exports_at(at: str | None, eig: float) -> list[Export]:
    """Return an export for each of the comma-separated times in `at`.

    eig: power of the singular values. Raises OptionError.
    """
    return [
        Export(
            text, {"at": text, "eig": eig}, {"time": time}, partial(_vectors, time, eig),
            partial(_note, text, time),
        )
        for text, time in _times(at)
    ]  # fmt: skip


def _vectors(time: float, eig: float, model: DynamicModel) -> Float32:
    return model.vectors_at(time, eig)


def _note(text: str, time: float, model: DynamicModel, path: str | os.PathLike[str]) -> str:
    """Return a warning about a time outside the documents' times, else an empty string."""
    first, last = model.times.min(), model.times.max()
    if first <= time <= last:
        return ""
    return f"{path}: {text} is outside the documents' times, {first:g} to {last:g}: extrapolated"


def _times(at: str | None) -> Iterator[tuple[str, float]]:
    for text in [] if at is None else at.split(","):
        time = parse_time(text)
        if time is None:
            raise OptionError("--at must be times", found=repr(text.strip()), do=FORMATS)
        yield text.strip(), time.value

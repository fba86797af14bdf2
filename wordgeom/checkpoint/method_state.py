"""The state of a method's long run, kept beside its output (types.Checkpoint)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from wordgeom.checkpoint.state import Kept
from wordgeom.core.errors import FormatError
from wordgeom.core.types import Array
from wordgeom.storage.store import Store

_RUN = "run"
_ROWS = 1 << 14  # written at once


class StoredCheckpoint:
    """Keeps a method's arrays, flat, and their shapes as the piece `run` of what is kept."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._left = kept.find(_RUN)

    def restore(self) -> Mapping[str, Array] | None:
        """Return the state left by an earlier run, None where there is none or none is wanted."""
        if self._left is None:
            return None
        shapes = self._left.attributes.get("shapes")
        if not isinstance(shapes, dict):
            raise FormatError("its state was edited", where=self._left.path)
        return {name: self._array(self._left, name, shape) for name, shape in shapes.items()}

    def _array(self, left: Store, name: str, shape: Any) -> Array:
        array = left.array(name)
        known = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
        if not known or math.prod(shape) != array.length:
            raise FormatError("its state was edited", where=left.path)
        return array.read().reshape(shape)

    def save(self, state: Callable[[], Mapping[str, Array]]) -> None:
        """Keep the state if the last one is old enough."""
        if not self._kept.due():
            return
        arrays = state()
        with self._kept.writer(_RUN) as writer:
            for name, array in arrays.items():
                out = writer.array(name, array.dtype)
                for start in range(0, len(array), _ROWS):  # never a copy of it all
                    out.write(array[start : start + _ROWS].ravel())
            shapes = {name: list(array.shape) for name, array in arrays.items()}
            writer.commit({"shapes": shapes}, {})
        self._kept.saved()

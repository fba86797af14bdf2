"""The arrays of a long computation, saved as pieces of its state (core.types.Checkpoint)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from wordgeom.checkpoint.state import State
from wordgeom.core.types import Array
from wordgeom.runtime.signals import deferred_signals

_RUN = "run"
_ROWS = 1 << 14  # written at once
_PENDING = 1 << 26  # bytes of results that wait in memory for the next checkpoint


class MethodState:
    """Saves arrays of any shape under a name, and restores those of an interrupted run."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._pending: dict[str, Mapping[str, Array]] = {}
        state.before_stop(self._write_pending)

    def restore(self) -> Mapping[str, Array] | None:
        """Return the state of an interrupted run, or None."""
        return self.find(_RUN) if self.holds(_RUN) else None

    def save(self, state: Callable[[], Mapping[str, Array]]) -> None:
        """Save a state if a checkpoint is due; it is computed only then."""
        if self._state.due():
            self._write(_RUN, state())
            self._state.saved()

    def holds(self, name: str) -> bool:
        """Return whether there is a saved result of this name."""
        return self._state.find(name) is not None

    def find(self, name: str) -> Mapping[str, Array]:
        """Return a saved result. Raises FormatError for a damaged one."""
        piece = self._state.find(name)
        if piece is None:
            raise KeyError(name)
        shapes = piece.attributes["shapes"]
        return {part: piece.array(part).read().reshape(shape) for part, shape in shapes.items()}

    def keep(self, name: str, result: Mapping[str, Array]) -> None:
        """Save a result at the next checkpoint, or when the run is interrupted."""
        self._pending[name] = result
        waiting = sum(array.nbytes for kept in self._pending.values() for array in kept.values())
        if self._state.due() or waiting > _PENDING:
            self._write_pending()

    def _write_pending(self) -> None:
        with deferred_signals():
            for name, result in self._pending.items():
                self._write(name, result)
            self._pending.clear()
            self._state.saved()

    def _write(self, name: str, arrays: Mapping[str, Array]) -> None:
        with self._state.writer(name) as writer:
            for part, array in arrays.items():
                out = writer.array(part, array.dtype)
                rows = array.reshape(-1) if array.ndim == 0 else array
                for start in range(0, len(rows), _ROWS):  # never a copy of it all
                    out.write(rows[start : start + _ROWS].ravel())
            shapes = {part: list(array.shape) for part, array in arrays.items()}
            writer.commit({"shapes": shapes}, {})

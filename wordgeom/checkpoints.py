"""The state of a long run, kept beside its output, from which a later run goes on.

`vectors.bin` has `.vectors.bin.state/`: a store of the method's arrays with the request that they
belong to. Going on gives the bytes of a run that was never interrupted (on one machine).
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordgeom import __version__, store
from wordgeom.errors import OutputExistsError, StaleError
from wordgeom.options import Options, option
from wordgeom.runs import differing_option
from wordgeom.store import Store, StoreWriter
from wordgeom.types import Array

STATE = "state"
_ROWS = 1 << 14  # written at once
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ResumeOptions(Options):
    """How a long run is kept from being lost."""

    resume: bool = option(
        False, "go on from the state that an interrupted run of the same command left",
        result=False,
    )  # fmt: skip
    checkpoint: float = option(
        5.0, "keep the state of a long run every so many minutes", low=0.0, high=1e6,
        metavar="MINUTES", result=False,
    )  # fmt: skip


class StoredCheckpoint:
    """Keeps states in a folder; `request` tells whose they are (types.Checkpoint).

    A state is never lost to a forgotten option: without --resume it is replaced with `force` alone.
    Raises OutputExistsError for that, StaleError where a state of another request is to be gone on
    from, FormatError where it is damaged.
    """

    def __init__(
        self,
        folder: Path,
        request: Mapping[str, Any],
        options: ResumeOptions,
        *,
        force: bool = False,
    ) -> None:
        self._folder, self._options, self._force = folder, options, force
        # Another version may have other arrays, or other bytes.
        self._request = {**request, "version": __version__}
        self._saved = time.monotonic()
        self._left = self._look()

    def restore(self) -> Mapping[str, Array] | None:
        """Return the state left by an earlier run, None where there is none or none is wanted."""
        if self._left is None:
            return None
        shapes: dict[str, list[int]] = self._left.attributes["shapes"]
        arrays = {name: self._left.array(name).read() for name in shapes}
        return {name: array.reshape(shapes[name]) for name, array in arrays.items()}

    def save(self, state: Callable[[], Mapping[str, Array]]) -> None:
        """Keep the state if the last one is old enough."""
        if time.monotonic() - self._saved < 60.0 * self._options.checkpoint:
            return
        arrays = state()
        with StoreWriter(self._folder, STATE) as writer:
            for name, array in arrays.items():
                out = writer.array(name, array.dtype)
                for start in range(0, len(array), _ROWS):  # never a copy of it all
                    out.write(array[start : start + _ROWS].ravel())
            shapes = {name: list(array.shape) for name, array in arrays.items()}
            writer.commit({"shapes": shapes}, {"request": self._request})
        self._saved = time.monotonic()

    def remove(self) -> None:
        """Forget the state: the output is there."""
        if store.exists(self._folder):
            shutil.rmtree(self._folder)

    def interrupted(self) -> None:
        """Tell of the state, if there is one, that the run can be gone on with."""
        if store.exists(self._folder):
            _log.info("note: the run's state is kept; --resume goes on from it")

    def _look(self) -> Store | None:
        """Return the state to go on from, before anything is read or computed."""
        there = store.exists(self._folder)
        if there and self._options.resume:
            left = Store.open(self._folder)
            self._refuse_other(left.request)
            return left
        if there and not self._force:
            do = "--resume goes on from it, --force begins anew"
            what = "holds the state of a run that was interrupted"
            raise OutputExistsError(what, where=self._folder, do=do)
        if self._options.resume:
            _log.info("note: there is no state to go on from: from the beginning")
        return None

    def _refuse_other(self, made: Mapping[str, Any]) -> None:
        how = differing_option(self._request["options"], made.get("options", {}))
        if how is None and self._request["inputs"] != made.get("inputs"):
            how = "made from another matrix"
        if how is None and self._request != made:
            how = f"made by wordgeom {made.get('version', 'of another version')}"
        if how is not None:
            do = "begin anew with --force and without --resume"
            raise StaleError("holds the state of another run", where=self._folder, found=how, do=do)

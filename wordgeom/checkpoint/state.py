"""What a long run has finished, kept beside its output, so that a later run goes on from it.

`cooc` has `.cooc.state/`, `vectors.bin` has `.vectors.bin.state/`: `request.json` tells whose it
is, and each finished piece is a store of its own, checked by its checksums as it is read. (It is
not made to outlive a power cut.) Going on gives the bytes of a run that was never interrupted.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordgeom.core.errors import OutputExistsError, StaleError, StoppedError
from wordgeom.core.options import Options, option
from wordgeom.core.requests import differing_option
from wordgeom.core.version import __version__
from wordgeom.storage.files import atomic_file, make_folder, remove_folder, write_error
from wordgeom.storage.store import LOCK, Store, StoreWriter, exists, remove_store

STATE = "state"
_REQUEST = "request.json"
_SHOWN = 5  # pieces that are named
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


class Kept:
    """The finished pieces of one request.

    They are never lost to a forgotten option: without --resume they are replaced with `force`
    alone. Raises OutputExistsError for that, StaleError where those of another request are to be
    gone on from.
    """

    def __init__(
        self,
        folder: Path,
        request: Mapping[str, Any],
        options: ResumeOptions,
        *,
        force: bool = False,
    ) -> None:
        self._folder, self._options = folder, options
        # Another version may have other pieces, or other bytes.
        self._request = {**request, "version": __version__}
        self._saved = time.monotonic()
        self._resumed = self._look(force)
        self._begun = self._resumed

    def find(self, name: str) -> Store | None:
        """Return a piece that an earlier run finished, None where there is none to go on from.

        Its parts are checked as they are read. Raises FormatError where it is damaged.
        """
        folder = self._folder / name
        return Store.open(folder) if self._resumed and exists(folder) else None

    def writer(self, name: str) -> StoreWriter:
        """Return what writes a piece, in place of an older one."""
        if not self._begun:
            self._begin()
        piece = self._folder / name
        if piece.exists() and not exists(piece) and not (piece / LOCK).exists():
            remove_store(piece)  # a run was killed as it removed it
        return StoreWriter(piece, STATE, durable=False)

    def due(self) -> bool:
        """Tell whether the last state is old enough for a new one."""
        return time.monotonic() - self._saved >= 60.0 * self._options.checkpoint

    def saved(self) -> None:
        """Note that a state was kept just now."""
        self._saved = time.monotonic()

    def discard(self, prefix: str) -> None:
        """Remove the pieces whose names begin so: another says what they say."""
        for piece in self._folder.glob(f"{prefix}*"):
            remove_store(piece)

    def stale(self, how: str) -> StaleError:
        """Return the error for a state that is another run's."""
        do = "begin anew with --force and without --resume"
        return StaleError("holds the state of another run", where=self._folder, found=how, do=do)

    def remove(self) -> None:
        """Forget all: the output is there."""
        _remove(self._folder)

    @contextlib.contextmanager
    def stoppable(self) -> Iterator[None]:
        """Raise StoppedError for an interruption of the block: the run can be gone on with.

        Where it ends without a finished piece, nothing is left to go on from.
        """
        try:
            yield
        except BaseException as error:
            kept = any(exists(piece) for piece in self._folder.glob("*"))
            if not kept and self._begun and not self._resumed:
                self.remove()
            if isinstance(error, KeyboardInterrupt):
                raise StoppedError(kept) from None
            raise

    def _look(self, force: bool) -> bool:
        """Tell whether there is a state to go on from, before anything is read or computed."""
        there = _is_state(self._folder)
        if there and self._options.resume:
            self._refuse_other()
            _log.info("note: going on from %s", _told(self._folder))
            return True
        if there and not force:
            do = "--resume goes on from it, --force begins anew"
            what = "holds the state of a run that was interrupted"
            raise OutputExistsError(what, where=self._folder, do=do)
        if self._options.resume:
            _log.info("note: there is no state to go on from: from the beginning")
        return False

    def _refuse_other(self) -> None:
        made = _read_request(self._folder)
        how = differing_option(self._request["options"], made.get("options", {}))
        if how is None and self._request["inputs"] != made.get("inputs"):
            how = "one made from other inputs"
        if how is None and self._request != made:
            how = f"made by wordgeom {made.get('version', 'of another version')}"
        if how is not None:
            raise self.stale(how)

    def _begin(self) -> None:
        """Make the folder anew, and say in it whose it is."""
        self.remove()
        try:
            make_folder(self._folder)
        except OSError as error:
            raise write_error(self._folder, error) from error
        self._begun = True
        with atomic_file(self._folder / _REQUEST, durable=False) as out:
            out.write(json.dumps(self._request, indent=1).encode("ascii"))


def state_folder(out: str | os.PathLike[str]) -> Path:
    """Return where the state of what makes `out` lies: beside it."""
    path = Path(out)
    if path.name in ("", ".."):  # names a folder without saying its name
        path = Path(os.path.abspath(path))
    return path.with_name(f".{path.name}.state")


def forget(out: str | os.PathLike[str], request: Mapping[str, Any]) -> None:
    """Remove what a run of this request left that was killed when its output was there.

    Only where no other process writes `out`: hold its lock.
    """
    folder = state_folder(out)
    asked = {**request, "version": __version__}
    if folder.exists() and (not _is_state(folder) or _read_request(folder) == asked):
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove the pieces, then what tells whose they were."""
    if not folder.exists():
        return
    for piece in folder.iterdir():
        if piece.is_dir():
            remove_store(piece)
    remove_folder(folder)


def _told(folder: Path) -> str:
    """Return what pieces there are, in words."""
    pieces = sorted(piece.name for piece in folder.iterdir() if exists(piece))
    more = f" and {len(pieces) - _SHOWN:,} more" if len(pieces) > _SHOWN else ""
    return ", ".join(pieces[:_SHOWN]) + more or "the beginning"


def _is_state(folder: Path) -> bool:
    return (folder / _REQUEST).exists()


def _read_request(folder: Path) -> dict[str, Any]:
    """Return whose state it is; what cannot be read is nobody's."""
    try:
        made = json.loads((folder / _REQUEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return made if isinstance(made, dict) else {}

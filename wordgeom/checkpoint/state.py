"""The state of a long run: finished pieces beside its output, from which `--resume` goes on.

`cooc` has `.cooc.state/`, `vectors.bin` has `.vectors.bin.state/`. `request.json` names the run
that the state belongs to; each finished piece is a store, whose checksums are verified when it is
read. A resumed run writes the same bytes as one that was never interrupted. The state is not meant
to survive a power failure.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from wordgeom.core.errors import (
    LostSchedulerError,
    OutputExistsError,
    StaleError,
    StoppedError,
    WriteError,
)
from wordgeom.core.formatting import readable_size
from wordgeom.core.requests import differing_option
from wordgeom.core.version import __version__
from wordgeom.runtime.batch import in_job
from wordgeom.runtime.run_options import ResumeOptions
from wordgeom.storage.files import (
    atomic_file,
    folder_bytes,
    make_folder,
    remove_folder,
    write_errors,
)
from wordgeom.storage.meta import LOCK
from wordgeom.storage.store import Store, StoreWriter, exists, remove_store

STATE = "state"  # the kind of the stores
_VERSION = f"{__version__}, checkpoints 2"  # the number rises when the pieces change
_REQUEST = "request.json"
_log = logging.getLogger(__name__)


class State:
    """The finished pieces of one request.

    Raises OutputExistsError where a state exists and neither `--resume` nor `--force` was given,
    StaleError where the state to resume belongs to another request.
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
        # Another version may write other pieces, or other bytes.
        self._request = {**request, "version": _VERSION}
        self._saved = time.monotonic()
        self._resumed = self._find_state(force)
        self._begun = self._resumed
        self._before_stop: list[Callable[[], object]] = []

    def find(self, name: str) -> Store | None:
        """Return a piece to resume from, or None; its arrays are verified when they are read.

        Raises FormatError for a damaged piece.
        """
        folder = self._folder / name
        return Store.open(folder) if self._resumed and exists(folder) else None

    def writer(self, name: str) -> StoreWriter:
        """Return the writer of a piece, which replaces an older one."""
        if not self._begun:
            self._begin()
        piece = self._folder / name
        if piece.exists() and not exists(piece) and not (piece / LOCK).exists():
            remove_store(piece)  # left by a run that was killed while it removed the piece
        return StoreWriter(piece, STATE, durable=False, beside=False)

    def due(self) -> bool:
        """Return whether `--checkpoint` minutes have passed since the last checkpoint."""
        return time.monotonic() - self._saved >= 60.0 * self._options.checkpoint

    def saved(self) -> None:
        """Record that a checkpoint was written just now."""
        self._saved = time.monotonic()

    def discard(self, prefix: str) -> None:
        """Remove the pieces whose names start with `prefix`."""
        for piece in self._folder.glob(f"{prefix}*"):
            remove_store(piece)

    def stale(self, how: str) -> StaleError:
        """Return the error for a state that belongs to another run."""
        do = f"start over {'' if self._force else 'with --force and '}without --resume"
        return StaleError(f"is the checkpoint of a run {how}", where=self._folder, do=do)

    def remove(self) -> None:
        """Remove the state: the output is complete."""
        _remove(self._folder)

    def before_stop(self, save: Callable[[], object]) -> None:
        """Call `save` when the run is interrupted, before the state is left to `--resume`."""
        self._before_stop.append(save)

    @contextlib.contextmanager
    def resumable(self, *, output: bool = True) -> Iterator[None]:
        """Turn an interruption of the block into StoppedError; output: the block writes some.

        A state without a finished piece is removed.
        """
        try:
            yield
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | LostSchedulerError):
                for save in self._before_stop:
                    save()
            own = self._begun or self._resumed  # else the pieces are an earlier run's
            finished = own and any(exists(piece) for piece in self._folder.glob("*"))
            if not finished and self._begun and not self._resumed:
                self.remove()
            if isinstance(error, KeyboardInterrupt):
                raise StoppedError(finished, output) from None
            if isinstance(error, WriteError) and finished:
                do = f"{error.do}, and the checkpoint stays for --resume"
                raise WriteError(error.what, where=error.where, found=error.found, do=do) from error
            raise

    def _find_state(self, force: bool) -> bool:
        """Return whether there is a state to resume, before anything is read or computed."""
        there = _is_state(self._folder)
        if there and self._options.resume:
            self._check_request()
            _log.info("note: resuming from the checkpoint in %s", self._folder)
            return True
        if there:
            _check_replaceable(self._folder, force)
        if self._options.resume and not in_job():  # a job always has --resume
            _log.info("note: nothing to resume; starting from the beginning")
        return False

    def _check_request(self) -> None:
        made = _read_request(self._folder)
        how = differing_option(self._request["options"], made.get("options", {}))
        if how is None and self._request["inputs"] != made.get("inputs"):
            how = "of other inputs"
        if how is None and self._request != made:
            how = f"by wordgeom {made.get('version', 'of another version')}"
        if how is not None:
            raise self.stale(how.replace("was made", "that was started", 1))

    def _begin(self) -> None:
        """Create the directory, and record in it which run it belongs to."""
        self.remove()
        with write_errors(self._folder):
            make_folder(self._folder)
        self._begun = True
        with atomic_file(self._folder / _REQUEST, durable=False) as out:
            out.write(json.dumps(self._request, indent=1).encode("ascii"))


def state_folder(out: str | os.PathLike[str]) -> Path:
    """Return the directory of the state of what writes `out`: beside it."""
    path = Path(out)
    if path.name in ("", ".."):  # names a directory without saying its name
        path = Path(os.path.abspath(path))
    return path.with_name(f".{path.name}.state")


def evaluation_state(vectors: Path) -> Path:
    """Return the directory of the state of an evaluation of vectors: beside them."""
    return state_folder(vectors.with_name(f"{vectors.name}.eval"))


def drift_state(model: Path) -> Path:
    """Return the directory of the state of tests of a model: beside it."""
    path = Path(os.path.abspath(model))
    return state_folder(path.with_name(f"{path.name}.drift"))


def evaluation_notes(vectors: Path) -> list[str]:
    """Return a note on the state of an evaluation of vectors that were replaced."""
    folder = evaluation_state(vectors)
    if not _is_state(folder):
        return []
    left = f"{folder} ({_size(folder)}) is the checkpoint of an evaluation of earlier vectors"
    return [f"{left}; the next wordgeom eval replaces it"]


@contextlib.contextmanager
def replacing_state(out: str | os.PathLike[str], *, force: bool) -> Iterator[None]:
    """Remove the state of another command's run, for an output that was replaced in the block.

    Raises OutputExistsError if there is one and not `force`.
    """
    folder = state_folder(out)
    there = _is_state(folder)
    if there:
        _check_replaceable(folder, force)
    yield
    if there:
        _remove(folder)


def _check_replaceable(folder: Path, force: bool) -> None:
    """Name a state that will be replaced; raises OutputExistsError if not `force`."""
    if not force:
        what = "contains the checkpoint of an interrupted run"
        do = "resume it with --resume, or start over with --force"
        raise OutputExistsError(what, where=folder, do=do)
    _log.info(
        "note: replacing the checkpoint of an interrupted run, %s (%s)", folder, _size(folder)
    )


def forget_state(out: str | os.PathLike[str], request: Mapping[str, Any]) -> None:
    """Remove the state of a run of this request that was killed after its output was complete.

    Hold the lock of `out` while this runs.
    """
    folder = state_folder(out)
    asked = {**request, "version": _VERSION}
    if folder.exists() and (not _is_state(folder) or _read_request(folder) == asked):
        _remove(folder)


def _size(folder: Path) -> str:
    return readable_size(folder_bytes(folder))


def _remove(folder: Path) -> None:
    """Remove the pieces first, then the request that names their run."""
    if not folder.exists():
        return
    for piece in folder.iterdir():
        if piece.is_dir():
            remove_store(piece)
    remove_folder(folder)


def _is_state(folder: Path) -> bool:
    return (folder / _REQUEST).exists()


def _read_request(folder: Path) -> dict[str, Any]:
    """Return the request of a state, empty where it cannot be read."""
    try:
        made = json.loads((folder / _REQUEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return made if isinstance(made, dict) else {}

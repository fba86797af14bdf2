"""Stores: directories of arrays that are replaced atomically (docs/reference/files.md).

`meta.json` is the commit point. It names every file with its dtype, its length and a CRC-32 per
MiB. A writer adds files under new names, makes them durable, replaces `meta.json` (a file can be
replaced atomically, a directory cannot) and removes the files that are no longer named. A new store
is built in a hidden directory beside its path, which is renamed once it is complete. Contents are
written with write(), never through a mapping, so that a full disk is an error and not a signal.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from wordgeom.core.errors import FormatError, LockedError, MissingInputError, OutputExistsError
from wordgeom.runtime.signals import deferred_signals
from wordgeom.storage.arrays import ArrayWriter, StoredArray
from wordgeom.storage.files import (
    Lock,
    atomic_file,
    make_folder,
    reached,
    remove,
    remove_folder,
    replace,
    sync_folder,
    write_error,
    write_errors,
)
from wordgeom.storage.meta import (
    FORMAT,
    HEADER,
    LOCK,
    META,
    OURS,
    VERSION,
    check_size,
    content_digest,
    read_meta,
    read_meta_loosely,
    remake,
    unfinished_folder,
)


class Store:
    """An open store: names, sizes and digest are checked on opening, contents as they are read."""

    def __init__(self, path: Path, meta: dict[str, Any]) -> None:
        self.path, self._meta = path, meta
        self.kind: str = meta["kind"]
        self.attributes: dict[str, Any] = meta["attributes"]
        self.digest: str = meta["digest"]
        self.card: dict[str, Any] = meta["run"]

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """Open a store; raises MissingInputError, or FormatError for a missing or edited file."""
        folder = Path(path)
        meta = read_meta(folder)
        store = cls(folder, meta)
        for entry in meta["files"].values():
            check_size(folder / entry["file"], entry, store.remake)
        return store

    @property
    def remake(self) -> str:
        """The advice to make the store again, by the command that made it."""
        return remake(self._meta)

    def array(self, name: str) -> StoredArray:
        """Return an array of the store, unread; raises FormatError for an unknown name."""
        entry = self._meta["files"].get(name)
        if entry is None:
            raise FormatError(f"has no part {name}", where=self.path, do=self.remake)
        return StoredArray(self.path / entry["file"], entry, do=self.remake)

    def text(self, name: str) -> bytes:
        """Return the checked bytes of a text part."""
        return self.array(name).read().tobytes()

    @property
    def request(self) -> dict[str, Any]:
        """The request: command, options, inputs with their digests; raises FormatError.

        It is validated here because the digest of the store does not cover it.
        """
        asked = self.card.get("request")
        if isinstance(asked, dict) and isinstance(asked.get("options"), dict):
            inputs = asked.get("inputs")
            if isinstance(inputs, list) and all(
                isinstance(i, dict) and isinstance(i.get("digest"), str) for i in inputs
            ):
                return asked
        raise FormatError("its run card was edited", where=self.path / META, do=self.remake)

    def check(self) -> None:
        """Read all parts; raises FormatError for a damaged byte."""
        for name in self._meta["files"]:
            self.array(name).verify()

    def parts(self) -> dict[str, dict[str, Any]]:
        """Return name → {file, dtype, length} of every part."""
        keep = ("file", "dtype", "length")
        return {n: {k: e[k] for k in keep} for n, e in self._meta["files"].items()}


class StoreWriter:
    """Writes a store: `with StoreWriter(path, kind) as writer: … writer.commit(…)`.

    Leaving the block without a commit removes the new parts, except after `keep_parts`. durable: a
    commit survives a power failure; mark: that of an interrupted writer, whose arrays are resumed;
    beside: build a new store in a hidden directory and rename that. Raises LockedError,
    OutputExistsError where the path is not a store, WriteError.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        kind: str,
        *,
        durable: bool = True,
        mark: Mapping[str, Any] | None = None,
        beside: bool = True,
    ) -> None:
        self.path, self.kind, self._durable = Path(path), kind, durable
        self._hidden = unfinished_folder(self.path) if beside else self.path
        self.folder = self.path  # where the parts are
        self._mark = mark or {}
        self._made_folder, self._keep = False, bool(mark)
        self._entries: dict[str, dict[str, Any]] = {}
        self._open: list[ArrayWriter] = []

    def __enter__(self) -> Self:
        check_ours(self.path)
        if not self.path.is_dir():
            self._make_folder()
        elif not self._mark:
            _remove_dead(self._hidden, self.path)
        self._lock = Lock(self.folder / LOCK, self.path)
        try:
            self._lock.__enter__()
        except BaseException:
            if self._made_folder:
                with contextlib.suppress(OSError):  # not empty: another process has the lock
                    self.folder.rmdir()
            raise
        if self.folder != self.path and self.path.exists():  # made by another process meanwhile
            self._leave(keep=False)
            raise LockedError("was made by another process", where=self.path, do="try again")
        self._generation = 1 + max(_generations(self.folder), default=0)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with deferred_signals():  # parts must not outlive their lock
            self._leave(keep=self._keep and kind is not None)

    def array(self, name: str, dtype: DTypeLike) -> ArrayWriter:
        """Return the writer of a new one-dimensional array, or of a marked one to resume."""
        if name in self._mark:
            writer = ArrayWriter.reopen(self.folder, self._mark[name], self.path)
        else:
            writer = ArrayWriter(self._new(name, "npy"), np.dtype(dtype), HEADER, self.path)
        self._open.append(writer)
        self._entries[name] = {"writer": writer}
        return writer

    def text(self, name: str, content: bytes) -> None:
        """Add a text part."""
        writer = ArrayWriter(self._new(name, "tsv"), np.dtype(np.uint8), 0, self.path)
        self._open.append(writer)
        self._entries[name] = {"writer": writer}
        writer.write(np.frombuffer(content, np.uint8))

    def mark(self) -> dict[str, Any]:
        """Return a mark of the arrays at their present length, from which a writer can resume."""
        return {name: e["writer"].entry() for name, e in self._entries.items()}

    def keep_parts(self) -> None:
        """Keep the arrays if this writer fails; call it once a mark has been saved."""
        self._keep = True

    def commit(self, attributes: Mapping[str, Any], card: Mapping[str, Any]) -> Store:
        """Make the parts durable and name them in meta.json; return the open store.

        attributes: part of the content and its digest; card: the run card.
        """
        files = {name: e["writer"].finish(self._durable) for name, e in self._entries.items()}
        if self._durable:
            sync_folder(self.folder)
        meta = {"format": FORMAT, "version": VERSION, "kind": self.kind}
        meta |= {"attributes": dict(attributes), "files": files}
        meta |= {"digest": content_digest(meta), "run": dict(card)}
        with atomic_file(self.folder / META, durable=self._durable) as out:
            out.write(json.dumps(meta, indent=1).encode("ascii"))  # a path may contain any byte
        if self.folder != self.path:
            self._publish()
        return Store.open(self.path)

    def _publish(self) -> None:
        """Rename the hidden directory, with its lock, to the path of the store."""
        with write_errors(self.path), deferred_signals():
            replace(self.folder, self.path)
            self.folder, self._lock = self.path, writer_lock(self.path)
        if self._durable:
            with write_errors(self.path):
                sync_folder(self.path.parent)

    def _new(self, name: str, suffix: str) -> Path:
        return self.folder / f"{name}.{self._generation}.{suffix}"

    def _leave(self, *, keep: bool) -> None:
        """Remove the files that meta.json does not name, unless they are kept; release the lock."""
        hidden = self.folder != self.path
        try:
            for writer in self._open:
                writer.close()
            if hidden and not keep:
                _remove_parts(self.folder)
            elif not keep:
                _remove_unnamed(self.folder)
        finally:
            self._lock.abandon() if keep else self._lock.__exit__()
        if not keep and self._made_folder and not (self.folder / META).exists():
            reached("rmdir", self.folder)
            with contextlib.suppress(OSError):  # another process has locked it since
                self.folder.rmdir()

    def _make_folder(self) -> None:
        self.folder, self._made_folder = self._hidden, True
        if self.folder.is_dir():  # left by a writer that died
            with contextlib.suppress(FileNotFoundError):  # renamed by another process meanwhile
                _check_files(self.folder)
            return
        try:
            make_folder(self.folder)
        except FileNotFoundError:
            do = "create it, or choose another output with -o"
            raise MissingInputError("no such directory", where=self.path.parent, do=do) from None
        except OSError as error:
            raise write_error(self.path, error) from error


def writer_lock(path: Path) -> Lock:
    """Return the lock of a store; raises LockedError where another process is writing it."""
    return Lock(path / LOCK, path)


def remove_dead_lock(path: Path) -> None:
    """Remove the lock that a writer left which was killed after its commit; raises LockedError."""
    if (path / LOCK).exists():
        with writer_lock(path):
            pass


def exists(path: str | os.PathLike[str]) -> bool:
    """Return whether a committed store exists at a path."""
    return os.path.exists(Path(path) / META)  # False in an unreadable directory


def remove_store(path: Path) -> None:
    """Remove a store that is not being written; meta.json goes first."""
    remove(path / META)
    remove_folder(path)


def check_ours(path: Path) -> None:
    """Raise OutputExistsError for what no store replaces.

    That is a file, a link to nothing, or a directory with files that wordgeom did not write.
    """
    if path.is_dir():
        _check_files(path)
    elif path.exists():
        raise OutputExistsError("is a file", where=path, do="pass a directory with -o")
    elif path.is_symlink():
        what = f"is a symbolic link to {os.readlink(path)}, which does not exist"
        do = "create that directory, or choose another output"
        raise OutputExistsError(what, where=path, do=do)


def _check_files(folder: Path) -> None:
    """Raise OutputExistsError for a directory with files that wordgeom did not write."""
    if (folder / META).exists():
        read_meta_loosely(folder)
        return
    locked = (folder / LOCK).exists()  # a writer that died leaves its lock beside its parts
    for path in folder.iterdir():
        if not (locked and OURS.fullmatch(path.name)):
            what, do = "a directory with other files", "choose another with -o, or move its files"
            raise OutputExistsError(f"{what}, such as {path.name}", where=folder, do=do)


def _generations(folder: Path) -> Iterator[int]:
    for path in folder.iterdir():
        match = OURS.fullmatch(path.name)
        if match and match[1]:
            yield int(match[1])


def _remove_dead(hidden: Path, path: Path) -> None:
    """Remove the hidden directory of a writer of `path` that died; raises LockedError."""
    if hidden == path or not hidden.is_dir():
        return
    _check_files(hidden)
    with deferred_signals(), Lock(hidden / LOCK, path):
        _remove_parts(hidden)
    with contextlib.suppress(OSError):  # another process has locked it since
        hidden.rmdir()


def _remove_parts(folder: Path) -> None:
    """Remove all parts in the directory of a store that was not finished."""
    if (folder / META).exists():  # its writer died before it renamed the directory
        remove(folder / META)
    _remove_unnamed(folder)


def _remove_unnamed(folder: Path) -> None:
    """Remove the parts that meta.json does not name: replaced, or left by a dead writer."""
    named: set[str] = set()
    if (folder / META).exists():
        files = read_meta_loosely(folder).get("files", {})
        entries = files.values() if isinstance(files, dict) else ()
        named = {str(e.get("file")) for e in entries if isinstance(e, dict)}
    for path in folder.iterdir():
        if path.name not in named and path.name != LOCK and OURS.fullmatch(path.name):
            remove(path)

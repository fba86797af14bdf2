"""A folder of arrays that is either the old content or the new, never a mixture: docs/format.md.

`meta.json` is the commit point. It names every file with its type, length and a CRC-32 for each
MiB. A writer adds files under new names, makes them durable, replaces `meta.json` (a file can be
replaced in one step, a folder cannot) and removes what is no longer named. Content is written
with write(), never through a mapping: a full disk is then an error and not a signal.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from wordgeom.core.errors import FormatError, MissingInputError, OutputExistsError
from wordgeom.runtime.signals import deferred_signals
from wordgeom.storage.arrays import ArrayWriter, StoredArray, marked_array
from wordgeom.storage.files import (
    Lock,
    atomic_file,
    make_folder,
    reached,
    remove,
    remove_folder,
    sync_folder,
    write_error,
)
from wordgeom.storage.meta import (
    CRC_BLOCK,
    FORMAT,
    HEADER,
    LOCK,
    META,
    OURS,
    REMAKE,
    VERSION,
    check_size,
    content_digest,
    read_meta,
    read_meta_loosely,
)

__all__ = [
    "CRC_BLOCK",
    "LOCK",
    "META",
    "ArrayWriter",
    "Store",
    "StoreWriter",
    "StoredArray",
    "exists",
    "marked_array",
    "remove_store",
    "writer_lock",
]  # fmt: skip


class Store:
    """An opened store: checked names, sizes and digest; contents are checked as they are read."""

    def __init__(self, path: Path, meta: dict[str, Any]) -> None:
        self.path, self._meta = path, meta
        self.kind: str = meta["kind"]
        self.attributes: dict[str, Any] = meta["attributes"]
        self.digest: str = meta["digest"]
        self.card: dict[str, Any] = meta["run"]

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """Open a store; raises MissingInputError, or FormatError for what is missing or edited."""
        folder = Path(path)
        meta = read_meta(folder)
        store = cls(folder, meta)
        for entry in meta["files"].values():
            check_size(folder / entry["file"], entry)
        return store

    def array(self, name: str) -> StoredArray:
        """Return the array `name` of the store, unread."""
        entry = self._meta["files"].get(name)
        if entry is None:
            raise FormatError(f"has no part {name}", where=self.path, do=REMAKE)
        return StoredArray(self.path / entry["file"], entry)

    def text(self, name: str) -> bytes:
        """Return the checked bytes of a text part."""
        return self.array(name).read().tobytes()

    @property
    def request(self) -> dict[str, Any]:
        """What was asked: command, options, inputs with their digests; raises FormatError.

        The digest does not cover it, so that it is looked at before it is believed.
        """
        asked = self.card.get("request")
        if isinstance(asked, dict) and isinstance(asked.get("options"), dict):
            inputs = asked.get("inputs")
            if isinstance(inputs, list) and all(
                isinstance(i, dict) and isinstance(i.get("digest"), str) for i in inputs
            ):
                return asked
        raise FormatError("its run card was edited", where=self.path / META, do=REMAKE)

    def check(self) -> None:
        """Read every byte; raises FormatError for one that is not as it was written."""
        for name in self._meta["files"]:
            part = self.array(name)
            step = CRC_BLOCK // part.dtype.itemsize
            for start in range(0, part.length, 64 * step):
                part.read(start, min(start + 64 * step, part.length))

    def parts(self) -> dict[str, dict[str, Any]]:
        """Return name → {file, dtype, length} of every part."""
        keep = ("file", "dtype", "length")
        return {n: {k: e[k] for k in keep} for n, e in self._meta["files"].items()}


class StoreWriter:
    """Writes a store; `with StoreWriter(path, kind) as w: … w.commit(…)`.

    Leaving the block without commit removes all that was written, unless it was marked. durable:
    what was committed outlives a power cut. mark: of an earlier writer; its arrays are gone on
    with. Raises LockedError, OutputExistsError where the path is no store, WriteError.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        kind: str,
        *,
        durable: bool = True,
        mark: Mapping[str, Any] | None = None,
    ) -> None:
        self.path, self.kind, self._durable = Path(path), kind, durable
        self._mark = mark or {}
        self._made_folder, self._kept = False, bool(mark)
        self._entries: dict[str, dict[str, Any]] = {}
        self._open: list[ArrayWriter] = []

    def __enter__(self) -> Self:
        if self.path.is_dir():
            _refuse_foreign(self.path)
        elif self.path.exists():
            raise OutputExistsError("is a file", where=self.path, do="name a folder with -o")
        else:
            self._make_folder()
        self._lock = writer_lock(self.path)
        self._lock.__enter__()
        self._generation = 1 + max(_generations(self.path), default=0)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with deferred_signals():  # parts without their lock would be anybody's
            self._leave(kept=self._kept and error is not None)

    def array(self, name: str, dtype: DTypeLike) -> ArrayWriter:
        """Begin an array of one dimension, or go on with a marked one; write() to it in order."""
        if name in self._mark:
            writer = ArrayWriter.reopen(self.path, self._mark[name])
        else:
            writer = ArrayWriter(self._new(name, "npy"), np.dtype(dtype), HEADER)
        self._open.append(writer)
        self._entries[name] = {"writer": writer}
        return writer

    def text(self, name: str, content: bytes) -> None:
        """Add a text part."""
        writer = ArrayWriter(self._new(name, "tsv"), np.dtype(np.uint8), 0)
        self._open.append(writer)
        self._entries[name] = {"writer": writer}
        writer.write(np.frombuffer(content, np.uint8))

    def mark(self) -> dict[str, Any]:
        """Return the mark of the arrays as they are now; `keep` once it is written down."""
        return {name: e["writer"].entry() for name, e in self._entries.items()}

    def keep_parts(self) -> None:
        """Leave the arrays if this writer fails: a mark tells how far they are good."""
        self._kept = True

    def commit(self, attributes: Mapping[str, Any], card: Mapping[str, Any]) -> Store:
        """Make the parts durable and name them in meta.json; return the opened store.

        attributes: what belongs to the content (and its digest); card: what was asked and how
        it was made.
        """
        files = {name: e["writer"].finish(self._durable) for name, e in self._entries.items()}
        if self._durable:
            sync_folder(self.path)
        meta = {"format": FORMAT, "version": VERSION, "kind": self.kind}
        meta |= {"attributes": dict(attributes), "files": files}
        meta |= {"digest": content_digest(meta), "run": dict(card)}
        with atomic_file(self.path / META, durable=self._durable) as out:
            out.write(json.dumps(meta, indent=1).encode("ascii"))  # a path may hold any byte
        return Store.open(self.path)

    def _new(self, name: str, suffix: str) -> Path:
        return self.path / f"{name}.{self._generation}.{suffix}"

    def _leave(self, *, kept: bool) -> None:
        """Remove what meta.json does not name, unless it is kept; then let go of the lock."""
        try:
            for writer in self._open:
                writer.close()
            if not kept:
                _remove_unnamed(self.path)
        finally:
            self._lock.abandon() if kept else self._lock.__exit__(None, None, None)
        if not kept and self._made_folder and not (self.path / META).exists():
            reached("rmdir", self.path)
            self.path.rmdir()

    def _make_folder(self) -> None:
        try:
            make_folder(self.path)
        except FileNotFoundError:
            do = "make it, or name another with -o"
            raise MissingInputError("no such folder", where=self.path.parent, do=do) from None
        except OSError as error:
            raise write_error(self.path, error) from error
        self._made_folder = True


def writer_lock(path: Path) -> Lock:
    """Return the lock of a store; raises LockedError where another process writes it."""
    return Lock(path / LOCK, path)


def exists(path: str | os.PathLike[str]) -> bool:
    """Tell whether a store was committed there."""
    return (Path(path) / META).exists()


def remove_store(path: Path) -> None:
    """Remove a store that nobody writes; one that is half removed is none any more."""
    remove(path / META)
    remove_folder(path)


def _refuse_foreign(folder: Path) -> None:
    """Refuse to write into a folder that holds anything that is not ours."""
    if (folder / META).exists():
        read_meta_loosely(folder)
        return
    locked = (folder / LOCK).exists()  # what a writer that died leaves beside its parts
    for path in folder.iterdir():
        if not (locked and OURS.fullmatch(path.name)):
            do = "name another with -o, or remove it"
            raise OutputExistsError(
                "is a folder with other files", where=folder, found=path.name, do=do
            )


def _generations(folder: Path) -> Iterator[int]:
    for path in folder.iterdir():
        match = OURS.fullmatch(path.name)
        if match and match[1]:
            yield int(match[1])


def _remove_unnamed(folder: Path) -> None:
    """Remove the parts that meta.json does not name: left by a writer that died, or replaced."""
    named: set[str] = set()
    if (folder / META).exists():
        files = read_meta_loosely(folder).get("files", {})
        entries = files.values() if isinstance(files, dict) else ()
        named = {str(e.get("file")) for e in entries if isinstance(e, dict)}
    for path in folder.iterdir():
        if path.name not in named and path.name != LOCK and OURS.fullmatch(path.name):
            remove(path)

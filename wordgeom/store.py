"""A folder of arrays that is either the old content or the new, never a mixture: docs/format.md.

`meta.json` is the commit point. It names every file with its type, length and a CRC-32 for each
MiB. A writer adds files under new names, makes them durable, replaces `meta.json` (a file can be
replaced in one step, a folder cannot) and removes what is no longer named. Content is written
with write(), never through a mapping: a full disk is then an error and not a signal.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike

from wordgeom._files import (
    Lock,
    WatchedFile,
    make_folder,
    reached,
    remove,
    sync_folder,
    whole_file,
    write_error,
)
from wordgeom.errors import FormatError, MissingInputError, OutputExistsError
from wordgeom.types import Array

FORMAT, VERSION = "wordgeom", 1
META, LOCK = "meta.json", ".lock"
CRC_BLOCK = 1 << 20
_HEADER = 128  # bytes of .npy header, reserved before the length is known
_OURS = re.compile(r"[a-z]+\.(\d+)\.(npy|tsv)|\.lock|\.meta\.json\.part")
_DTYPES = ("<i4", "<i8", "<u4", "<u8", "<f4", "<f8", "|u1")
_REMAKE = "make it again with --force (build-cooc or build-pmi)"


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
        meta = _read_meta(folder)
        store = cls(folder, meta)
        for entry in meta["files"].values():
            _check_size(folder / entry["file"], entry)
        return store

    def array(self, name: str) -> StoredArray:
        """Return the array `name` of the store, unread."""
        entry = self._meta["files"].get(name)
        if entry is None:
            raise FormatError(f"has no part {name}", where=self.path, do=_REMAKE)
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
        raise FormatError("its run card was edited", where=self.path / META, do=_REMAKE)

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


class StoredArray:
    """One part of a store: reads ranges of it, checking the CRC of each MiB that it touches."""

    def __init__(self, path: Path, entry: dict[str, Any], *, marked: bool = False) -> None:
        self.path = path
        self.dtype = np.dtype(entry["dtype"])
        self.length: int = entry["length"]
        self._crcs: list[int] = entry["crc32"]
        self.offset = _header_bytes(entry)  # bytes before the first value
        self._header_seen = marked  # it may tell of a later mark, which nothing names

    def read(self, start: int = 0, stop: int | None = None) -> Array:
        """Return [start:stop]; raises FormatError where the bytes are not those written."""
        stop = self.length if stop is None else stop
        width = self.dtype.itemsize
        first = start * width // CRC_BLOCK
        begin, end = first * CRC_BLOCK, self.length * width
        end = min(end, -(-stop * width // CRC_BLOCK) * CRC_BLOCK)
        raw = np.empty(max(0, end - begin), np.uint8)
        with self._opened() as handle:
            if self.offset and not self._header_seen:
                self._check_header(handle)
                self._header_seen = True
            handle.seek(self.offset + begin)
            if handle.readinto(raw) != len(raw):  # type: ignore[attr-defined]
                raise FormatError("is shorter than meta.json says", where=self.path, do=_REMAKE)
        for k in range(0, len(raw), CRC_BLOCK):
            index = first + k // CRC_BLOCK
            if zlib.crc32(raw[k : k + CRC_BLOCK].data) != self._crcs[index]:
                found = f"another checksum in MiB {index}"
                raise FormatError("was edited or damaged", where=self.path, found=found, do=_REMAKE)
        whole: Array = raw.view(self.dtype)
        return whole[start - begin // width : stop - begin // width]

    def _opened(self) -> BinaryIO:
        try:
            return open(self.path, "rb")
        except OSError as error:
            raise FormatError("cannot be read", where=self.path, found=error.strerror) from None

    def _check_header(self, handle: BinaryIO) -> None:
        if handle.read(_HEADER) != _npy_header(self.dtype, self.length):
            raise FormatError("has another header than meta.json says", where=self.path, do=_REMAKE)


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
        self._lock = only_writer(self.path)
        self._lock.__enter__()
        self._generation = 1 + max(_generations(self.path), default=0)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for writer in self._open:
            writer.close()
        if self._kept and error is not None:
            self._lock.release()
            return
        _remove_unnamed(self.path)
        self._lock.__exit__(None, None, None)
        if self._made_folder and not (self.path / META).exists():
            reached("rmdir", self.path)
            self.path.rmdir()

    def array(self, name: str, dtype: DTypeLike) -> ArrayWriter:
        """Begin an array of one dimension, or go on with a marked one; write() to it in order."""
        if name in self._mark:
            writer = ArrayWriter.again(self.path, self._mark[name])
        else:
            writer = ArrayWriter(self._new(name, "npy"), np.dtype(dtype), _HEADER)
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

    def keep(self) -> None:
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
        meta |= {"digest": _digest(meta), "run": dict(card)}
        with whole_file(self.path / META, durable=self._durable) as out:
            out.write(json.dumps(meta, indent=1).encode("ascii"))  # a path may hold any byte
        return Store.open(self.path)

    def _new(self, name: str, suffix: str) -> Path:
        return self.path / f"{name}.{self._generation}.{suffix}"

    def _make_folder(self) -> None:
        try:
            make_folder(self.path)
        except FileNotFoundError:
            do = "make it, or name another with -o"
            raise MissingInputError("no such folder", where=self.path.parent, do=do) from None
        except OSError as error:
            raise write_error(self.path, error) from error
        self._made_folder = True


class ArrayWriter:
    """Appends to one .npy file (or, without header, a plain one), noting a CRC for each MiB."""

    def __init__(self, path: Path, dtype: np.dtype[Any], header: int) -> None:
        self._path, self._dtype, self._header = path, dtype.newbyteorder("<"), header
        self._crcs: list[int] = []
        self._partial = 0  # bytes since the last whole MiB
        self.length = 0
        try:
            self._file = WatchedFile(path, "x")
            self._file.write(b"\0" * header)
        except OSError as error:
            raise write_error(path, error) from error

    @classmethod
    def again(cls, folder: Path, entry: Mapping[str, Any]) -> Self:
        """Go on with an array where its `entry` was taken; what lies behind is cut off.

        Its bytes must have been checked (`marked_array`). Raises WriteError.
        """
        made = cls.__new__(cls)
        made._path, made._dtype = folder / entry["file"], np.dtype(entry["dtype"])
        made._header, made._crcs, made.length = _HEADER, list(entry["crc32"]), entry["length"]
        size = made.length * made._dtype.itemsize
        made._partial = size % CRC_BLOCK
        try:
            made._file = WatchedFile(made._path, "r+")
            made._file.truncate(_HEADER + size)
            made._file.seek(0, os.SEEK_END)
        except OSError as error:
            raise write_error(made._path, error) from error
        return made

    def write(self, values: Array) -> None:
        """Append values; they are converted to the array's type."""
        values = np.ascontiguousarray(values, self._dtype)
        raw = memoryview(values.data).cast("B") if len(values) else memoryview(b"")
        for piece in self._crc_pieces(raw):
            last = self._crcs.pop() if self._partial else 0
            self._crcs.append(zlib.crc32(piece, last))
            self._partial = (self._partial + len(piece)) % CRC_BLOCK
        self.length += len(values)
        try:
            while raw:
                raw = raw[self._file.write(raw) :]
        except OSError as error:
            raise write_error(self._path.parent, error) from error

    def entry(self) -> dict[str, Any]:
        """Write the header for what there is, and return the entry that meta.json has of it."""
        try:
            if self._header:
                self._file.seek(0)
                self._file.write(_npy_header(self._dtype, self.length))
                self._file.seek(0, os.SEEK_END)
        except OSError as error:
            raise write_error(self._path.parent, error) from error
        named = {"file": self._path.name, "dtype": self._dtype.str, "length": self.length}
        return {**named, "crc32": list(self._crcs)}

    def finish(self, durable: bool) -> dict[str, Any]:
        """End the file and return its entry for meta.json."""
        entry = self.entry()
        try:
            if durable:
                self._file.sync()
        except OSError as error:
            raise write_error(self._path.parent, error) from error
        self.close()
        return entry

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _crc_pieces(self, raw: memoryview) -> Iterator[memoryview]:
        at = 0
        while at < len(raw):
            size = min(len(raw) - at, CRC_BLOCK - self._partial)
            yield raw[at : at + size]
            at += size


def marked_array(folder: Path, entry: Any) -> StoredArray:
    """Return an array of a mark (StoreWriter.mark), to be read and so checked.

    Raises FormatError where the mark is not one, or the file is not there or too short.
    """
    if not _entry_well_formed(entry):
        raise FormatError("its mark was edited", where=folder)
    array = StoredArray(folder / entry["file"], entry, marked=True)
    try:
        short = array.path.stat().st_size < _bytes(entry)
    except OSError:
        short = True
    if short:
        raise FormatError("is missing or was cut", where=array.path)
    return array


def only_writer(path: Path) -> Lock:
    """Return the lock of a store; raises LockedError where another process writes it."""
    return Lock(path / LOCK, path)


def exists(path: str | os.PathLike[str]) -> bool:
    """Tell whether a store was committed there."""
    return (Path(path) / META).exists()


def _npy_header(dtype: np.dtype[Any], length: int) -> bytes:
    text = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': ({length},), }}"
    size = _HEADER - len(npy.magic(1, 0)) - 2
    return npy.magic(1, 0) + size.to_bytes(2, "little") + text.ljust(size - 1).encode() + b"\n"


def _header_bytes(entry: Mapping[str, Any]) -> int:
    return _HEADER if entry["file"].endswith(".npy") else 0


def _digest(meta: Mapping[str, Any]) -> str:
    """Return the content's digest: of its kind, attributes, and every part's type and CRCs."""
    parts = {n: [e["dtype"], e["length"], e["crc32"]] for n, e in meta["files"].items()}
    content = [meta["format"], meta["version"], meta["kind"], meta["attributes"], parts]
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _read_meta(folder: Path) -> dict[str, Any]:
    path = folder / META
    if not folder.is_dir():
        what = "is a file, not a matrix folder" if folder.exists() else "no such matrix folder"
        do = "make one with wordgeom build-cooc"
        raise MissingInputError(what, where=folder, do=do)
    try:
        meta = json.loads(path.read_bytes())
    except FileNotFoundError:
        if (folder / LOCK).exists():
            do = "make it again; --resume goes on from what was kept"
            raise FormatError("is unfinished", where=folder, do=do) from None
        do = "name a folder that wordgeom made"
        raise FormatError(f"has no {META}", where=folder, do=do) from None
    except (ValueError, RecursionError):
        do = "remove the folder and make it again"
        raise FormatError("is not JSON", where=path, do=do) from None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise FormatError("is not wordgeom's", where=path, do="name a folder that wordgeom made")
    if meta.get("version") != VERSION:
        do = "use a newer wordgeom, or make it again"
        found = f"format version {meta.get('version')!r}, known is {VERSION}"
        raise FormatError("cannot be read", where=path, found=found, do=do)
    if not _well_formed(meta) or _digest(meta) != meta["digest"]:
        raise FormatError("was edited or damaged", where=path, do=_REMAKE)
    return meta


def _well_formed(meta: dict[str, Any]) -> bool:
    kinds = {"kind": str, "attributes": dict, "files": dict, "digest": str, "run": dict}
    if not all(isinstance(meta.get(key), kind) for key, kind in kinds.items()):
        return False
    return all(_entry_well_formed(entry) for entry in meta["files"].values())


def _entry_well_formed(entry: Any) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        return False
    name, length, crcs = entry["file"], entry.get("length"), entry.get("crc32")
    if not _OURS.fullmatch(name) or name.startswith(".") or entry.get("dtype") not in _DTYPES:
        return False
    if type(length) is not int or length < 0 or not isinstance(crcs, list):
        return False
    blocks = -(-length * np.dtype(entry["dtype"]).itemsize // CRC_BLOCK)
    return len(crcs) == blocks and all(type(c) is int for c in crcs)


def _bytes(entry: Mapping[str, Any]) -> int:
    size: int = _header_bytes(entry) + entry["length"] * np.dtype(entry["dtype"]).itemsize
    return size


def _check_size(path: Path, entry: dict[str, Any]) -> None:
    wanted = _bytes(entry)
    try:
        size = path.stat().st_size
    except OSError:
        raise FormatError("is missing", where=path, do=_REMAKE) from None
    if size != wanted:
        found = f"{size:,} bytes where {wanted:,} were written"
        raise FormatError("has another size", where=path, found=found, do=_REMAKE)


def _refuse_foreign(folder: Path) -> None:
    """Refuse to write into a folder that holds anything that is not ours."""
    if (folder / META).exists():
        _read_meta_loosely(folder)
        return
    locked = (folder / LOCK).exists()  # what a writer that died leaves beside its parts
    for path in folder.iterdir():
        if not (locked and _OURS.fullmatch(path.name)):
            do = "name another with -o, or remove it"
            raise OutputExistsError(
                "is a folder with other files", where=folder, found=path.name, do=do
            )


def _read_meta_loosely(folder: Path) -> dict[str, Any]:
    """Return meta.json if it is wordgeom's in any state, so that a broken store can be replaced."""
    try:
        meta = json.loads((folder / META).read_bytes())
    except (OSError, ValueError, RecursionError):
        meta = None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        do = "name another folder with -o"
        raise OutputExistsError(f"holds another program's {META}", where=folder, do=do)
    return meta


def _generations(folder: Path) -> Iterator[int]:
    for path in folder.iterdir():
        match = _OURS.fullmatch(path.name)
        if match and match[1]:
            yield int(match[1])


def _remove_unnamed(folder: Path) -> None:
    """Remove the parts that meta.json does not name: left by a writer that died, or replaced."""
    named: set[str] = set()
    if (folder / META).exists():
        files = _read_meta_loosely(folder).get("files", {})
        entries = files.values() if isinstance(files, dict) else ()
        named = {str(e.get("file")) for e in entries if isinstance(e, dict)}
    for path in folder.iterdir():
        if path.name not in named and path.name != LOCK and _OURS.fullmatch(path.name):
            remove(path)

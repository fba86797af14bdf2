"""The `meta.json` of a store, and its checks (docs/reference/files.md)."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from wordgeom.core.errors import FormatError, MissingInputError, OutputExistsError

FORMAT, VERSION = "wordgeom", 1
META, LOCK = "meta.json", ".lock"
CRC_BLOCK = 1 << 20  # bytes with a CRC-32 of their own
HEADER = 128  # bytes of .npy header, reserved before the length is known
OURS = re.compile(r"[a-z]+\.(\d+)\.(npy|tsv)|\.lock|\.meta\.json\.part")
_COMMAND = re.compile(r"[a-z]+(-[a-z]+)*")
_DTYPES = ("<i4", "<i8", "<u4", "<u8", "<f4", "<f8", "|u1")
_FINISH = "run its command again, with --resume to use a checkpoint"
_NAME = "pass a directory that wordgeom created"


def unfinished_folder(path: Path) -> Path:
    """Return the hidden directory beside `path` in which a new store is built."""
    if path.name in ("", ".."):  # names a directory without saying its name
        path = Path(os.path.abspath(path))
    return path.with_name(f".{path.name}.unfinished")


def read_meta(folder: Path) -> dict[str, Any]:
    """Return meta.json, checked against its digest.

    Raises MissingInputError, or FormatError for a file that is missing, edited or of another
    version.
    """
    if not folder.is_dir():
        if unfinished_folder(folder).is_dir() and not folder.exists():
            raise FormatError("is unfinished", where=folder, do=_FINISH)
        what = "a file, not a matrix directory" if folder.exists() else "no such matrix directory"
        do = "create one with wordgeom build-cooc"
        raise MissingInputError(what, where=folder, do=do)
    meta, path = _parsed(folder), folder / META
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise FormatError("not written by wordgeom", where=path, do=_NAME)
    if meta.get("version") != VERSION:
        do = "upgrade wordgeom, or rebuild it"
        what = f"unsupported format version {meta.get('version')!r}, not {VERSION}"
        raise FormatError(what, where=path, do=do)
    if not _well_formed(meta) or content_digest(meta) != meta["digest"]:
        raise FormatError("edited or damaged", where=path, do=remake(meta))
    return meta


def read_meta_loosely(folder: Path) -> dict[str, Any]:
    """Return meta.json unchecked if wordgeom wrote it, so that a damaged store can be replaced."""
    try:
        meta = json.loads((folder / META).read_bytes())
    except (OSError, ValueError, RecursionError):
        meta = None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        do = "choose another output, or move this directory"
        what = f"contains a {META} that is damaged or another program's"
        raise OutputExistsError(what, where=folder, do=do)
    return meta


def remake(meta: Mapping[str, Any]) -> str:
    """Return the advice to make a store again, with the command that its run card names, if any.

    A command that makes it besides another output has an option of the name of its kind.
    """
    request = _table(_table(meta, "run"), "request")
    command = request.get("command")
    if not isinstance(command, str) or not _COMMAND.fullmatch(command):
        return "rebuild it with --force"
    kind = str(meta.get("kind"))
    beside = command != kind and _table(request, "options").get(kind)
    option = f" --{kind}" if beside else ""
    return f"rebuild it with wordgeom {command} --force{option}"


def _table(meta: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a table in unchecked metadata, an empty one if it is not there."""
    value = meta.get(name)
    return value if isinstance(value, dict) else {}


def content_digest(meta: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a store's kind, attributes, and the dtype and CRCs of its parts."""
    parts = {n: [e["dtype"], e["length"], e["crc32"]] for n, e in meta["files"].items()}
    content = [meta["format"], meta["version"], meta["kind"], meta["attributes"], parts]
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def entry_well_formed(entry: Any) -> bool:
    """Return whether an entry names a file of a store, of a known dtype, with a CRC per MiB."""
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        return False
    name, length, crcs = entry["file"], entry.get("length"), entry.get("crc32")
    if not OURS.fullmatch(name) or name.startswith(".") or entry.get("dtype") not in _DTYPES:
        return False
    if type(length) is not int or length < 0 or not isinstance(crcs, list):
        return False
    blocks = -(-length * np.dtype(entry["dtype"]).itemsize // CRC_BLOCK)
    return len(crcs) == blocks and all(type(c) is int for c in crcs)


def check_size(path: Path, entry: Mapping[str, Any], do: str) -> None:
    """Raise FormatError for a file that is missing or has another size than its entry says.

    do: the advice then.
    """
    wanted = part_bytes(entry)
    try:
        size = path.stat().st_size
    except OSError:
        raise FormatError("missing", where=path, do=do) from None
    if size != wanted:
        what = f"has the wrong size, {size:,} bytes instead of {wanted:,}"
        raise FormatError(what, where=path, do=do)


def part_bytes(entry: Mapping[str, Any]) -> int:
    """Return the size of a part's file in bytes."""
    size: int = header_bytes(entry) + entry["length"] * np.dtype(entry["dtype"]).itemsize
    return size


def header_bytes(entry: Mapping[str, Any]) -> int:
    """Return the size of a part's header in bytes."""
    return HEADER if entry["file"].endswith(".npy") else 0


def npy_header(dtype: np.dtype[Any], length: int) -> bytes:
    """Return the header of a one-dimensional .npy file, HEADER bytes at any length."""
    text = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': ({length},), }}"
    size = HEADER - len(npy.magic(1, 0)) - 2
    return npy.magic(1, 0) + size.to_bytes(2, "little") + text.ljust(size - 1).encode() + b"\n"


def _parsed(folder: Path) -> Any:
    path = folder / META
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        if (folder / LOCK).exists():
            raise FormatError("is unfinished", where=folder, do=_FINISH) from None
        raise FormatError(f"has no {META}", where=folder, do=_NAME) from None
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", where=path) from None
    except (ValueError, RecursionError):
        do = "remove the directory and rebuild it"
        raise FormatError("not JSON", where=path, do=do) from None


def _well_formed(meta: dict[str, Any]) -> bool:
    kinds = {"kind": str, "attributes": dict, "files": dict, "digest": str, "run": dict}
    if not all(isinstance(meta.get(key), kind) for key, kind in kinds.items()):
        return False
    return all(entry_well_formed(entry) for entry in meta["files"].values())

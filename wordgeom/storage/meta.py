"""What `meta.json` says of a store's files, and whether it can be true: docs/format.md."""

from __future__ import annotations

import hashlib
import json
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
REMAKE = "make it again with --force (build-cooc, build-dtm or build-pmi)"
_DTYPES = ("<i4", "<i8", "<u4", "<u8", "<f4", "<f8", "|u1")


def read_meta(folder: Path) -> dict[str, Any]:
    """Return meta.json, each of whose entries can be true.

    Raises MissingInputError, or FormatError for what is missing, edited or of another version.
    """
    if not folder.is_dir():
        what = "is a file, not a matrix folder" if folder.exists() else "no such matrix folder"
        do = "make one with wordgeom build-cooc"
        raise MissingInputError(what, where=folder, do=do)
    meta, path = _parsed(folder), folder / META
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise FormatError("is not wordgeom's", where=path, do="name a folder that wordgeom made")
    if meta.get("version") != VERSION:
        do = "use a newer wordgeom, or make it again"
        found = f"format version {meta.get('version')!r}, known is {VERSION}"
        raise FormatError("cannot be read", where=path, found=found, do=do)
    if not _well_formed(meta) or content_digest(meta) != meta["digest"]:
        raise FormatError("was edited or damaged", where=path, do=REMAKE)
    return meta


def read_meta_loosely(folder: Path) -> dict[str, Any]:
    """Return meta.json if it is wordgeom's in any state, so that a broken store can be replaced."""
    try:
        meta = json.loads((folder / META).read_bytes())
    except (OSError, ValueError, RecursionError):
        meta = None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        do = "name another folder with -o"
        raise OutputExistsError(f"holds another program's {META}", where=folder, do=do)
    return meta


def content_digest(meta: Mapping[str, Any]) -> str:
    """Return the content's digest: of its kind, attributes, and every part's type and CRCs."""
    parts = {n: [e["dtype"], e["length"], e["crc32"]] for n, e in meta["files"].items()}
    content = [meta["format"], meta["version"], meta["kind"], meta["attributes"], parts]
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def entry_well_formed(entry: Any) -> bool:
    """Tell whether an entry names a file of ours, of a known type, with a CRC for each MiB."""
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        return False
    name, length, crcs = entry["file"], entry.get("length"), entry.get("crc32")
    if not OURS.fullmatch(name) or name.startswith(".") or entry.get("dtype") not in _DTYPES:
        return False
    if type(length) is not int or length < 0 or not isinstance(crcs, list):
        return False
    blocks = -(-length * np.dtype(entry["dtype"]).itemsize // CRC_BLOCK)
    return len(crcs) == blocks and all(type(c) is int for c in crcs)


def check_size(path: Path, entry: Mapping[str, Any]) -> None:
    """Raise FormatError for a file that is missing or has not the bytes of its entry."""
    wanted = part_bytes(entry)
    try:
        size = path.stat().st_size
    except OSError:
        raise FormatError("is missing", where=path, do=REMAKE) from None
    if size != wanted:
        found = f"{size:,} bytes where {wanted:,} were written"
        raise FormatError("has another size", where=path, found=found, do=REMAKE)


def part_bytes(entry: Mapping[str, Any]) -> int:
    """Return the bytes of a part's file."""
    size: int = header_bytes(entry) + entry["length"] * np.dtype(entry["dtype"]).itemsize
    return size


def header_bytes(entry: Mapping[str, Any]) -> int:
    """Return the bytes before a part's first value."""
    return HEADER if entry["file"].endswith(".npy") else 0


def npy_header(dtype: np.dtype[Any], length: int) -> bytes:
    """Return the header of a .npy file of one dimension, HEADER bytes whatever its length."""
    text = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': ({length},), }}"
    size = HEADER - len(npy.magic(1, 0)) - 2
    return npy.magic(1, 0) + size.to_bytes(2, "little") + text.ljust(size - 1).encode() + b"\n"


def _parsed(folder: Path) -> Any:
    path = folder / META
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        if (folder / LOCK).exists():
            do = "make it again; --resume goes on from what was kept"
            raise FormatError("is unfinished", where=folder, do=do) from None
        do = "name a folder that wordgeom made"
        raise FormatError(f"has no {META}", where=folder, do=do) from None
    except OSError as error:
        raise FormatError("cannot be read", where=path, found=error.strerror) from None
    except (ValueError, RecursionError):
        do = "remove the folder and make it again"
        raise FormatError("is not JSON", where=path, do=do) from None


def _well_formed(meta: dict[str, Any]) -> bool:
    kinds = {"kind": str, "attributes": dict, "files": dict, "digest": str, "run": dict}
    if not all(isinstance(meta.get(key), kind) for key, kind in kinds.items()):
        return False
    return all(entry_well_formed(entry) for entry in meta["files"].values())

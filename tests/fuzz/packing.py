"""What stands around content and vouches for it, made anew after the content was changed.

Without this a checksum would turn every mutated file away at the door.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import zipfile
import zlib
from typing import Any

import numpy as np

from wordgeom.storage import meta as _store_meta

Files = dict[str, bytes]
_HEADER = 128  # bytes of a part's .npy header
_MEMBERS = "members/"


def vouch(files: Files) -> Files:
    """Let every store's meta.json, where it can be read, fit its files: lengths, sums, digest."""
    made = dict(files)
    for name in files:
        if name.endswith(_store_meta.META):
            folder = name.removesuffix(_store_meta.META)
            with contextlib.suppress(Exception):  # what is no longer a meta.json stays as it is
                meta = json.loads(files[name])
                parts = dict(_fitted(entry, files, folder) for entry in meta["files"].values())
                meta["digest"] = _store_meta.content_digest(meta)
                made |= {**parts, name: json.dumps(meta).encode()}
    return made


def _fitted(entry: dict[str, Any], files: Files, folder: str) -> tuple[str, bytes]:
    """Make an entry of meta.json fit its file; return the file with the header of that entry."""
    name, dtype = folder + entry["file"], np.dtype(entry["dtype"])
    header = _HEADER if name.endswith(".npy") else 0
    content = files[name][header:]
    entry["length"] = len(content) // dtype.itemsize
    content = content[: entry["length"] * dtype.itemsize]
    step = _store_meta.CRC_BLOCK
    entry["crc32"] = [zlib.crc32(content[k : k + step]) for k in range(0, len(content), step)]
    return name, (_store_meta.npy_header(dtype, entry["length"]) if header else b"") + content


def attest(files: Files) -> Files:
    """Make the content of a run card that of its file, where the card can be read."""
    made = dict(files)
    for name in files:
        if ".bin.json" in name:
            vectors = files.get(name.replace(".json", ""), b"")
            content = {"bytes": len(vectors), "sha256": hashlib.sha256(vectors).hexdigest()}
            with contextlib.suppress(Exception):
                made[name] = json.dumps({**json.loads(files[name]), "content": content}).encode()
    return made


def unzipped(name: str, archive: bytes) -> Files:
    """Return the members of an archive, for `zipped` to put together again."""
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        members = {_MEMBERS + member: packed.read(member) for member in packed.namelist()}
    return {name: b"", **members}


def zipped(files: Files) -> Files:
    """Put members into the archive that they are of."""
    name = next(iter(files))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for member, data in files.items():
            if member.startswith(_MEMBERS):
                packed.writestr(member.removeprefix(_MEMBERS), data)
    rest = {n: d for n, d in files.items() if not n.startswith(_MEMBERS) and n != name}
    return {name: out.getvalue(), **rest}


def gzipped(files: Files) -> Files:
    """Pack every file whose name says that it is packed."""
    return {n: gzip.compress(d, 1) if n.endswith(".gz") else d for n, d in files.items()}

"""What a folder holds, told so that two runs can be compared, and nothing half-written passes."""

from __future__ import annotations

import hashlib
from pathlib import Path

from wordgeom.storage.meta import META
from wordgeom.storage.store import Store
from wordgeom.vectors.run_card import read_card

Products = dict[str, str]
_VECTORS = (".bin", ".txt", ".vec")


def products(folder: Path) -> Products:
    """Return name → digest of all in a folder: stores checked whole, cards that fit their file."""
    return {path.name: _content(path) for path in sorted(folder.iterdir())}


def committed(folder: Path) -> Products:
    """Return name → digest of what is there as output; what a dead run left aside is left out."""
    return {
        path.name: _content(path, only=False)
        for path in sorted(folder.iterdir())
        if not path.name.startswith(".") and not _is_card(path) and not _is_unfinished(path)
    }


def expected(found: Products) -> Products:
    """Return products as `committed` tells them."""
    return {n: d.removesuffix(" +card") for n, d in found.items() if not n.endswith(".json")}


def _content(path: Path, *, only: bool = True) -> str:
    if _holds_outputs(path):
        return hashlib.sha256(repr(products(path)).encode()).hexdigest()
    if path.is_dir():
        return _store(path, only)
    if _is_card(path):
        return "card"  # holds seconds; whether it fits is told of its file
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    fits = only and path.suffix in _VECTORS and read_card(path) is not None
    return digest + (" +card" if fits else "")


def _store(path: Path, only: bool) -> str:
    store = Store.open(path)
    store.check()
    if only:
        named = {part["file"] for part in store.parts().values()}
        left = {file.name for file in path.iterdir()} - named - {META}
        assert not left, f"{path} also holds {left}"
    return store.digest


def _is_card(path: Path) -> bool:
    return path.suffix == ".json" and path.is_file()


def _is_unfinished(path: Path) -> bool:
    return path.is_dir() and not (path / META).exists() and not _holds_outputs(path)


def _holds_outputs(path: Path) -> bool:
    """Tell whether a folder is what `rerun` made: one of stores, or of files and their cards."""
    if not path.is_dir() or (path / META).exists():
        return False
    return any((one / META).exists() or _is_card(one) for one in path.iterdir())

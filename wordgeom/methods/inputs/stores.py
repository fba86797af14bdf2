"""Opening the directory that a method needs, of one kind or another."""

from __future__ import annotations

from pathlib import Path

from wordgeom.core.errors import InputError
from wordgeom.matrices.document_term import Stored
from wordgeom.matrices.opening import command_of, open_any


def open_store(path: Path, kinds: tuple[str, ...]) -> Stored:
    """Open a complete, current store; raises InputError for one of another kind."""
    stored = open_any(path)
    if stored.store.kind not in kinds:
        needed = " or ".join(command_of(kind) for kind in kinds)
        what = f"is output of {command_of(stored.store.kind)}; the method needs that of {needed}"
        do = f"run wordgeom {command_of(kinds[0])}"
        raise InputError(what, where=path, do=do)
    return stored

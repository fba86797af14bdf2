"""Which output a configuration file made itself, so that `wordgeom run` may rebuild it.

The run card of an output names the configuration file that made it. A file written beside it must
still be what was written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wordgeom.core.errors import WordgeomError
from wordgeom.storage import store
from wordgeom.storage.store import Store
from wordgeom.vectors import run_card


def made_here(out: Path, beside: Sequence[Path], command: str, config: Path) -> bool:
    """Return whether `config` made `out` by this command, and all else that a rebuild replaces.

    beside: files that are written with `out`.
    """
    card = _card(out)
    if not _names(card, config) or card.get("request", {}).get("command") != command:
        return False
    written = {
        os.path.abspath(out.parent / name): held for name, held in card.get("beside", {}).items()
    }
    for path in beside:
        held = written.get(os.path.abspath(path))
        if path.exists() and not _unchanged(path, held, out):
            return False
    exports = out.parent.glob(f"{out.name}-*.bin") if out.is_dir() else ()
    return all(_names(_card(path), config) for path in exports)


def _card(out: Path) -> Mapping[str, Any]:
    """Return the run card of an intact store or file, empty where there is none."""
    try:
        return Store.open(out).card if store.exists(out) else run_card.read_card(out) or {}
    except WordgeomError:
        return {}


def _names(card: Mapping[str, Any], config: Path) -> bool:
    return card.get("configuration") == os.path.realpath(config)


def _unchanged(path: Path, held: Any, out: Path) -> bool:
    """Return whether a file is what the card holds, or the vocabulary of the store `out`."""
    if held is not None:
        return path.is_file() and run_card.file_content(path) == held
    if not store.exists(out) or "vocab" not in Store.open(out).parts():
        return False
    return path.is_file() and path.read_bytes() == Store.open(out).text("vocab")

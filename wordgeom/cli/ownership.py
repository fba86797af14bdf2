"""Which output a configuration file made itself, so that `wordgeom run` may rebuild it.

The run card of an output names the configuration file that made it. A file written beside it must
still be what was written, and a store beside it has a run card too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wordgeom.core.errors import WordgeomError
from wordgeom.runtime import provenance
from wordgeom.storage import store
from wordgeom.storage.store import Store
from wordgeom.vectors import run_card


def made_here(out: Path, beside: Sequence[Path], command: str, config: Path) -> bool:
    """Return whether `config` made `out` by this command, and all else that a rebuild replaces.

    beside: files and stores that are written with `out`.
    """
    card = _card(out)
    if not _made_by(card, command, config):
        return False
    written = {
        os.path.abspath(out.parent / name): held for name, held in card.get("beside", {}).items()
    }
    for path in beside:
        held = written.get(os.path.abspath(path))
        if store.exists(path):  # of n-grams, with a run card of its own
            if not _made_by(_card(path), command, config):
                return False
        elif path.exists() and not _unchanged(path, held, out):
            return False
    exports = out.parent.glob(f"{out.name}-*.bin") if out.is_dir() else ()
    return all(_names(_card(path), config) for path in exports)


def made_all(directory: Path, config: str) -> bool:
    """Return whether `config` made all that is in a directory, which may be empty or missing."""
    if not directory.is_dir():
        return not os.path.lexists(directory)
    found = list(directory.iterdir())
    own = [path for path in found if _names(_card(path), config)]
    return set(found) <= {*own, *map(run_card.card_path, own)}


def claim(directory: Path) -> None:
    """Name the configuration file that runs in the run cards of a directory's vectors."""
    for path in list(directory.iterdir()):
        card = run_card.read_card(path)
        if card is not None:
            run_card.add_card(path, {**card, **provenance.configuration()})


def _card(out: Path) -> Mapping[str, Any]:
    """Return the run card of an intact store or file, empty where there is none."""
    try:
        return Store.open(out).card if store.exists(out) else run_card.read_card(out) or {}
    except WordgeomError:
        return {}


def _made_by(card: Mapping[str, Any], command: str, config: Path) -> bool:
    return _names(card, config) and card.get("request", {}).get("command") == command


def _names(card: Mapping[str, Any], config: str | Path) -> bool:
    return card.get("configuration") == os.path.realpath(config)


def _unchanged(path: Path, held: Any, out: Path) -> bool:
    """Return whether a file is what the card holds, or the vocabulary of the store `out`."""
    if held is not None:
        return path.is_file() and run_card.file_content(path) == held
    if not store.exists(out) or "vocab" not in Store.open(out).parts():
        return False
    return path.is_file() and path.read_bytes() == Store.open(out).text("vocab")

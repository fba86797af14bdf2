"""Peers that were trained before, kept in the user's cache folder: they take minutes each.

An entry is a vectors file and its card, found by a digest of all that can change its vectors,
seconds or memory. A card that does not fit its file counts as none, and the peer is trained anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import logging
import os
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from wordgeom.core.version import __version__
from wordgeom.corpus.inputs.readers import file_digest
from wordgeom.peers import PeerOptions
from wordgeom.peers.sentences import Text
from wordgeom.runtime import provenance
from wordgeom.runtime.cache import cache_folder
from wordgeom.runtime.subprocesses import run_module
from wordgeom.storage.files import atomic_file
from wordgeom.vectors.run_card import card_path, read_card

_log = logging.getLogger("wordgeom")


@dataclass(frozen=True)
class Entry:
    """A trained peer: where its vectors lie, what they cost, whether they were there before."""

    path: Path
    seconds: float
    peak_bytes: int
    tokens: int
    notes: tuple[str, ...]
    cached: bool


def trained(peer: str, text: Text, options: PeerOptions, spare: Path) -> Entry:
    """Return a trained peer; `spare` is where it lies if there is no cache folder to write to.

    Raises MissingInputError for a text that is not there, InputError where training fails.
    """
    asked = {
        "peer": peer, "text": dataclasses.asdict(text), "options": dataclasses.asdict(options)
    }  # fmt: skip
    folder = _cache_folder() or spare
    path = folder / f"{peer}-{_key(asked)}.bin"
    if found := _found(path):
        return found
    _log.info("training %s …", peer)
    with tempfile.TemporaryDirectory(prefix=".training-", dir=folder) as place:
        fresh = Path(place) / path.name
        done = run_module("wordgeom.peers", [json.dumps(asked), str(fresh)])
        card = {**json.loads(done.output), "seconds": round(done.seconds, 3), "request": asked}
        card["content"] = {"bytes": fresh.stat().st_size, "sha256": file_digest(str(fresh))}
        os.replace(fresh, path)
    with atomic_file(card_path(path)) as out:
        out.write(json.dumps(card, ensure_ascii=False, indent=1).encode("utf-8"))
    return _entry(path, card, cached=False)


def _key(asked: dict[str, Any]) -> str:
    """Return a digest of what is asked, by the text's content, and of what would do it."""
    contents = [file_digest(name) for name in asked["text"]["names"]]
    # Which linear algebra is loaded by now says nothing of the process to come.
    machine = {name: kind for name, kind in provenance.machine().items() if name != "blas"}
    versions = {name: metadata.version(name) for name in ("gensim", "numpy", "scipy")}
    key = {**asked, "contents": contents, "machine": machine, "versions": versions}
    key["text"] = {**asked["text"], "names": None}
    whole = json.dumps([__version__, key], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()[:32]


def _found(path: Path) -> Entry | None:
    card = read_card(path)
    with contextlib.suppress(KeyError, TypeError, ValueError):
        return None if card is None else _entry(path, card, cached=True)
    return None


def _entry(path: Path, card: dict[str, Any], *, cached: bool) -> Entry:
    notes = tuple(str(note) for note in card["notes"])
    peak, tokens = int(card["peak_bytes"]), int(card["tokens"])
    return Entry(path, float(card["seconds"]), peak, tokens, notes, cached)


def _cache_folder() -> Path | None:
    """Return the folder of entries, None where there is none that can be written to."""
    try:
        return cache_folder("peers")
    except (OSError, RuntimeError) as error:
        _log.warning("no cache for peers (%s): they are trained again on every run", error)
        return None

"""A cache of trained peers in the user's cache directory, since training takes minutes.

An entry is a vectors file with its run card, named by a digest of everything that affects vectors,
time or memory. If the card does not match the file, the peer is trained again.
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
class TrainedPeer:
    """A trained peer: its vectors file, its cost, and whether it comes from the cache."""

    path: Path
    seconds: float
    peak_bytes: int
    tokens: int
    notes: tuple[str, ...]
    cached: bool


def trained_peer(peer: str, text: Text, options: PeerOptions, fallback: Path) -> TrainedPeer:
    """Return a peer from the cache, or train it; fallback: directory to use without a cache.

    Raises MissingInputError for missing text, InputError if the training fails.
    """
    request = {
        "peer": peer, "text": dataclasses.asdict(text), "options": dataclasses.asdict(options)
    }  # fmt: skip
    directory = _cache_directory() or fallback
    path = directory / f"{peer}-{_key(request)}.bin"
    if cached := _cached(path):
        return cached
    _log.info("training %s …", peer)
    with tempfile.TemporaryDirectory(prefix=".training-", dir=directory) as scratch:
        fresh = Path(scratch) / path.name
        done = run_module("wordgeom.peers", [json.dumps(request), str(fresh)])
        card = {**json.loads(done.output), "seconds": round(done.seconds, 3), "request": request}
        card["content"] = {"bytes": fresh.stat().st_size, "sha256": file_digest(str(fresh))}
        os.replace(fresh, path)
    with atomic_file(card_path(path)) as out:
        out.write(json.dumps(card, ensure_ascii=False, indent=1).encode("utf-8"))
    return _from_card(path, card, cached=False)


def _key(request: dict[str, Any]) -> str:
    """Return a digest of the request, the content of the text, the machine and the versions."""
    contents = [file_digest(name) for name in request["text"]["names"]]
    # The process that trains may load another BLAS.
    machine = {name: kind for name, kind in provenance.machine().items() if name != "blas"}
    versions = {name: metadata.version(name) for name in ("gensim", "numpy", "scipy")}
    key = {**request, "contents": contents, "machine": machine, "versions": versions}
    key["text"] = {**request["text"], "names": None}
    serialised = json.dumps([__version__, key], sort_keys=True)
    return hashlib.sha256(serialised.encode()).hexdigest()[:32]


def _cached(path: Path) -> TrainedPeer | None:
    card = read_card(path)
    with contextlib.suppress(KeyError, TypeError, ValueError):
        return None if card is None else _from_card(path, card, cached=True)
    return None


def _from_card(path: Path, card: dict[str, Any], *, cached: bool) -> TrainedPeer:
    notes = tuple(str(note) for note in card["notes"])
    peak, tokens = int(card["peak_bytes"]), int(card["tokens"])
    return TrainedPeer(path, float(card["seconds"]), peak, tokens, notes, cached)


def _cache_directory() -> Path | None:
    """Return the cache directory, None if it cannot be written to."""
    try:
        return cache_folder("peers")
    except (OSError, RuntimeError) as error:
        _log.warning("no cache for peers (%s); every run trains them again", error)
        return None

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
from contextlib import closing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from wordgeom.core.version import __version__
from wordgeom.corpus.inputs.readers import file_digest
from wordgeom.matrices.opening import open_any
from wordgeom.peers import PeerOptions
from wordgeom.peers.sentences import Text
from wordgeom.runtime import provenance
from wordgeom.runtime.cache import cache_folder
from wordgeom.runtime.progress import Progress
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


def trained_peer(
    peer: str,
    text: Text,
    options: PeerOptions,
    fallback: Path,
    *,
    cache: bool = True,
    progress: Progress | None = None,
) -> TrainedPeer:
    """Return a peer from the cache, or train it.

    fallback: directory to use without a cache; cache: False neither reads nor writes it. Raises
    MissingInputError for missing text, InputError if the training fails.
    """
    request = {
        "peer": peer, "text": dataclasses.asdict(text), "options": dataclasses.asdict(options)
    }  # fmt: skip
    directory = (_cache_directory() if cache else None) or fallback
    path = directory / f"{peer}-{_key(request)}.bin"
    if cached := _cached(path):
        return cached
    _log.info("training %s …", peer)
    with tempfile.TemporaryDirectory(prefix=".training-", dir=directory) as scratch:
        fresh = Path(scratch) / path.name
        arguments = [json.dumps(request), str(fresh)]
        with closing((progress or Progress()).bar(f"training {peer}", 100, "%")) as bar:
            done = run_module("wordgeom.peers", arguments, _Following(bar))
        facts = json.loads(done.output.splitlines()[-1])
        card = {**facts, "seconds": round(done.seconds, 3), "request": request}
        card["content"] = {"bytes": fresh.stat().st_size, "sha256": file_digest(str(fresh))}
        os.replace(fresh, path)
    with atomic_file(card_path(path)) as out:
        out.write(json.dumps(card, ensure_ascii=False, indent=1).encode("utf-8"))
    return _from_card(path, card, cached=False)


def _key(request: dict[str, Any]) -> str:
    """Return a digest of the request, the content of the text, the machine and the versions."""
    text = request["text"]
    contents = [file_digest(name) for name in text["names"]]
    words = None if text["matrix"] is None else _digest(open_any(text["matrix"]).vocabulary.words)
    # The process that trains may load another BLAS.
    machine = {name: kind for name, kind in provenance.machine().items() if name != "blas"}
    versions = {name: metadata.version(name) for name in ("gensim", "numpy", "scipy")}
    key = {**request, "contents": contents, "machine": machine, "versions": versions}
    key["text"] = {**text, "names": None, "matrix": words}
    return _digest([__version__, key])[:32]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


class _Following:
    """Moves a progress bar to the percentages that the process of a peer prints."""

    def __init__(self, bar: Any) -> None:
        self._bar, self._percent = bar, 0

    def __call__(self, line: str) -> None:
        if line.strip().isdecimal():
            self._bar.update(int(line) - self._percent)
            self._percent = int(line)


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

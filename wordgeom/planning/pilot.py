"""A pilot run: one command on a sample, in a process of its own, and what it cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordgeom.core.errors import InputError
from wordgeom.runtime.subprocesses import run_module
from wordgeom.storage import store
from wordgeom.storage.meta import part_bytes, read_meta
from wordgeom.storage.store import Store
from wordgeom.subwords.stored import model_path
from wordgeom.vectors.run_card import read_card

PROGRAM_SECONDS = 1.0  # that the program takes to start


@dataclass(frozen=True)
class Cost:
    """What a run read and made, and what it took.

    tokens: read (0 for what reads no text); rows, words, entries: of the output, 0 for vectors and
    for a report; disk, memory: bytes; products: of a matrix, 0 where the method reports none;
    temporary: bytes of files besides the output, 0 where they are not known; ngrams: bytes of a
    subword model, a part of disk; entry_bytes: of an entry of a matrix, 0 where there is none.
    """

    tokens: int
    rows: int
    words: int
    entries: int
    disk: int
    memory: int
    seconds: float
    products: int = 0
    temporary: int = 0
    ngrams: int = 0
    entry_bytes: int = 0

    @property
    def size(self) -> int:
        """What a later command reads: entries, rows and words of a model, or bytes of vectors."""
        return self.entries or self.rows + self.words or self.disk - self.ngrams


def run_pilot(command: str, settings: Mapping[str, Any], out: Path | None, config: Path) -> Cost:
    """Run a command with these settings, which write `out`, if anything, and return its cost.

    config: where to write them. Raises InputError with what the command said if it failed.
    """
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    config.write_text("\n".join([f"[{command}]", *lines, ""]), encoding="utf-8")
    arguments = [command, "--config", str(config)]
    if out is None:
        took = json.loads(run_module("wordgeom.cli.measured", arguments).output)
        return Cost(0, 0, 0, 0, 0, took["peak_bytes"], took["seconds"])
    run_module("wordgeom", arguments)
    return read_cost(out)


def read_cost(out: Path) -> Cost:
    """Return what an output cost, from its run card. Raises InputError for one without a card."""
    if store.exists(out):
        return _of_store(Store.open(out))
    card = read_card(out)
    if card is None:
        raise InputError("has no run card", where=out)
    products = int(card["statistics"].get("products", 0))
    beside = model_path(out)
    ngrams = _bytes_of(Store.open(beside)) if store.exists(beside) else 0
    disk = out.stat().st_size + ngrams
    return Cost(0, 0, 0, 0, disk, card["peak_bytes"], card["seconds"], products, ngrams=ngrams)


def _of_store(made: Store) -> Cost:
    """Return the cost of a matrix or a model."""
    at, card = made.attributes, made.card
    shape = at.get("shape", [0, 0])
    rows, words = shape[0], shape[-1]  # a model has topics in between
    of_entry = 0
    if "stored" in at:
        of_entry = sum(made.array(part).dtype.itemsize for part in ("indices", "data"))
    return Cost(
        at.get("tokens", 0), rows, words, at.get("stored", 0), _bytes_of(made), card["peak_bytes"],
        card["seconds"], int(card["statistics"].get("products", 0)), entry_bytes=of_entry,
    )  # fmt: skip


def _bytes_of(made: Store) -> int:
    """Return the size of the parts of a store."""
    return sum(part_bytes(entry) for entry in read_meta(made.path)["files"].values())

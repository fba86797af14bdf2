"""Who is compared: vectors files, methods trained on one matrix, and peers on its text.

Each method and peer runs in a process of its own. Its seconds are those of the whole process by
the clock, start and reading included; its memory is the most that the process held.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wordgeom import methods
from wordgeom._files import whole_file
from wordgeom.cards import card_path, read_card
from wordgeom.children import run_module
from wordgeom.errors import WordgeomError
from wordgeom.options import flag, specs
from wordgeom.peers import PeerOptions
from wordgeom.peers.cache import trained
from wordgeom.peers.counted import Counted
from wordgeom.pool import available_cpus
from wordgeom.runs import RunOptions
from wordgeom.weighting.pmi import PmiOptions

_log = logging.getLogger("wordgeom")
METHOD, PEER, FILE = "method", "peer", "file"


@dataclass(frozen=True)
class Contender:
    """Vectors to be judged: where they lie and what they cost, or the error that there are none.

    seconds, peak_bytes: None where nothing tells; tokens: that a peer was trained on.
    """

    name: str
    kind: str
    path: Path | None
    seconds: float | None = None
    peak_bytes: int | None = None
    notes: tuple[str, ...] = ()
    tokens: int | None = None
    error: str = ""


@dataclass(frozen=True)
class Training:
    """How methods and peers are trained: all of them alike."""

    matrix: str
    dim: int
    weighting: PmiOptions
    run: RunOptions
    folder: Path
    space: str | None = None


def from_files(paths: Sequence[str]) -> list[Contender]:
    """Return vectors files as contenders, with what fitting run cards tell of their cost."""
    return [_from_file(Path(path)) for path in paths]


def from_methods(names: Sequence[str], how: Training) -> Iterator[Contender]:
    """Train methods, one after the other."""
    for name in names:
        _log.info("training %s …", name)
        yield _from_method(name, how)


def from_peers(names: Sequence[str], how: Training, text: Counted) -> Iterator[Contender]:
    """Train peers, or find them trained."""
    options = PeerOptions(
        dim=how.dim, window=text.window, min_count=text.min_count,
        threads=how.run.threads or available_cpus(), seed=how.run.seed,
    )  # fmt: skip
    for name in names:
        yield _from_peer(name, how, text, options)


def available_methods() -> list[str]:
    """Return the methods that need a matrix and nothing else."""
    return [name for name in methods.names() if methods.load(name).NEEDS == ("matrix",)]


def _from_file(path: Path) -> Contender:
    card = read_card(path) or {}
    seconds, peak = _number(card.get("seconds")), _number(card.get("peak_bytes"))
    notes = () if seconds is None else ("seconds as its run card has them",)
    return Contender(path.name, FILE, path, seconds, int(peak) if peak else None, notes)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _from_method(name: str, how: Training) -> Contender:
    out = how.folder / f"{name}.bin"
    arguments = [
        "train", how.matrix, "--method", name, "--dim", str(how.dim), "-o", str(out), "--quiet",
        *_flags(how),
    ]  # fmt: skip
    try:
        done = run_module("wordgeom", arguments)
    except WordgeomError as error:
        return Contender(name, METHOD, None, error=str(error))
    card = read_card(out) or {}
    notes = tuple(str(note) for note in card.get("notes", ()))
    peak = int(card.get("peak_bytes", 0))
    return Contender(name, METHOD, out, done.seconds, peak or None, notes)


def _flags(how: Training) -> list[str]:
    """Return the options of the weighting and the run as flags, where they are not the default."""
    given = []
    for options in (how.weighting, how.run):
        for field, _ in specs(type(options)):
            value = getattr(options, field.name)
            if value == field.default or field.name == "quiet":
                continue
            given += [flag(field.name)] if value is True else [flag(field.name), str(value)]
    return given if how.space is None else [*given, "--space", how.space]


def _from_peer(name: str, how: Training, text: Counted, options: PeerOptions) -> Contender:
    try:
        entry = trained(name, text.text, options, how.folder)
    except WordgeomError as error:
        return Contender(name, PEER, None, error=str(error))
    notes = (*entry.notes, *text.notes, *((f"(cached in {entry.path})",) if entry.cached else ()))
    out = how.folder / f"{name}.bin"
    for source, target in ((entry.path, out), (card_path(entry.path), card_path(out))):
        with open(source, "rb") as held, whole_file(target) as whole:
            shutil.copyfileobj(held, whole)
    return Contender(name, PEER, out, entry.seconds, entry.peak_bytes or None, notes, entry.tokens)

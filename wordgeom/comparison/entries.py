"""Who is compared: vectors files, methods trained on one matrix, and peers on its text.

Each method and peer runs in a process of its own. Its seconds are those of the whole process by
the clock, start and reading included; its memory is the most that the process held.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wordgeom import methods
from wordgeom.core.errors import WordgeomError
from wordgeom.core.options import flag, off_flag, specs
from wordgeom.methods.contract import VECTORS
from wordgeom.methods.inputs import inputs_of, settings_of
from wordgeom.methods.inputs.kind import InputKind
from wordgeom.peers import PeerOptions
from wordgeom.peers.cache import trained
from wordgeom.peers.counted import Counted
from wordgeom.runtime.pool import available_cpus
from wordgeom.runtime.run_options import RunOptions
from wordgeom.runtime.subprocesses import run_module
from wordgeom.storage.files import atomic_file
from wordgeom.vectors.run_card import card_path, read_card

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
    weighting: Mapping[str, Any]
    run: RunOptions
    folder: Path
    space: str | None = None
    vectors: str | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)


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


def available_methods(kind: str) -> list[str]:
    """Return the methods that make vectors from a store of this kind and nothing else."""
    return [
        name for name in methods.names()
        if kind in first_input(name).store_kinds and not missing_inputs(name, {})
        and VECTORS in methods.load(name).MAKES
    ]  # fmt: skip


def first_input(name: str) -> InputKind:
    """Return the first input of a method."""
    return inputs_of(methods.load(name))[0]


def missing_inputs(name: str, given: Mapping[str, str]) -> list[InputKind]:
    """Return the required inputs of a method, besides the first, that are not given."""
    others = inputs_of(methods.load(name))[1:]
    return [
        kind for kind in others
        if kind.required and kind.setting is not None and kind.setting not in given
    ]  # fmt: skip


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
        "train", _source(name, how), "--method", name, "--dim", str(how.dim), "-o", str(out),
        "--quiet", *_flags(how), *_inputs(name, how),
    ]  # fmt: skip
    try:
        done = run_module("wordgeom", arguments)
    except WordgeomError as error:
        return Contender(name, METHOD, None, error=str(error))
    card = read_card(out) or {}
    notes = tuple(str(note) for note in card.get("notes", ()))
    peak = int(card.get("peak_bytes", 0))
    return Contender(name, METHOD, out, done.seconds, peak or None, notes)


def _source(name: str, how: Training) -> str:
    """Return the path of a method's first input: the matrix, or the first vectors file."""
    return how.matrix if first_input(name).store_kinds else how.vectors or how.matrix


def _inputs(name: str, how: Training) -> list[str]:
    """Return the flags of the inputs that a method takes besides its first."""
    taken = [setting for setting in settings_of(methods.load(name)) if setting in how.inputs]
    return [part for setting in taken for part in (flag(setting), how.inputs[setting])]


def _flags(how: Training) -> list[str]:
    """Return as flags what was given of the weighting, and what is not the run's default.

    A method may have another default of the weighting, which what was given overrules.
    """
    given = dict(how.weighting)
    for one, _ in specs(type(how.run)):
        value = getattr(how.run, one.name)
        if value != one.default and one.name != "quiet":
            given[one.name] = value
    if how.space is not None:
        given["space"] = how.space
    return [part for name, value in given.items() for part in _spelt(name, value)]


def _spelt(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [flag(name) if value else off_flag(name)]
    return [flag(name), str(value)]


def _from_peer(name: str, how: Training, text: Counted, options: PeerOptions) -> Contender:
    try:
        entry = trained(name, text.text, options, how.folder)
    except WordgeomError as error:
        return Contender(name, PEER, None, error=str(error))
    notes = (*entry.notes, *text.notes, *((f"(cached in {entry.path})",) if entry.cached else ()))
    out = how.folder / f"{name}.bin"
    for source, target in ((entry.path, out), (card_path(entry.path), card_path(out))):
        with open(source, "rb") as held, atomic_file(target) as whole:
            shutil.copyfileobj(held, whole)
    return Contender(name, PEER, out, entry.seconds, entry.peak_bytes or None, notes, entry.tokens)

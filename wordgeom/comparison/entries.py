"""Candidates of a comparison: vectors files, methods trained on a matrix, peers on its text.

Each method and peer is trained in its own process. Its time is the wall-clock time of the process,
including start-up and reading; its memory is the peak of the process.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from wordgeom import methods
from wordgeom.comparison.counting import Counts, TextRequest
from wordgeom.core.errors import WordgeomError
from wordgeom.core.options import flag, off_flag, specs
from wordgeom.methods.contract import VECTORS
from wordgeom.methods.inputs import inputs_of, reading_options, settings_of
from wordgeom.methods.inputs.kind import InputKind
from wordgeom.peers import PeerOptions
from wordgeom.peers.cache import trained_peer
from wordgeom.peers.counted import CountedText
from wordgeom.runtime.pool import available_cpus
from wordgeom.runtime.progress import Progress
from wordgeom.runtime.run_options import RunOptions
from wordgeom.runtime.subprocesses import run_module
from wordgeom.stages.evaluate import numbered
from wordgeom.storage.files import atomic_file
from wordgeom.vectors.run_card import card_path, read_card

_log = logging.getLogger("wordgeom")
METHOD, PEER, FILE = "method", "peer", "file"


@dataclass(frozen=True)
class Candidate:
    """Vectors to evaluate with the cost of their training, or the error that prevented it.

    seconds, peak_bytes: None if unknown; tokens: number that a peer was trained on; cached: taken
    from the cache of peers.
    """

    name: str
    kind: str
    path: Path | None
    seconds: float | None = None
    peak_bytes: int | None = None
    notes: tuple[str, ...] = ()
    tokens: int | None = None
    error: str = ""
    cached: bool = False


@dataclass(frozen=True)
class CompareRequest:
    """The candidates: vectors files, and methods and peers that are trained on matrices or a text.

    matrices: at most one of words × words and one of documents × words; text: what to count
    instead; corpus: text for the peers, if the matrix's run card does not name it; weighting:
    options given by the user; space: replaces white space in words; inputs: further inputs of
    methods, by option; keep: directory for counts and trained vectors; against: name of the
    reference for differences, None for the first candidate; cache: False neither reads nor writes
    the cache of peers.
    """

    files: tuple[str, ...] = ()
    matrices: tuple[str, ...] = ()
    text: TextRequest | None = None
    methods: tuple[str, ...] = ()
    peers: tuple[str, ...] = ()
    corpus: tuple[str, ...] = ()
    dim: int = 100
    peer_epochs: int = 5
    cache: bool = True
    weighting: Mapping[str, Any] = field(default_factory=dict)
    space: str | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    keep: str | None = None
    against: str | None = None

    def names(self) -> list[str]:
        """Return the names of the candidates, in the order of their rows."""
        files = [Path(path).name for path in self.files]
        return numbered([*files, *self.methods, *self.peers])

    def repeated_files(self) -> list[str]:
        """Return notes on files that another file's name is the name of."""
        paths = dict(zip(self.names(), map(Path, self.files), strict=False))
        firsts: dict[str, Path] = {}
        notes = []
        for name, path in paths.items():
            first = firsts.setdefault(path.name, path)
            if first is not path:
                what = f"the same file as {first}" if first.samefile(path) else "another file"
                notes.append(f"{name} is {path}, {what}")
        return notes


@dataclass(frozen=True)
class Training:
    """What all methods and peers are trained with."""

    request: CompareRequest
    run: RunOptions
    directory: Path
    counts: Counts
    progress: Progress = field(default_factory=Progress)


def from_files(paths: Sequence[str]) -> list[Candidate]:
    """Return vectors files as candidates, with the cost in their run cards, if they match."""
    return [_from_file(Path(path)) for path in paths]


def from_methods(how: Training) -> Iterator[Candidate]:
    """Train methods one after another."""
    for name in how.request.methods:
        _log.info("training %s …", name)
        yield _from_method(name, how)


def from_peers(how: Training, text: CountedText) -> Iterator[Candidate]:
    """Train peers, or take them from the cache."""
    options = PeerOptions(
        dim=how.request.dim, window=text.window, threads=how.run.threads or available_cpus(),
        seed=how.run.seed, epochs=how.request.peer_epochs,
    )  # fmt: skip
    for name in how.request.peers:
        yield _from_peer(name, how, text, options)


def available_methods(kinds: Sequence[str]) -> list[str]:
    """Return the installed methods that make vectors from a store of one of these kinds alone."""
    return [
        name for name in methods.names()
        if set(kinds) & set(first_input(name).store_kinds) and not missing_inputs(name, {})
        and VECTORS in methods.load(name).MAKES and _installed(methods.load(name))
    ]  # fmt: skip


def _installed(method: ModuleType) -> bool:
    """Return whether the optional packages that a method needs are installed."""
    return all(find_spec(package) is not None for package in getattr(method, "PACKAGES", ()))


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


def _from_file(path: Path) -> Candidate:
    card = read_card(path) or {}
    seconds, peak = _number(card.get("seconds")), _number(card.get("peak_bytes"))
    notes = () if seconds is None else (f"seconds{_last_command(card)} from its run card",)
    return Candidate(path.name, FILE, path, seconds, int(peak) if peak else None, notes)


def _last_command(card: Mapping[str, Any]) -> str:
    """Return " of COMMAND alone," for vectors that a command made from others."""
    request = card.get("request")
    command = request.get("command") if isinstance(request, Mapping) else None
    return "" if command in (None, "train") else f" of {command} alone,"


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _from_method(name: str, how: Training) -> Candidate:
    out = how.directory / f"{name}.bin"
    arguments = [
        "train", _source(name, how), "--method", name, "--dim", str(how.request.dim),
        "-o", str(out), "--quiet", *_flags(name, how), *_inputs(name, how.request.inputs),
    ]  # fmt: skip
    try:
        done = run_module("wordgeom", arguments)
    except WordgeomError as error:
        return Candidate(name, METHOD, None, error=str(error))
    card = read_card(out) or {}
    notes = tuple(str(note) for note in card.get("notes", ()))
    peak = int(card.get("peak_bytes", 0))
    return Candidate(name, METHOD, out, done.seconds, peak or None, notes)


def _source(name: str, how: Training) -> str:
    """Return the path of a method's first input: a matrix, or the first vectors file."""
    matrix = how.counts.of_method(name)
    return how.request.files[0] if matrix is None else str(matrix)


def _inputs(name: str, given: Mapping[str, str]) -> list[str]:
    """Return the flags of the inputs that a method takes besides its first."""
    kinds = settings_of(methods.load(name))
    taken = [setting for setting, kind in kinds.items() if setting in given and kind.compared]
    return [part for setting in taken for part in (flag(setting), given[setting])]


def takes(name: str, option: str) -> bool:
    """Return whether a method, or the reading of its inputs, has an option."""
    method = methods.load(name)
    classes = (*reading_options(method), method.Options)
    return any(declared.name == option for cls in classes for declared, _ in specs(cls))


def _flags(name: str, how: Training) -> list[str]:
    """Return the given options that a method takes and the run's non-default options, as flags.

    Options of the weighting are passed even at their defaults: a method may have other defaults.
    """
    given = {option: v for option, v in how.request.weighting.items() if takes(name, option)}
    for declared, _ in specs(type(how.run)):
        value = getattr(how.run, declared.name)
        if value != declared.default and declared.name != "quiet":
            given[declared.name] = value
    if how.request.space is not None:
        given["space"] = how.request.space
    return [part for name, value in given.items() for part in _flag(name, value)]


def _flag(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [flag(name) if value else off_flag(name)]
    return [flag(name), str(value)]


def _from_peer(name: str, how: Training, text: CountedText, options: PeerOptions) -> Candidate:
    try:
        peer = trained_peer(
            name, text.text, options, how.directory, cache=how.request.cache, progress=how.progress
        )
    except WordgeomError as error:
        return Candidate(name, PEER, None, error=str(error))
    cached = f"from the cache, {peer.path}: its seconds and memory are those of an earlier run"
    notes = (*peer.notes, *text.notes, *((cached,) if peer.cached else ()))
    out = how.directory / f"{name}.bin"
    for source, target in ((peer.path, out), (card_path(peer.path), card_path(out))):
        with open(source, "rb") as original, atomic_file(target) as copy:
            shutil.copyfileobj(original, copy)
    peak = peer.peak_bytes or None
    return Candidate(name, PEER, out, peer.seconds, peak, notes, peer.tokens, cached=peer.cached)

"""A recorded command with every output moved into another directory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordgeom.cli import frame
from wordgeom.core.errors import FormatError
from wordgeom.core.options import suggestion
from wordgeom.reproduction.recorded import Recorded
from wordgeom.stages.invocation import RESOURCES, Invocation
from wordgeom.stages.stage import Stage
from wordgeom.vectors.run_card import card_path

_RUN_AGAIN = "run the command again"
_TARGET = {"convert": "target"}  # commands whose output is not `out`


@dataclass(frozen=True)
class Redirected:
    """The stage of a recorded command that writes into another directory.

    outputs: each file and store of the recorded run, run cards apart, with the one that the stage
    writes instead.
    """

    stage: Stage
    outputs: dict[Path, Path]


def redirect(recorded: Recorded, place: Path, keep: Path, resources: dict[str, Any]) -> Redirected:
    """Return the stage of a recorded command, every output of which lies in `place`.

    keep: what `place` will be renamed to, for the run cards; resources: threads, memory and the
    like. Raises what the command raises for its settings, and FormatError for a card that does not
    describe its output or would write elsewhere.
    """
    where = str(recorded.output)
    if recorded.command not in frame.STAGES:
        do = suggestion(recorded.command, frame.STAGES)
        what = f"its run card names an unknown command {recorded.command!r}"
        raise FormatError(what, where=where, do=do)
    settings = {k: v for k, v in recorded.settings.items() if k not in RESOURCES} | resources
    original = frame.prepare(recorded.command, settings, where)
    written = _outputs(original)
    if not any(_real(path) == _real(recorded.output) for path in written):
        what = f"its run card records a {recorded.command} that writes other files"
        raise FormatError(what, where=where, do=_RUN_AGAIN)
    new = _places(written, place)
    for folder in {path.parent for path in new.values()}:
        folder.mkdir(exist_ok=True)
    stage = frame.prepare(recorded.command, _moved(settings, original, new), where)
    called = Invocation.of(recorded.command, _moved(settings, original, _places(written, keep)))
    object.__setattr__(stage, "invocation", called)
    _check_contained(stage, place, where)
    if [_real(path) for path in _outputs(stage)] != [_real(path) for path in new.values()]:
        what = "the outputs of its command cannot be written elsewhere"
        raise FormatError(what, where=where, do=_RUN_AGAIN)
    return Redirected(stage, dict(zip(written, new.values(), strict=True)))


def _outputs(stage: Stage) -> list[Path]:
    """Return the files and stores that a stage writes, run cards apart."""
    every = list(dict.fromkeys((*stage.output_paths, *stage.beside)))
    cards = {card_path(path) for path in every}
    return [path for path in every if path not in cards]


def _places(written: list[Path], place: Path) -> dict[str, Path]:
    """Return the new path of each output, in one directory for each of the recorded run's."""
    parents = list(dict.fromkeys(_real(path.parent) for path in written))
    folders = [place / str(k + 1) for k in range(len(parents))] if len(parents) > 1 else [place]
    return {_real(p): folders[parents.index(_real(p.parent))] / p.name for p in written}


def _moved(settings: dict[str, Any], stage: Stage, new: dict[str, Path]) -> dict[str, Any]:
    """Return the settings with the new path of each output."""
    moved = {name: str(new.get(_real(value), value)) if isinstance(value, str) else value
             for name, value in settings.items()}  # fmt: skip
    target = _TARGET.get(stage.invocation.command if stage.invocation else "", "out")
    if stage.output is not None:
        moved[target] = str(new[_real(stage.output)])
    return moved


def _check_contained(stage: Stage, place: Path, where: str) -> None:
    """Raise FormatError for a stage that would write elsewhere."""
    inside = _real(place) + os.sep
    state = [] if stage.state is None else [stage.state]
    for path in (*stage.output_paths, *stage.beside, *state):
        if not _real(path).startswith(inside):
            what = f"its run card would write {path}, outside the temporary directory"
            raise FormatError(what, where=where, do=_RUN_AGAIN)


def _real(path: str | Path) -> str:
    return os.path.realpath(path)

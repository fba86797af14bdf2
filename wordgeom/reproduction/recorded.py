"""The run card that `rerun` repeats, validated: a card is untrusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordgeom.core.errors import FormatError, MissingInputError
from wordgeom.storage import store
from wordgeom.storage.meta import META, read_meta
from wordgeom.vectors.run_card import card_path, parse_card

_SUFFIX, _SCALARS = ".json", (str, int, float)
_NAME = "name the output of a wordgeom command, or its run card"


@dataclass(frozen=True)
class Recorded:
    """A run: the output whose card describes it, the command, and the circumstances.

    output: absolute; digest: of the output, as the card records it; settings: of the command;
    folder: where it ran; inputs: digest of each file and store that it read; card: the whole card.
    """

    output: Path
    digest: str
    command: str
    settings: dict[str, Any]
    folder: Path
    inputs: dict[str, str]
    card: Mapping[str, Any]

    @property
    def options(self) -> Mapping[str, Any]:
        """The options that decided the content, defaults included."""
        request = self.card.get("request")
        options = request.get("options") if isinstance(request, dict) else None
        return options if isinstance(options, dict) else {}


def read_recorded(path: Path) -> Recorded:
    """Return the run that a card records; path: of the card, or of the output that it describes.

    Raises MissingInputError, and FormatError for a card without a usable record of its command.
    """
    if path.name == META:
        path = path.parent
    output, digest, card = _store(path) if store.exists(path) else _file(path)
    made_by = card.get("invocation")
    if made_by is None:
        what = "its run card records no command (an older version or Python code made it)"
        raise FormatError(what, where=output, do="run the command again")
    if not _well_formed(made_by):
        what = "the command in its run card is damaged"
        raise FormatError(what, where=output, do="run the command again")
    folder, inputs = Path(made_by["folder"]), made_by["inputs"]
    command, settings = made_by["command"], made_by["settings"]
    return Recorded(output.absolute(), digest, command, settings, folder, inputs, card)


def _store(path: Path) -> tuple[Path, str, dict[str, Any]]:
    meta = read_meta(path)
    return path, str(meta["digest"]), meta["run"]


def _file(path: Path) -> tuple[Path, str, dict[str, Any]]:
    """Return the file that a card describes, its digest, and the card."""
    if path.is_dir():  # which no file's card describes
        raise MissingInputError("is not a directory that wordgeom created", where=path, do=_NAME)
    of_card = path.suffix == _SUFFIX and not card_path(path).exists()
    output = path.with_name(path.name.removesuffix(_SUFFIX)) if of_card else path
    source = card_path(output)
    if not source.is_file():
        found = "has no run card" if path.exists() else "no such run card, file or directory"
        raise MissingInputError(found, where=path, do=_NAME)
    card = parse_card(source)
    content = None if card is None else card.get("content")
    digest = content.get("sha256") if isinstance(content, dict) else None
    if card is None or not isinstance(digest, str):
        raise FormatError("is not a run card", where=source, do="name a card that wordgeom wrote")
    return output, digest, card


def _well_formed(made_by: Any) -> bool:
    if not isinstance(made_by, dict):
        return False
    kinds = {"command": str, "settings": dict, "folder": str, "inputs": dict}
    if not all(isinstance(made_by.get(key), kind) for key, kind in kinds.items()):
        return False
    if "\0" in made_by["folder"] or not all(map(_setting, made_by["settings"].values())):
        return False
    return all(_text(path) and _text(d) for path, d in made_by["inputs"].items())


def _setting(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_setting, value)) and not any(isinstance(item, list) for item in value)
    return isinstance(value, _SCALARS) and "\0" not in str(value)


def _text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value

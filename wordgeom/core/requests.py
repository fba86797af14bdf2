"""Requests, the command, inputs and options of an output, and how two of them differ."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from wordgeom.core.errors import OutputExistsError, StaleOutputError
from wordgeom.core.options import flag

_OVERWRITE = "pass --force to overwrite it, or choose another output"


def request_of(command: str, options: Mapping[str, Any], digests: Iterable[str]) -> dict[str, Any]:
    """Return a request; digests: of the inputs."""
    inputs = [{"digest": digest} for digest in digests]
    return {"command": command, "options": options, "inputs": inputs}


def differing_option(asked: Mapping[str, Any], made: Mapping[str, Any]) -> str | None:
    """Return how the options of two requests differ, in words, or None where they agree."""
    for name, value in asked.items():
        if name not in made and value in (None, False):
            continue  # an option that did not exist, and is not used
        if name not in made:
            return f"was made before {flag(name)} existed"
        if made[name] != value:
            return f"was made {_spelt(name, made[name])}, not {_spelt(name, value, made[name])}"
    return None


def _spelt(name: str, value: Any, beside: Any = None) -> str:
    """Return an option as users write it; beside: the value named before, with the flag."""
    if isinstance(value, (list, tuple)):  # none, or names
        value = ", ".join(map(str, value)) or None
    if value is None or value is False:
        return f"without {flag(name)}" if beside is None else "without"
    if value is True:
        return f"with {flag(name)}" if beside is None else "with"
    if beside is None or isinstance(beside, bool) or beside in ([], ()):
        return f"with {flag(name)} {value}"
    return str(value)


def difference(
    asked: Mapping[str, Any], made: Mapping[str, Any], source: str = "matrix"
) -> str | None:
    """Return how two requests differ, in words, or None; source: the name of the inputs."""
    if asked["command"] != made.get("command"):
        return f"was made by {made.get('command')}"
    options = made.get("options")
    how = differing_option(asked["options"], options if isinstance(options, dict) else {})
    if how is None and asked["inputs"] != made.get("inputs"):
        return f"was made from another {source}"
    return how


def different_content(where: str | os.PathLike[str], how: str) -> OutputExistsError:
    """Return the error for an output that exists and has different content; how: a predicate."""
    return OutputExistsError(f"exists and {how}", where=where, do=_OVERWRITE)


def stale_output(where: str | os.PathLike[str], how: str) -> StaleOutputError:
    """Return the error for an output that is what its run card says, but not as requested."""
    return StaleOutputError(f"exists and {how}", where=where, do=_OVERWRITE)

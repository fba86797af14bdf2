"""Requests, the command, inputs and options of an output, and how two of them differ."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from wordgeom.core.errors import OutputExistsError
from wordgeom.core.options import flag


def differing_option(asked: Mapping[str, Any], made: Mapping[str, Any]) -> str | None:
    """Return how the options of two requests differ, in words, or None where they agree."""
    for name, value in asked.items():
        if name not in made:
            return f"made before {flag(name)} existed"
        if made[name] != value:
            return f"made with {flag(name)} {made[name]}, not {value}"
    return None


def different_content(where: str | os.PathLike[str], how: str) -> OutputExistsError:
    """Return the error for an output that exists and has different content."""
    do = "pass --force to overwrite it, or choose another output with -o"
    return OutputExistsError("exists and has different content", where=where, found=how, do=do)

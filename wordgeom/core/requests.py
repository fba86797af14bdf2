"""Requests: what an output was asked for, and how two of them differ."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from wordgeom.core.errors import OutputExistsError
from wordgeom.core.options import flag


def differing_option(asked: Mapping[str, Any], made: Mapping[str, Any]) -> str | None:
    """Return in words how the options of two requests differ, or None."""
    for name, value in asked.items():
        if name not in made:
            return f"made before {flag(name)} was known"
        if made[name] != value:
            return f"made with {flag(name)} {made[name]}, not {value}"
    return None


def different_content(where: str | os.PathLike[str], how: str) -> OutputExistsError:
    """Return the error for output that is there and holds something else."""
    do = "pass --force to replace it, or name another with -o"
    return OutputExistsError("exists and holds something else", where=where, found=how, do=do)

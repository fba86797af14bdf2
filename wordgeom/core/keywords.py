"""Keyword arguments of the public functions → option classes, as on the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from wordgeom.core.options import Options, check_known, specs


def options_of(function: str, given: Mapping[str, Any], *classes: type[Options]) -> list[Any]:
    """Return the option classes, instantiated; raises OptionError for an unknown keyword."""
    names = [field.name for cls in classes for field, _ in specs(cls)]
    check_known(given, names, f"wordgeom.{function}")
    return [cls.take(plain(given)) for cls in classes]


def plain(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with paths as strings, as on the command line."""
    return {k: os.fspath(v) if isinstance(v, os.PathLike) else v for k, v in given.items()}

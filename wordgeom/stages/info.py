"""The facts about a matrix, a model or a vectors file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wordgeom.stages.artefacts import artefact_at


def describe(path: Path, *, check: bool = False) -> dict[str, Any]:
    """Return what lies at a path and how it was made; check: verify every byte.

    Raises MissingInputError, FormatError.
    """
    return artefact_at(path).describe(check=check)

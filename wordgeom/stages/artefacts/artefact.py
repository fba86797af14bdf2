"""What lies at a path: the interface of matrices, models and vectors files to commands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

FREQUENT = 10  # words listed
CHECKED = "all checksums match"


class Artefact(ABC):
    """An output of a stage that exists."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @abstractmethod
    def describe(self, *, check: bool) -> dict[str, Any]:
        """Return what it holds and how it was made; check: verify every byte.

        Raises MissingInputError, FormatError.
        """

    def check_convertible(self) -> None:  # noqa: B027 - most artefacts are convertible
        """Raise OptionError for what `convert` cannot write as another format."""

"""The input `pairs`: a file of word pairs with scores."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from wordgeom.core.options import flag
from wordgeom.evaluation.pairs import Pair, read_pairs
from wordgeom.methods.inputs.kind import InputKind, OpenInput, Request, file_digest
from wordgeom.runtime.context import Context


class OpenPairs(OpenInput):
    """A file of pairs that was read."""

    def __init__(self, path: Path, named: str) -> None:
        self._pairs = read_pairs(path)
        self.digest = file_digest(path, named)

    def read(self, context: Context) -> list[Pair]:
        """Return the pairs, in order of the file."""
        return self._pairs


class PairsInput(InputKind):
    """Similarity judgements: `word word score` lines."""

    name: ClassVar[str] = "pairs"
    setting: ClassVar[str] = "pairs"
    help: ClassVar[str] = "file of word pairs with scores"

    def open(self, request: Request) -> OpenPairs:
        """Open and read the file."""
        assert request.path is not None
        return OpenPairs(request.path, flag(self.setting))

"""The input `pairs`: a file of word pairs with scores."""

from __future__ import annotations

from typing import ClassVar

from wordgeom.core.options import flag
from wordgeom.methods.inputs.kind import InputKind, OpenFile, Request


class PairsInput(InputKind):
    """Similarity judgements: `word word score` lines, read as Pairs in order of the file."""

    name: ClassVar[str] = "pairs"
    setting: ClassVar[str] = "pairs"
    help: ClassVar[str] = "file of word pairs with scores"

    def open(self, request: Request) -> OpenFile:
        """Open and read the file."""
        from wordgeom.evaluation.pairs import read_pairs  # `--help` reads the inputs

        assert request.path is not None
        return OpenFile(request.path, read_pairs(request.path), flag(self.setting))

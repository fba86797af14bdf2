"""The input `pairs`: a file of word pairs with scores."""

from __future__ import annotations

from typing import ClassVar

from wordgeom.core.formatting import plural
from wordgeom.core.options import flag
from wordgeom.methods.inputs.kind import InputKind, OpenFile, Request


class PairsInput(InputKind):
    """Similarity judgements: `word word score` lines, read as Pairs in order of the file."""

    name: ClassVar[str] = "pairs"
    setting: ClassVar[str] = "pairs"
    help: ClassVar[str] = "file of word pairs with scores"

    def open(self, request: Request) -> OpenFile:
        """Open and read the file."""
        from wordgeom.evaluation.pairs import read_pair_list  # `--help` reads the inputs

        assert request.path is not None
        read = read_pair_list(request.path)
        opened = OpenFile(request.path, list(read.pairs), flag(self.setting))
        left_out = [f"{plural(number, why)} left out" for why, number in read.excluded.items()]
        opened.notes = tuple(f"{request.path}: {note}" for note in (*read.notes, *left_out))
        return opened

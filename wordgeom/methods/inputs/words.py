"""The input `moving`: a list of words, one a line, which restricts what a method changes."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural, several
from wordgeom.corpus.vocabulary import read_words
from wordgeom.methods.inputs.kind import InputKind, OpenInput, Request, file_digest
from wordgeom.runtime.context import Context

_NAMED = 5  # unknown words listed in a note


class OpenWords(OpenInput):
    """A list of words that was read; notes list those that the first input lacks."""

    def __init__(self, path: Path, flag: str, vocabulary: list[str]) -> None:
        self._words = read_words(str(path))
        self.digest = file_digest(path, flag)
        known = set(vocabulary)
        unknown = [word for word in self._words if word not in known]
        if len(unknown) == len(self._words):
            found = f"{plural(len(unknown), 'word')}, none of them among {len(known):,}"
            raise InputError("has no word of the counts", where=path, found=found,
                             do=f"check {flag}")  # fmt: skip
        if unknown:
            listed = ", ".join(unknown[:_NAMED]) + (", …" if len(unknown) > _NAMED else "")
            ignored = several(len(unknown), "word is", "words are")
            self.notes = (f"{path}: {ignored} not in the counts and ignored: {listed}",)

    def read(self, context: Context) -> list[str]:
        """Return the words."""
        return self._words


class MovingInput(InputKind):
    """The words that may move; without the file all may."""

    name: ClassVar[str] = "moving"
    setting: ClassVar[str] = "moving"
    help: ClassVar[str] = "file of the words that may move, one a line  [all words]"
    required: ClassVar[bool] = False

    def open(self, request: Request) -> OpenWords:
        """Open and read the file."""
        assert request.path is not None
        first = next(iter(request.others.values()))
        return OpenWords(request.path, "--moving", first.rows)

"""The input `moving`: a list of words, one a line, which restricts what a method changes."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural, several
from wordgeom.core.options import flag
from wordgeom.methods.inputs.kind import InputKind, OpenFile, Request

_NAMED = 5  # unknown words listed in a note


class MovingInput(InputKind):
    """The words that may move; without the file all may."""

    name: ClassVar[str] = "moving"
    setting: ClassVar[str] = "moving"
    help: ClassVar[str] = "file of words whose vectors may change, one per line  [all words]"
    required: ClassVar[bool] = False

    def open(self, request: Request) -> OpenFile:
        """Open and read the file."""
        from wordgeom.corpus.vocabulary import read_words  # `--help` reads the inputs

        assert request.path is not None
        words = OpenFile(request.path, read_words(str(request.path)), flag(self.setting))
        first = next(iter(request.others.values()))
        words.notes = _unknown_notes(request.path, words.content, set(first.rows))
        return words


def _unknown_notes(path: Path, words: list[str], known: set[str]) -> tuple[str, ...]:
    """Return a note on the words that the first input lacks; raises InputError for all of them."""
    unknown = [word for word in words if word not in known]
    if len(unknown) == len(words):
        what = f"{plural(len(unknown), 'word')}, none of them among the {len(known):,} counted"
        do = f"check {flag(MovingInput.setting)}"
        raise InputError(what, where=path, do=do)
    if not unknown:
        return ()
    listed = ", ".join(unknown[:_NAMED]) + (", …" if len(unknown) > _NAMED else "")
    ignored = several(len(unknown), "word is", "words are")
    return (f"{path}: {ignored} not in the counts and ignored: {listed}",)

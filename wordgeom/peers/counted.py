"""What a matrix was counted of, and how: peers are trained on the same text in the same way."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordgeom.core.errors import InputError, MissingInputError, OptionError, WordgeomError
from wordgeom.corpus.inputs.readers import STDIN, file_digest, is_stream
from wordgeom.corpus.options import CorpusOptions
from wordgeom.counts.windows import WindowOptions, reach
from wordgeom.matrices.count_request import made_options
from wordgeom.peers.sentences import Text
from wordgeom.storage import store
from wordgeom.storage.store import Store

_DO = "name the text with --corpus"


@dataclass(frozen=True)
class Counted:
    """A counted text with the window and the least count of its words; notes on it."""

    text: Text
    window: int
    min_count: int
    notes: tuple[str, ...]


def counted(matrix: str | os.PathLike[str], corpus: Sequence[str]) -> Counted:
    """Return what a matrix (counts, or made of counts) was counted of; `corpus` if it is given.

    Raises MissingInputError, InputError or OptionError where the text or its window is unknown.
    """
    counts = _counts(Store.open(matrix))
    asked, inputs = made_options(counts.request), counts.request["inputs"]
    window = reach(WindowOptions.take(asked))
    # Words that were given had no least count; files of words are known by their digests alone.
    unknown = {"read_vocab": None, "stop_words": None, "keep_words": None}
    options = CorpusOptions.take({**asked, **unknown, "min_count": asked.get("min_count") or 1})
    names, notes = _given(corpus, inputs) if corpus else (_recorded(inputs, counts.path), ())
    text = Text(tuple(names), options)
    return Counted(text, window, options.min_count, notes)


def _counts(matrix: Store) -> Store:
    """Return the counts that a matrix was made of: itself, or its parent."""
    if "window" in matrix.request["options"]:
        return matrix
    parent = matrix.card.get("parent")
    if isinstance(parent, str) and store.exists(matrix.path / parent):
        found = Store.open(os.path.normpath(matrix.path / parent))
        if "window" in found.request["options"]:
            return found
    do = "compare the counts' folder instead"
    raise OptionError("--peers needs the counts' window", where=matrix.path, do=do)


def _given(
    corpus: Sequence[str], inputs: Sequence[dict[str, Any]]
) -> tuple[list[str], tuple[str, ...]]:
    for name in corpus:
        if is_stream(name):
            do = "peers read their text more than once: write it to a file"
            raise OptionError("--corpus needs files", found=name, do=do)
    digests = [file_digest(name) for name in corpus]
    if digests == [i["digest"] for i in inputs]:
        return list(corpus), ()
    return list(corpus), ("--corpus is not, file by file, the text that was counted",)


def _recorded(inputs: Sequence[dict[str, Any]], where: Path) -> list[str]:
    """Return the files that the card names, if they still hold what was counted."""
    names = []
    for made_from in inputs:
        name = made_from.get("name")
        if not isinstance(name, str) or name == STDIN:
            what = "does not tell which files were counted"
            raise InputError(what, where=where, do=_DO)
        try:
            same = not is_stream(name) and file_digest(name) == made_from["digest"]
        except WordgeomError:
            what = "the text that was counted is not there"
            raise MissingInputError(what, where=where, found=name, do=_DO) from None
        if not same:
            what = f"the text {name} has changed since it was counted"
            raise InputError(what, where=where, do=_DO)
        names.append(name)
    return names

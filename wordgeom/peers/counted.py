"""The text and settings of a matrix's co-occurrence counts, on which peers are trained."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordgeom.core.errors import InputError, MissingInputError, OptionError, WordgeomError
from wordgeom.corpus.inputs.readers import STDIN, has_digest, is_stream
from wordgeom.corpus.options import CorpusOptions
from wordgeom.counts.windows import WindowOptions, reach
from wordgeom.matrices.count_request import made_options
from wordgeom.peers.sentences import Text
from wordgeom.storage import store
from wordgeom.storage.store import Store

_DO = "name the text with --corpus"


@dataclass(frozen=True)
class CountedText:
    """The text of co-occurrence counts, their window, and notes."""

    text: Text
    window: int
    notes: tuple[str, ...]


def counted_text(matrix: str | os.PathLike[str], corpus: Sequence[str]) -> CountedText:
    """Return the text of a matrix of counts, or made from counts; `corpus` overrides its names.

    Raises MissingInputError, InputError or OptionError if the text or the window is unknown.
    """
    counts = _counts(Store.open(matrix))
    given, inputs = made_options(counts.request), counts.request["inputs"]
    window = reach(WindowOptions.take(given))
    # A given vocabulary has no minimum count; run cards record only digests of word lists.
    unknown = {"read_vocab": None, "stop_words": None, "keep_words": None}
    options = CorpusOptions.take({**given, **unknown, "min_count": given.get("min_count") or 1})
    names, notes = _named(corpus, inputs) if corpus else (_recorded(inputs, counts.path), ())
    return CountedText(Text(tuple(names), options, os.fspath(matrix)), window, notes)


def _counts(matrix: Store) -> Store:
    """Return the counts of a matrix: itself, or its parent."""
    if "window" in matrix.request["options"]:
        return matrix
    parent = matrix.card.get("parent")
    if isinstance(parent, str) and store.exists(matrix.path / parent):
        counts = Store.open(os.path.normpath(matrix.path / parent))
        if "window" in counts.request["options"]:
            return counts
    do = "pass the co-occurrence counts instead"
    raise OptionError("--peers needs the window of the counts", where=matrix.path, do=do)


def _named(
    corpus: Sequence[str], inputs: Sequence[dict[str, Any]]
) -> tuple[list[str], tuple[str, ...]]:
    for name in corpus:
        if is_stream(name):
            do = "write the text to a file; peers read it more than once"
            raise OptionError(f"--corpus needs files, not {name}", do=do)
    same = len(corpus) == len(inputs) and all(
        has_digest(name, one["digest"]) for name, one in zip(corpus, inputs, strict=True)
    )
    if same:
        return list(corpus), ()
    return list(corpus), ("--corpus differs from the text of the counts",)


def _recorded(inputs: Sequence[dict[str, Any]], where: Path) -> list[str]:
    """Return the files that the run card names, if their content has not changed."""
    names = []
    for recorded in inputs:
        name = recorded.get("name")
        if not isinstance(name, str) or name == STDIN:
            raise InputError("its run card does not name its text", where=where, do=_DO)
        try:
            same = not is_stream(name) and has_digest(name, recorded["digest"])
        except WordgeomError:
            raise MissingInputError(f"its text {name} is missing", where=where, do=_DO) from None
        if not same:
            what = f"its text {name} has changed since it was counted"
            raise InputError(what, where=where, do=_DO)
        names.append(name)
    return names

"""The inputs of a count: its files, how they are read, and how its request records them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wordgeom.core.errors import MissingInputError, OptionError
from wordgeom.core.options import flag
from wordgeom.corpus.inputs import paths
from wordgeom.corpus.inputs.held_texts import is_held
from wordgeom.corpus.inputs.readers import (
    STDIN,
    Source,
    check_input,
    file_digest,
    file_stamp,
    has_digest,
    is_stream,
)
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import formats
from wordgeom.corpus.records.columns import by_number
from wordgeom.corpus.records.file_labels import file_labels
from wordgeom.corpus.vocabulary import list_content
from wordgeom.counts.windows import WindowOptions
from wordgeom.runtime.run_options import RunOptions
from wordgeom.storage import store
from wordgeom.storage.opening import reading

_FILES = ("read_vocab", "stop_words", "keep_words", "metadata")  # options that name files


@dataclass(frozen=True)
class Inputs:
    """Files in reading order, the options to read them with, and notes."""

    names: list[str]
    corpus: CorpusOptions
    notes: list[str] = field(default_factory=list)


def find(names: Sequence[str], corpus: CorpusOptions) -> Inputs:
    """Return the files that the names stand for, after checking that each can be opened.

    Raises MissingInputError, OptionError.
    """
    for name in names:
        if store.exists(name):
            raise MissingInputError("is a matrix, not text", where=name, do="name text files")
    found = paths.expand(names)
    if corpus.metadata is not None:  # it may lie among the files that it describes
        _digest_of_file("metadata", corpus.metadata)  # raises where it cannot be read
        table = os.path.realpath(corpus.metadata)
        found = [name for name in found if os.path.realpath(name) != table]
        if not found:
            raise MissingInputError("is the table of --metadata", where=table, do="name text files")
    for name in found:
        check_input(name)
    notes = [paths.expansion_note(names, found), formats.mixture_note(found, corpus)]
    resolved = formats.resolve(found, corpus)
    labels = file_labels(found, resolved)
    return Inputs(labels.names, resolved, [*filter(None, notes), *labels.notes])


def request_options(
    corpus: CorpusOptions, run: RunOptions, window: WindowOptions | None = None
) -> dict[str, Any]:
    """Return the options in the request of a count; digests stand for files."""
    options = corpus.result_options() | ({} if window is None else window.result_options())
    if corpus.sample > 0:
        options["seed"] = run.seed
    if not corpus.phrases:
        del options["phrase_threshold"]  # without effect
    if corpus.tokeniser == "kmer":
        del options["normalise"]  # without effect: sequences are ASCII
    # Options without effect are left out.
    if corpus.input_format not in ("csv", "tsv", "auto") or not by_number(corpus.text_field or ""):
        del options["header"]
    if corpus.input_format not in ("csv", "auto"):
        del options["delimiter"]
    for name in _FILES:
        path = options[name]
        if path is not None:
            options[name] = _digest_of_file(name, path)
    if corpus.read_vocab is not None:
        options |= {"min_count": 0, "max_vocab": 0}
    return options


def files_of(corpus: CorpusOptions) -> list[str]:
    """Return the files that the options name."""
    return [path for name in _FILES if (path := getattr(corpus, name)) is not None]


def of_request(names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the inputs in a request, before they are read."""
    return [{"name": _full_name(name), "stamp": file_stamp(name)} for name in names]


def cards(sources: Sequence[Source]) -> list[dict[str, Any]]:
    """Return the inputs in a run card, after they were read."""
    return [
        {"name": _full_name(s.name), "bytes": s.bytes, "digest": s.digest, "stamp": s.stamp}
        for s in sources
    ]


def are_those(
    names: Sequence[str], made_from: Sequence[dict[str, Any]], *, named: bool = False
) -> bool:
    """Return whether the files are those of a run card, by size and time or else by digest.

    named: whether their names must also be the same. Texts in memory are read for their digest:
    where they differ, nothing is made of them.
    """
    if len(names) != len(made_from) or any(is_stream(name) and not is_held(name) for name in names):
        return False
    for name, card in zip(names, made_from, strict=True):
        same_name = card.get("name") == os.path.abspath(name)
        if same_name and not is_held(name) and card.get("stamp") == file_stamp(name):
            continue
        if named and os.path.basename(name) != os.path.basename(card.get("name", "")):
            return False
        if not has_digest(name, str(card.get("digest"))):
            return False
    return True


def _digest_of_file(option: str, path: str) -> str:
    if is_stream(path):
        raise OptionError(f"{flag(option)} needs a file, not {path}")
    if store.exists(path):
        return hashlib.sha256(list_content(Path(path))).hexdigest()
    with reading(path, f"a file to {flag(option)}", f"check {flag(option)}"), open(path, "rb"):
        return file_digest(path)


def _full_name(name: str) -> str:
    return name if name == STDIN or is_held(name) else os.path.abspath(name)

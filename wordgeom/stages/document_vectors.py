"""What documents are called in a vectors file, and where it lies beside the words' vectors."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from wordgeom.core.errors import FormatError, InputError, OptionError, OutputExistsError
from wordgeom.core.formatting import several
from wordgeom.matrices.document_term import Document, StoredDocuments
from wordgeom.storage.files import same_file
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import replace_white_space, writable_words


class Names(NamedTuple):
    """A name for each row, all unlike; notes on them; whether any held white space."""

    names: list[str]
    notes: list[str]
    spaced: bool


def document_names(stored: StoredDocuments, space: str | None) -> Names:
    """Return what documents are called: their ids, or file and line.

    One that is called as an earlier one gets #2, #3, … behind it. space: replaces white space,
    which no name may hold. Raises InputError for such a name, FormatError for documents that do
    not fit the matrix.
    """
    documents, files = stored.documents(), _file_names(stored)
    given = [_name(document, files, stored) for document in documents]
    spaced = _first_with_space(given)
    if spaced is not None and space is None:
        what = f"document {spaced + 1:,} is called {given[spaced]!r}, which holds white space"
        raise InputError(what, where=stored.path, do="--space _ replaces white space")
    if space is not None:
        given = [replace_white_space(name, space) for name in given]
    names = _unlike(given)
    return Names(names, _notes(documents, given, names), spaced is not None)


def checked_place(out: Path, documents: Path) -> None:
    """Refuse a file of documents' vectors that cannot be written, or lie beside `out`.

    Raises OptionError, MissingInputError.
    """
    writable_words(documents, [], space=None)
    if any(same_file(documents, other) for other in (out, run_card.card_path(out))):
        found = os.fspath(documents)
        raise OptionError("--documents and -o name one file", found=found, do="name another")


def different_content(documents: Path, *, force: bool) -> None:
    """Raise OutputExistsError for a file that the vectors to be written do not account for."""
    if not force and os.path.lexists(documents):
        what = "exists and holds something else"
        do = "name another with --documents, or pass --force to replace it"
        raise OutputExistsError(what, where=documents, do=do)


def _first_with_space(names: Sequence[str]) -> int | None:
    return next((row for row, name in enumerate(names) if name.split() != [name]), None)


def _file_names(stored: StoredDocuments) -> list[str]:
    """Return what files are called: by their names alone where these are unlike."""
    paths = stored.names()
    names = [os.path.basename(path) for path in paths]
    return names if len(set(names)) == len(names) else paths


def _name(document: Document, files: Sequence[str], stored: StoredDocuments) -> str:
    if document.id:
        return document.id
    if not 1 <= document.file <= len(files):
        found = f"file {document.file} of {len(files)}"
        raise FormatError("its documents do not fit it", where=stored.path, found=found)
    return f"{files[document.file - 1]}:{document.line}"


def _unlike(given: Sequence[str]) -> list[str]:
    """Return names, each but the first of a kind with #2, #3, … behind it."""
    taken, last = set(given), dict[str, int]()
    names = []
    for name in given:
        number = last.get(name, 0) + 1
        while number > 1 and f"{name}#{number}" in taken:
            number += 1
        last[name] = number
        names.append(name if number == 1 else f"{name}#{number}")
    return names


def _notes(documents: Sequence[Document], given: Sequence[str], names: Sequence[str]) -> list[str]:
    notes = []
    first = next((row for row, one in enumerate(documents) if not one.id), None)
    if first is not None:
        nameless = sum(not one.id for one in documents)
        called = several(nameless, "document has no id: it is", "documents have no id: they are")
        notes.append(f"{called} called by file and line, as {given[first]}")
    changed = [new for new, old in zip(names, given, strict=True) if new != old]
    if changed:
        one, more = (
            "document has the name of an earlier one",
            "documents have names of earlier ones",
        )
        told = several(len(changed), one, more)
        notes.append(f"{told}: a number is put behind it, as in {changed[0]}")
    return notes

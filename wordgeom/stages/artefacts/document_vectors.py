"""The names of documents in a vectors file, and its place beside the words' vectors."""

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
    """A unique name for each row; notes; whether any contained white space."""

    names: list[str]
    notes: list[str]
    spaced: bool


def document_names(stored: StoredDocuments, space: str | None) -> Names:
    """Return the names of the documents: their ids, or file and line.

    A repeated name gets the suffix #2, #3, …. space: replaces white space, which no name may
    contain. Raises InputError for such a name, FormatError for documents that do not match the
    matrix.
    """
    documents, files = stored.documents(), _file_names(stored)
    given = [_name(document, files, stored) for document in documents]
    spaced = next((row for row, name in enumerate(given) if name.split() != [name]), None)
    if spaced is not None and space is None:
        what = f"the name of document {spaced + 1:,}, {given[spaced]!r}, contains white space"
        raise InputError(what, where=stored.path, do="replace it: --space _")
    if space is not None:
        given = [replace_white_space(name, space) for name in given]
    names = _unique(given)
    return Names(names, _notes(documents, given, names), spaced is not None)


def check_place(out: Path, documents: Path) -> None:
    """Raise OptionError or MissingInputError where document vectors cannot be written."""
    writable_words(documents, [], space=None)
    if any(same_file(documents, other) for other in (out, run_card.card_path(out))):
        what = f"--documents and -o name the same file, {documents}"
        raise OptionError(what, do="name another")


def check_absent(documents: Path, *, force: bool) -> None:
    """Raise OutputExistsError for an existing file that does not belong to the vectors."""
    if not force and os.path.lexists(documents):
        what = "exists and has different content"
        do = "name another with --documents, or overwrite it with --force"
        raise OutputExistsError(what, where=documents, do=do)


def _file_names(stored: StoredDocuments) -> list[str]:
    """Return the names of the files, without their directories where these are not needed."""
    paths = stored.names()
    names = [os.path.basename(path) for path in paths]
    return names if len(set(names)) == len(names) else paths


def _name(document: Document, files: Sequence[str], stored: StoredDocuments) -> str:
    if document.id:
        return document.id
    if not 1 <= document.file <= len(files):
        what = f"its documents name file {document.file} of {len(files)}"
        raise FormatError(what, where=stored.path)
    return f"{files[document.file - 1]}:{document.line}"


def _unique(given: Sequence[str]) -> list[str]:
    """Return the names, repeated ones with the suffix #2, #3, …."""
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
        named = several(nameless, "document has no id and is", "documents have no id and are")
        notes.append(f"{named} named by file and line, such as {given[first]}")
    changed = [new for new, old in zip(names, given, strict=True) if new != old]
    if changed:
        repeated = several(len(changed), "repeated document name", "repeated document names")
        notes.append(f"{repeated} got a numbered suffix, such as {changed[0]}")
    return notes

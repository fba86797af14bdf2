"""Groups of documents, within which times may be shuffled: of one file, one id, or one line."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from wordgeom.core.errors import InputError, MissingInputError
from wordgeom.core.types import Int64
from wordgeom.matrices.document_term import Document

FILE, ID = "file", "id"
_SHOWN = 40  # characters of an id that a message shows


def group_documents(documents: Sequence[Document], by: str) -> Int64:
    """Return the group of each document, (n), numbers from 0 in order of appearance.

    by: "file", "id", or the name of a file with `id TAB group` on each line. Raises
    MissingInputError; InputError for documents without ids, for a line of another form, an id of
    two groups, and a document that the file lacks.
    """
    if by == FILE:
        return _numbered([str(document.file) for document in documents])
    table = {} if by == ID else _read(by)
    _check_ids(documents)
    if by == ID:
        return _numbered([document.id for document in documents])
    lacking = [document.id for document in documents if document.id not in table]
    if lacking:
        found = f"{len(lacking):,} of {len(documents):,} documents are missing"
        what = f"has no group for the document {lacking[0][:_SHOWN]!r}"
        raise InputError(
            what, where=by, found=found, do="write each document's id, a tab, its group"
        )
    return _numbered([table[document.id] for document in documents])


def _check_ids(documents: Sequence[Document]) -> None:
    """Refuse documents without ids: they would be one group."""
    without = sum(not document.id for document in documents)
    if without:
        found = f"{without:,} of {len(documents):,} without one"
        do = "name their field with build-dtm --id-field, or pass --group file"
        raise InputError("documents have no id to group them by", found=found, do=do)


def _read(path: str) -> dict[str, str]:
    table: dict[str, str] = {}
    try:
        with open(path, encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    _add(table, path, number, line)
        return table
    except OSError as error:
        do = "name a file with --group, or file, or id"
        raise MissingInputError(
            "cannot be read", where=path, found=os.strerror(error.errno or 0), do=do
        ) from None
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8", where=path, found=f"at byte {error.start:,}") from None


def _add(table: dict[str, str], path: str, number: int, line: str) -> None:
    """Add a line's id and group; raises InputError where the id has another group already."""
    cells = line.rstrip("\r\n").split("\t")
    if len(cells) != 2:
        where, found = f"{path} line {number}", f"{len(cells)} columns"
        raise InputError("is not an id, a tab and a group", where=where, found=found)
    known = table.setdefault(*cells)
    if known != cells[1]:
        what = f"puts the document {cells[0][:_SHOWN]!r} into a second group"
        found = f"{cells[1][:_SHOWN]!r} after {known[:_SHOWN]!r}"
        where, do = f"{path} line {number}", "leave it in one group"
        raise InputError(what, where=where, found=found, do=do)


def _numbered(names: list[str]) -> Int64:
    numbers = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], np.int64)

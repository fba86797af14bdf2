"""Groups of documents, within which times may be shuffled: of one file, one id, or one line."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from wordgeom.document_matrix import Document
from wordgeom.errors import InputError, MissingInputError
from wordgeom.types import Int64

FILE, ID = "file", "id"
_SHOWN = 40  # characters of an id that a message shows


def group_documents(documents: Sequence[Document], by: str) -> Int64:
    """Return the group of each document, (n), numbers from 0 in order of appearance.

    by: "file", "id", or the name of a file with `id TAB group` on each line. Raises
    MissingInputError; InputError for a line of another form and a document that the file lacks.
    """
    if by == FILE:
        return _numbered([str(document.file) for document in documents])
    if by == ID:
        return _numbered([document.id for document in documents])
    table = _read(by)
    lacking = [document.id for document in documents if document.id not in table]
    if lacking:
        found = f"{len(lacking):,} of {len(documents):,} documents are missing"
        what = f"has no group for the document {lacking[0][:_SHOWN]!r}"
        raise InputError(
            what, where=by, found=found, do="write each document's id, a tab, its group"
        )
    return _numbered([table[document.id] for document in documents])


def _read(path: str) -> dict[str, str]:
    try:
        with open(path, encoding="utf-8-sig") as lines:
            return dict(
                _pair(path, number, line) for number, line in enumerate(lines, 1) if line.strip()
            )
    except OSError as error:
        do = "name a file with --group, or file, or id"
        raise MissingInputError(
            "cannot be read", where=path, found=os.strerror(error.errno or 0), do=do
        ) from None
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8", where=path, found=f"at byte {error.start:,}") from None


def _pair(path: str, number: int, line: str) -> tuple[str, str]:
    cells = line.rstrip("\r\n").split("\t")
    if len(cells) != 2:
        where, found = f"{path} line {number}", f"{len(cells)} columns"
        raise InputError("is not an id, a tab and a group", where=where, found=found)
    return cells[0], cells[1]


def _numbered(names: list[str]) -> Int64:
    numbers = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], np.int64)

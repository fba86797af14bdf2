"""Group documents by file, by id, or by a table, to permute times within groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Int64
from wordgeom.matrices.document_term import Document
from wordgeom.storage.opening import reading

FILE, ID = "file", "id"
_WANTED = "file, id or a table to --group"
_SHOWN = 40  # characters of an id in a message


def group_documents(documents: Sequence[Document], by: str) -> Int64:
    """Return the group of each document (n) int64, numbered in order of appearance.

    by: "file", "id", or the path of a table with `id TAB group` on each line. Raises
    MissingInputError; InputError for documents without ids, a malformed line, an id in two groups,
    and a document without a group.
    """
    if by == FILE:
        return _numbered([str(document.file) for document in documents])
    table = {} if by == ID else _read(by)
    _check_ids(documents)
    if by == ID:
        return _numbered([document.id for document in documents])
    missing = [document.id for document in documents if document.id not in table]
    if missing:
        few = f"{len(missing):,} of {len(documents):,} documents"
        what = f"{few} have no group, such as document {missing[0][:_SHOWN]!r}"
        raise InputError(what, where=by, do="add lines of id, tab, group")
    return _numbered([table[document.id] for document in documents])


def _check_ids(documents: Sequence[Document]) -> None:
    """Raise InputError for documents without ids, which would form one group."""
    without = sum(not document.id for document in documents)
    if without:
        what = f"{without:,} of {len(documents):,} documents have no id to be grouped by"
        do = "rebuild the matrix with build-dtm --id-field, or pass --group file"
        raise InputError(what, do=do)


def _read(path: str) -> dict[str, str]:
    table: dict[str, str] = {}
    try:
        with (
            reading(path, _WANTED, f"pass {_WANTED}"),
            open(path, encoding="utf-8-sig") as lines,
        ):
            for number, line in enumerate(lines, 1):
                if line.strip():
                    _add(table, path, number, line)
        return table
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 at byte {error.start:,}", where=path) from None


def _add(table: dict[str, str], path: str, number: int, line: str) -> None:
    """Add a line's id and group; raises InputError if the id is in another group."""
    cells = line.rstrip("\r\n").split("\t")
    if len(cells) != 2:
        where, found = f"{path} line {number}", f"{len(cells)} columns"
        raise InputError("expected an id, a tab and a group", where=where, found=found)
    first = table.setdefault(*cells)
    if first != cells[1]:
        both = f"{first[:_SHOWN]!r} and {cells[1][:_SHOWN]!r}"
        what = f"document {cells[0][:_SHOWN]!r} is in two groups, {both}"
        where, do = f"{path} line {number}", "remove one of them"
        raise InputError(what, where=where, do=do)


def _numbered(names: list[str]) -> Int64:
    numbers = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], np.int64)

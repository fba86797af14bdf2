"""Entity names: find and read a names file, remove white space, detect duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wordgeom.core.errors import InputError, MissingInputError
from wordgeom.evaluation.lines import read_lines
from wordgeom.formats.word_files import companion_path
from wordgeom.imputation.tables.cells import number_of
from wordgeom.vectors.keyed import in_nfc

_SUFFIXES = (".txt", ".names")  # of a matrix's names file
_SPACE = "_"


def names_file(table: Path, given: str | None) -> Path:
    """Return the given names file, else the one next to the table.

    Raises MissingInputError if there is none.
    """
    if given is not None:
        return Path(given)
    candidates = [table.with_suffix(suffix) for suffix in _SUFFIXES]
    candidates.insert(0, companion_path(table))  # as `wordgeom convert` writes them
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        do = f"write one name per line to {candidates[1].name} next to it, or pass --names"
        raise MissingInputError("no names for the rows", where=table, do=do)
    return found


def read_names(path: Path, rows: int, table: Path) -> list[str]:
    """Read one name per line, one for each row of the table.

    Raises what `read_lines` raises; InputError for an empty line or a wrong number of names.
    """
    lines = read_lines(path)
    for expected, (number, _) in enumerate(lines, 1):
        if number != expected:
            do = "give every row of the table a name"
            raise InputError("no name", where=f"{path} line {expected}", do=do)
    if len(lines) != rows:
        what = f"must contain a name for each of the {rows:,} rows of {table}, one per line"
        more = "remove lines that name no row, such as a header"
        do = more if len(lines) > rows else "add the missing names, in the order of the rows"
        raise InputError(what, where=path, found=f"{len(lines):,} names", do=do)
    return [line for _, line in lines]


def clean_names(raw: Sequence[str], where: str | Path) -> tuple[list[str], int]:
    """Return names without white space, as vectors files need, and how many had some inside.

    A run of white space becomes one underscore. Raises InputError for a name that is empty, has
    a NUL character, or that UTF-8 cannot encode.
    """
    parts = [name.split() for name in raw]
    names = [_SPACE.join(part) for part in parts]
    for row, name in enumerate(names):
        if not name:
            do = "name or remove it"
            raise InputError(f"entity {row + 1} has no name", where=where, do=do)
        if "\0" in name:
            what, do = f"the name of entity {row + 1} contains a NUL character", "remove it"
            raise InputError(what, where=where, found=repr(name[:40]), do=do)
        try:
            name.encode()
        except UnicodeEncodeError:
            what = f"the name of entity {row + 1}, {name!r}, cannot be encoded in UTF-8"
            raise InputError(what, where=where, do="correct it") from None
    return names, sum(len(part) > 1 for part in parts)


def first_rows(names: Sequence[str], where: str | Path, *, strict: bool) -> list[int]:
    """Return the row of each name's first occurrence; names are compared in NFC.

    Raises InputError for repeated names if `strict`.
    """
    names = [in_nfc(name) for name in names]
    first: dict[str, int] = {}
    rows = [row for row, name in enumerate(names) if first.setdefault(name, row) == row]
    if strict and len(rows) < len(names):
        again = next(row for row, name in enumerate(names) if first[name] != row)
        name = names[again]
        what = f"entities {first[name] + 1} and {again + 1} are both named {name!r}"
        if (repeated := len(names) - len(rows)) > 1:
            what += f" ({repeated:,} repeated names in all)"
        do = "to keep the first of each, use --duplicates first"
        if all(number_of(each) is not None for each in names):
            do = "if the first column is no name, add names as the first column"
        raise InputError(what, where=where, do=do)
    return rows

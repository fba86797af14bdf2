"""The names of entities: where they stand, what is made of them, and which are the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wordgeom.core.errors import InputError, MissingInputError
from wordgeom.evaluation.lines import read_lines

_BESIDE = (".txt", ".names")  # suffixes of a file of names beside a matrix
_SPACE = "_"


def names_file(table: Path, given: str | None) -> Path:
    """Return the file of names: the one given, else the one beside the table.

    Raises MissingInputError where there is none.
    """
    if given is not None:
        return Path(given)
    beside = [table.with_suffix(suffix) for suffix in _BESIDE]
    found = next((path for path in beside if path.is_file()), None)
    if found is None:
        do = f"write them, one a line, into {beside[0].name} beside it, or name a file by --names"
        raise MissingInputError("no names for its rows", where=table, do=do)
    return found


def read_names(path: Path, rows: int, table: Path) -> list[str]:
    """Read one name a line, as many as the table has rows.

    Raises what `read_lines` raises; InputError for an empty line and for another number of names.
    """
    lines = read_lines(path)
    for expected, (number, _) in enumerate(lines, 1):
        if number != expected:
            do = "give every row of the table a name"
            raise InputError("holds no name", where=f"{path} line {expected}", do=do)
    if len(lines) != rows:
        what = f"must hold a name for each of the {rows:,} rows of {table}, one a line"
        more = "leave out what names no row, a heading say"
        do = more if len(lines) > rows else "add the others, in the order of the rows"
        raise InputError(what, where=path, found=f"{len(lines):,} names", do=do)
    return [line for _, line in lines]


def clean_names(raw: Sequence[str], where: str | Path) -> tuple[list[str], int]:
    """Return names without white space, as vectors' files need them, and how many had some inside.

    A run of it becomes one underscore. Raises InputError for an empty name, or one without UTF-8.
    """
    parts = [name.split() for name in raw]
    names = [_SPACE.join(part) for part in parts]
    for row, name in enumerate(names):
        if not name:
            do = "give it one, or leave it out"
            raise InputError(f"entity {row + 1} has no name", where=where, do=do)
        if not name.isascii():
            _check_text(row, name, where)
    return names, sum(len(part) > 1 for part in parts)


def first_rows(names: Sequence[str], where: str | Path, *, strict: bool) -> list[int]:
    """Return the rows whose names did not occur before.

    Raises InputError for names that repeat, if they are refused.
    """
    first: dict[str, int] = {}
    rows = [row for row, name in enumerate(names) if first.setdefault(name, row) == row]
    if strict and len(rows) < len(names):
        again = next(row for row, name in enumerate(names) if first[name] != row)
        name = names[again]
        raise InputError(
            f"entities {first[name] + 1} and {again + 1} are both named {name!r}",
            where=where,
            found=f"{len(names) - len(rows):,} such in all",
            do="--duplicates first keeps the first of each name",
        )
    return rows


def _check_text(row: int, name: str, where: str | Path) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        what = f"the name of entity {row + 1}, {name!r}, cannot be written in UTF-8"
        raise InputError(what, where=where, do="correct it") from None

"""A file that renames entities, `entity word` a line: what a table calls them → what texts do."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wordgeom.errors import InputError
from wordgeom.evaluate.lines import read_lines
from wordgeom.imputation.names import clean

_SIGNS, _BLANKS = "\t,", ""
_DO = "write an entity and a word a line, with a tab between them"


@dataclass(frozen=True)
class Renaming:
    """Names that took the place of others; used, unused: entries of the file; first: an unused."""

    names: list[str]
    used: int
    unused: int
    first: str


def rename(names: Sequence[str], path: Path) -> Renaming:
    """Rename entities (names without white space) as a file tells.

    Raises what `read_lines` raises; InputError naming the line for one that is not two names, and
    for an entity with two words.
    """
    words = read_map(path)
    unused = words.keys() - set(names)
    first = next((entity for entity in words if entity in unused), "")
    renamed = [words.get(name, name) for name in names]
    return Renaming(renamed, len(words) - len(unused), len(unused), first)


def read_map(path: Path) -> dict[str, str]:
    """Read which word each entity becomes, both without white space.

    Fields are separated alike on every line: by tabs, commas or, where these are rare, blanks.
    """
    lines = read_lines(path)
    sign = _separator([line for _, line in lines])
    words: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for number, line in lines:
        where = f"{path} line {number}"
        entity, word = _entry(line, sign, where)
        if words.setdefault(entity, word) != word:
            what = f"{entity!r} is named {word!r}"
            found = f"{words[entity]!r} in line {numbers[entity]}"
            raise InputError(what, where=where, found=found, do="keep one of the two lines")
        numbers.setdefault(entity, number)
    return words


def _separator(lines: Sequence[str]) -> str:
    """Return the sign that cuts most lines in two: not all, so that a bad one is told as bad."""
    for sign in _SIGNS:
        if 2 * sum(sign in line for line in lines) > len(lines):
            return sign
    return _BLANKS


def _entry(line: str, sign: str, where: str) -> tuple[str, str]:
    fields = _fields(line, sign, where)
    if len(fields) != 2 or not all(field.strip() for field in fields):
        raise InputError("is not two names", where=where, found=repr(line[:60]), do=_DO)
    (entity, word), _ = clean(fields, where)
    return entity, word


def _fields(line: str, sign: str, where: str) -> list[str]:
    if sign != ",":
        return line.split(sign or None)
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:
        raise InputError("is not CSV", where=where, found=error, do=_DO) from None

"""A file that renames entities, `entity word` a line: what a table calls them → what texts do."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from wordgeom.core.errors import InputError
from wordgeom.evaluation.lines import read_lines
from wordgeom.imputation.tables.names import clean_names

_SEPARATORS, _WHITE_SPACE = "\t,", ""
_DO = "write an entity and a word a line, with a tab between them"
_DO_TAB = "put a tab between the entity and its word, where one of them holds a blank"
_SPELLINGS, _LISTED = 20_000, 3  # names compared with an entry; names of the table that are told


@dataclass(frozen=True)
class Renaming:
    """Names that took the place of others, and which did.

    mapped: whether each name is the file's; used, unused: entries of the file; first: an unused.
    """

    names: list[str]
    mapped: list[bool]
    used: int
    unused: int
    first_unused: str


def rename_entities(names: Sequence[str], path: Path) -> Renaming:
    """Rename entities (names without white space) as a file tells.

    Raises what `read_lines` raises; InputError naming the line for one that is not two names, for
    an entity with two words, and where not one entry names an entity.
    """
    words = read_map(path)
    known = set(names)
    unused = words.keys() - known
    if len(unused) == len(words):
        raise _no_match_error(words, names, known, path)
    first_unused = next((entity for entity in words if entity in unused), "")
    renamed = [words.get(name, name) for name in names]
    mapped = [name in words for name in names]
    return Renaming(renamed, mapped, len(words) - len(unused), len(unused), first_unused)


def read_map(path: Path) -> dict[str, str]:
    """Read which word each entity becomes, both without white space.

    Fields are separated alike on every line: by tabs, commas or, where these are rare, blanks.
    """
    lines = read_lines(path)
    separator = _separator([line for _, line in lines])
    words: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for number, line in lines:
        where = f"{path} line {number}"
        entity, word = _entry(line, separator, where)
        if words.setdefault(entity, word) != word:
            what = f"{entity!r} is named {word!r}"
            found = f"{words[entity]!r} in line {numbers[entity]}"
            raise InputError(what, where=where, found=found, do="keep one of the two lines")
        numbers.setdefault(entity, number)
    return words


def _no_match_error(
    words: Mapping[str, str], names: Sequence[str], known: set[str], path: Path
) -> InputError:
    """Return what to say of a map that does not fit the table, with a name spelt alike."""
    entity = next(iter(words))
    spelt = {name.lower(): name for name in islice(names, _SPELLINGS)}
    close = difflib.get_close_matches(entity.lower(), spelt, n=1, cutoff=0.5)
    if not known.isdisjoint(words.values()):
        do = "its words do: write the entity first, then its word"
    elif close:
        do = f"did you mean {spelt[close[0]]!r}?"
    else:
        do = f"its names are {', '.join(map(repr, names[:_LISTED]))} …"
    what = "no entry names an entity of the table"
    return InputError(what, where=path, found=repr(entity), do=do)


def _separator(lines: Sequence[str]) -> str:
    """Return the sign that cuts most lines in two: not all, so that a bad one is told as bad."""
    for separator in _SEPARATORS:
        if 2 * sum(separator in line for line in lines) > len(lines):
            return separator
    return _WHITE_SPACE


def _entry(line: str, separator: str, where: str) -> tuple[str, str]:
    fields = _fields(line, separator, where)
    if len(fields) != 2 or not all(field.strip() for field in fields):
        do = _DO_TAB if separator == _WHITE_SPACE and len(fields) > 2 else _DO
        raise InputError("is not two names", where=where, found=repr(line[:60]), do=do)
    (entity, word), _ = clean_names(fields, where)
    return entity, word


def _fields(line: str, separator: str, where: str) -> list[str]:
    if separator != ",":
        return line.split(separator or None)
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:
        raise InputError("is not CSV", where=where, found=error, do=_DO) from None

"""Rename entities with a name map: a file with lines of `entity word`."""

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
_FORMAT = "write an entity and a word per line, separated by a tab, or remove the line"
_USE_TABS = "separate the entity and its word by a tab if one of them contains a space"
_SPELLINGS, _LISTED = 20_000, 3  # names compared with an entry, and listed in a message


@dataclass(frozen=True)
class Renaming:
    """Renamed entities.

    names (n); mapped (n): whether the file renamed each; used, unused: numbers of entries that
    match an entity, or none; first_unused: the first of the latter.
    """

    names: list[str]
    mapped: list[bool]
    used: int
    unused: int
    first_unused: str


def rename_entities(names: Sequence[str], path: Path) -> Renaming:
    """Rename entities (names without white space) according to a file.

    Raises what `read_lines` raises; InputError naming the line that is not an entity and a word,
    for an entity with two words, and if no entry matches an entity.
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
    """Read the word of each entity, both without white space.

    All lines have the same separator: tabs, commas, or spaces if most lines have neither.
    """
    lines = read_lines(path)
    separator = _separator([line for _, line in lines])
    words: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for number, line in lines:
        where = f"{path} line {number}"
        entity, word = _entry(line, separator, where)
        if words.setdefault(entity, word) != word:
            other = f"{words[entity]!r} in line {numbers[entity]}"
            what = f"{entity!r} is mapped to {word!r}, and to {other}"
            raise InputError(what, where=where, do="remove one of the two lines")
        numbers.setdefault(entity, number)
    return words


def _no_match_error(
    words: Mapping[str, str], names: Sequence[str], known: set[str], path: Path
) -> InputError:
    """Return the error for a map that does not match the table, suggesting a similar name."""
    entity = next(iter(words))
    spelt = {name.lower(): name for name in islice(names, _SPELLINGS)}
    close = difflib.get_close_matches(entity.lower(), spelt, n=1, cutoff=0.5)
    if not known.isdisjoint(words.values()):
        do = "swap the columns: the entity comes first, then its word"
    elif close:
        do = f"did you mean {spelt[close[0]]!r}?"
    else:
        do = f"the table has {', '.join(map(repr, names[:_LISTED]))} …"
    what = f"no entry, such as {entity!r}, matches an entity of the table"
    return InputError(what, where=path, do=do)


def _separator(lines: Sequence[str]) -> str:
    """Return the separator that most lines contain: the others are then reported as malformed."""
    for separator in _SEPARATORS:
        if 2 * sum(separator in line for line in lines) > len(lines):
            return separator
    return _WHITE_SPACE


def _entry(line: str, separator: str, where: str) -> tuple[str, str]:
    fields = _fields(line, separator, where)
    if len(fields) != 2 or not all(field.strip() for field in fields):
        do = _USE_TABS if separator == _WHITE_SPACE and len(fields) > 2 else _FORMAT
        what = "expected an entity and a word"
        raise InputError(what, where=where, found=repr(line[:60]), do=do)
    (entity, word), _ = clean_names(fields, where)
    return entity, word


def _fields(line: str, separator: str, where: str) -> list[str]:
    if separator != ",":
        return line.split(separator or None)
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:
        raise InputError(f"malformed CSV: {error}", where=where, do=_FORMAT) from None

"""Tables of texts and numbers: CSV or TSV with a header, as protein tasks are published."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wordgeom.core.errors import InputError
from wordgeom.evaluation.fields import split_fields
from wordgeom.evaluation.lines import read_lines

TEXT, TARGET, SPLIT = ("sequence", "text"), ("target", "y", "score"), "is_train"
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class Target:
    """A text, its number (nan where it has none), and whether it is only to be learned from."""

    text: str
    value: float
    learned: bool


def read_table(path: str | Path) -> list[Target]:
    """Read a table with a header line; a line is a row, and tabs make it TSV.

    The text's column is called sequence or text; the number's target, y or score, or else stands
    just after the text, and may be empty; is_train, where there is one, is True, False, 1 or 0.
    Other columns are not read. Raises InputError naming the line for a missing column, a row of
    another length, a target that is no finite number and an is_train that is neither.
    """
    (number, header), *lines = read_lines(path)
    sign = "\t" if "\t" in header else ","
    names = [name.strip().lower() for name in split_fields(header, sign, f"{path} line {number}")]
    columns = _columns(names, f"{path} line {number}")
    if not lines:
        raise InputError("holds a header and no row", where=path)
    return [_target(line, sign, len(names), columns, f"{path} line {n}") for n, line in lines]


@dataclass(frozen=True)
class _Columns:
    text: int
    target: int
    split: int | None


def _columns(names: Sequence[str], where: str) -> _Columns:
    found = ", ".join(names)[:100]
    text = next((names.index(name) for name in TEXT if name in names), None)
    if text is None:
        do = "name the texts' column so"
        raise InputError("has no column sequence or text", where=where, found=found, do=do)
    part = names.index(SPLIT) if SPLIT in names else None
    target = next((names.index(name) for name in TARGET if name in names), text + 1)
    if target in (len(names), part):
        do = "name the numbers' column so, or put it just after the texts"
        raise InputError("has no column target, y or score", where=where, found=found, do=do)
    return _Columns(text, target, part)


def _target(line: str, sign: str, width: int, columns: _Columns, where: str) -> Target:
    fields = split_fields(line, sign, where)
    if len(fields) != width:
        what = f"needs {width} columns, as the header has"
        raise InputError(what, where=where, found=len(fields), do="correct the line")
    learned = columns.split is not None and _learned(fields[columns.split], where)
    return Target(fields[columns.text].strip(), _value(fields[columns.target], where), learned)


def _value(field: str, where: str) -> float:
    if not field.strip():
        return math.nan
    try:
        value = float(field)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        what, do = "the target is not a finite number", "correct it, or leave the line out"
        raise InputError(what, where=where, found=repr(field[:40]), do=do)
    return value


def _learned(field: str, where: str) -> bool:
    truth = _TRUTH.get(field.strip().lower())
    if truth is None:
        what = f"{SPLIT} must be True, False, 1 or 0"
        raise InputError(what, where=where, found=repr(field[:40]))
    return truth

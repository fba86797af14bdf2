"""Read tables of texts and numbers: CSV or TSV with a header, as in published protein tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wordgeom.core.errors import InputError
from wordgeom.evaluation.lines import read_lines, split_fields

TEXT, TARGET, SPLIT = ("sequence", "text"), ("target", "y", "score"), "is_train"
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class Target:
    """A text, its target (nan if missing), and whether it belongs to the training set."""

    text: str
    value: float
    train_only: bool


def read_table(path: str | Path) -> list[Target]:
    """Read a table with a header line, TSV if the header contains tabs; each line is a row.

    The text column is named sequence or text. The target column is named target, y or score, or
    else follows the text; its cells may be empty. An optional column is_train is True, False, 1 or
    0. Other columns are ignored. Raises InputError, naming the line, for a missing column, a wrong
    number of columns, a target that is not a finite number, and an invalid is_train.
    """
    (number, header), *lines = read_lines(path)
    delimiter = "\t" if "\t" in header else ","
    where = f"{path} line {number}"
    names = [name.strip().lower() for name in split_fields(header, delimiter, where)]
    columns = _columns(names, where)
    if not lines:
        raise InputError("no rows below the header", where=path)
    return [_target(line, delimiter, len(names), columns, f"{path} line {n}") for n, line in lines]


def _columns(names: Sequence[str], where: str) -> tuple[int, int, int | None]:
    """Return the columns of the text, of the target and of the split, None if there is none."""
    found = ", ".join(names)[:100]
    text = next((names.index(name) for name in TEXT if name in names), None)
    if text is None:
        do = "rename the text column"
        raise InputError(f"no column named sequence or text among {found}", where=where, do=do)
    split = names.index(SPLIT) if SPLIT in names else None
    target = next((names.index(name) for name in TARGET if name in names), text + 1)
    if target in (len(names), split):
        do = "rename the target column, or put it right after the text"
        raise InputError(f"no column named target, y or score among {found}", where=where, do=do)
    return text, target, split


def _target(
    line: str, delimiter: str, width: int, columns: tuple[int, int, int | None], where: str
) -> Target:
    fields, (text, target, split) = split_fields(line, delimiter, where), columns
    if len(fields) != width:
        what = f"the row has {len(fields)} columns, the header {width}"
        raise InputError(what, where=where, do="fix the row")
    train_only = split is not None and _is_train(fields[split], where)
    return Target(fields[text].strip(), _value(fields[target], where), train_only)


def _value(field: str, where: str) -> float:
    if not field.strip():
        return math.nan
    try:
        value = float(field)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        what, do = "the target must be a finite number", "correct it or delete the row"
        raise InputError(what, where=where, found=repr(field[:40]), do=do)
    return value


def _is_train(field: str, where: str) -> bool:
    truth = _TRUTH.get(field.strip().lower())
    if truth is None:
        what = f"{SPLIT} must be True, False, 1 or 0"
        raise InputError(what, where=where, found=repr(field[:40]))
    return truth

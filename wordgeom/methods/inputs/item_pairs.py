"""The input `item-pairs`: a file of two names and a weight or a deviation on each line."""

from __future__ import annotations

import math
import re
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.options import flag
from wordgeom.core.types import Float64
from wordgeom.methods.inputs.kind import OpenFile, Request
from wordgeom.methods.inputs.pairs import PairsInput

_COMMENT, _DELIMITERS = "#", ("\t", ";", ",")
_NO_TITLE = re.compile(r".*\d.*|na|n/a|null|none|missing|-*", re.IGNORECASE)  # a broken number
_LARGEST = float(np.finfo(np.float32).max)
_DO = "write two names and a number on each line"


@dataclass(frozen=True)
class ItemPairs:
    """The lines of a file: names (p), names (p) and finite numbers (p)."""

    left: list[str]
    right: list[str]
    values: Float64


class ItemPairsInput(PairsInput):
    """Pairs of items with weights or deviations, read as ItemPairs."""

    name: ClassVar[str] = "item-pairs"
    help: ClassVar[str] = "file of item pairs: weights (similar > 0 > dissimilar) or deviations"
    required: ClassVar[bool] = False
    compared: ClassVar[bool] = False  # other methods' pairs have scores

    def open(self, request: Request) -> OpenFile:
        """Open and read the file."""
        assert request.path is not None
        return OpenFile(request.path, read_item_pairs(request.path), flag(self.setting))


def read_item_pairs(path: Path) -> ItemPairs:
    """Read lines of two names and a number, separated by tabs, semicolons, commas or white space.

    A first line with a title instead of a number is a header; lines that start with # are comments;
    further fields are ignored. Raises what `read_lines` raises; InputError for a line without two
    names and a finite number, naming the line, and for a file without pairs.
    """
    from wordgeom.evaluation.lines import read_lines, split_fields  # `--help` reads the inputs

    lines = [(n, line) for n, line in read_lines(path) if not line.startswith(_COMMENT)]
    delimiter = next((d for d in _DELIMITERS if lines and lines[0][1].count(d) >= 2), "")
    left, right, values = list[str](), list[str](), array("d")
    for place, (number, line) in enumerate(lines):
        where = f"{path} line {number}"
        fields = [field.strip() for field in split_fields(line, delimiter, where)]
        third = fields[2] if len(fields) > 2 else ""
        if place == 0 and _number(third) is None and not _NO_TITLE.fullmatch(third):
            continue
        value = _number(third)
        if value is None or not fields[0] or not fields[1]:
            what, found = "expected two names and a number", repr(line[:60])
            raise InputError(what, where=where, found=found, do=_DO)
        if not abs(value) <= _LARGEST:
            what = "beyond the range of float32" if math.isfinite(value) else "not a finite number"
            raise InputError(f"the number is {what}", where=where, found=third[:60])
        left.append(fields[0])
        right.append(fields[1])
        values.append(value)
    if not values:
        raise InputError("no pairs in the file", where=path, do=_DO)
    return ItemPairs(left, right, np.array(values))


def _number(field: str) -> float | None:
    try:
        return float(field)
    except ValueError:
        return None

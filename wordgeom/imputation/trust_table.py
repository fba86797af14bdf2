"""Read and write the trust table: tab-separated text with a header and a line per entity.

    entity  source  anchor  distance  error  anchor_weight  neighbours  tied  excluded
    xilinx  imputed  intel  .81  .93  .74  intel:.41 nvidia:.33 kla:.26  0  0

Names contain no white space; neighbours are `name:weight`, largest weight first. Tables without the
last two columns, as earlier versions wrote, are read too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from wordgeom.core.errors import FormatError
from wordgeom.core.types import Csr
from wordgeom.evaluation.lines import read_lines
from wordgeom.imputation.nearest_anchors import NO_ANCHOR
from wordgeom.imputation.trust import SOURCES, Row, Trust, format_number

COLUMNS = Row._fields
_OLD_COLUMNS = COLUMNS[:-2]  # without ties
_DO = "write it again with wordgeom impute"


def trust_lines(trust: Trust) -> Iterator[bytes]:
    """Yield the lines of the table."""
    yield ("\t".join(COLUMNS) + "\n").encode()
    for row in trust:
        neighbours = " ".join(f"{name}:{format_number(weight)}" for name, weight in row.neighbours)
        numbers = map(format_number, (row.distance, row.error, row.anchor_weight))
        ties = (str(row.tied), str(row.excluded))
        yield ("\t".join((*row[:3], *numbers, neighbours, *ties)) + "\n").encode()


def read_trust(path: Path) -> Trust:
    """Read a trust table.

    Raises what `read_lines` raises; FormatError for a malformed line.
    """
    (first, header), *rest = read_lines(path)
    columns = tuple(header.split("\t"))
    if columns not in (COLUMNS, _OLD_COLUMNS) or not rest:
        found = repr(header[:60]) if rest else "nothing after the header"
        raise FormatError("not a trust table", where=f"{path} line {first}", found=found, do=_DO)
    split = [(n, line.split("\t")) for n, line in rest]
    for n, fields in split:
        if len(fields) != len(columns) or fields[1] not in SOURCES:
            raise _bad(path, n, "\t".join(fields))
    return _filled(path, split)


def _filled(path: Path, split: list[tuple[int, list[str]]]) -> Trust:
    names = [fields[0] for _, fields in split]
    index = {name: row for row, name in enumerate(names)}
    anchors, figures, counts, ties = [], [], [], []
    others: list[int] = []
    weights: list[float] = []
    for n, fields in split:
        try:
            anchors.append(index[fields[2]] if fields[2] else NO_ANCHOR)
            figures.append([float(text) if text else np.nan for text in fields[3:6]])
            pairs = sorted(_pairs(fields[6], index))
            ties.append([int(text) for text in fields[7:]] or [0, 0])
        except (ValueError, KeyError):
            raise _bad(path, n, "\t".join(fields)) from None
        counts.append(len(pairs))
        others += [other for other, _ in pairs]
        weights += [weight for _, weight in pairs]
    source = np.array([SOURCES.index(fields[1]) for _, fields in split], np.uint8)
    distance, error, anchor_weight = np.array(figures).T.copy()
    indptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    matrix = Csr(indptr, np.array(others, np.int32), np.array(weights), len(names))
    anchor = np.array(anchors, np.int64)
    tied, excluded = np.array(ties, np.int32).T.copy()
    return Trust(
        names, source, anchor, distance, error, anchor_weight, matrix, tied,
        excluded.astype(np.uint8),
    )  # fmt: skip


def _pairs(text: str, index: dict[str, int]) -> Iterable[tuple[int, float]]:
    for pair in text.split():
        name, _, weight = pair.rpartition(":")  # a name may contain colons
        yield index[name], float(weight)


def _bad(path: Path, n: int, line: str) -> FormatError:
    where = f"{path} line {n}"
    return FormatError("malformed line", where=where, found=repr(line[:60]), do=_DO)

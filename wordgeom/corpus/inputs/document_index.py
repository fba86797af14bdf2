"""The document index: id, time, file and line of each record that was read; `documents.tsv`."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from wordgeom.core.types import Int64

_BREAKS = re.compile(r"[\t\n\r]")


class Record(NamedTuple):
    """A record of a file: its id and time, "" unless requested, and its line number."""

    id: str
    time: str
    line: int


class Documents:
    """The records of a file in order, stored as encoded lines, the most compact form.

    id, time: of the file, for records without their own.
    """

    def __init__(self, content: bytes = b"", *, id: str = "", time: str = "") -> None:
        self._parts = [content] if content else []
        self._number = content.count(b"\n")
        self._id, self._time = _flat(id), _flat(time)

    def __len__(self) -> int:
        return self._number

    @property
    def content(self) -> bytes:
        """All records encoded, as the constructor takes them."""
        return b"".join(self._parts)

    def add(self, records: Iterable[Record]) -> None:
        """Add records; tabs and line ends in an id or a time become spaces."""
        key, time = self._id, self._time
        lines = [f"{r.line}\t{_flat(r.id) or key}\t{_flat(r.time) or time}\n" for r in records]
        if lines:
            self._number += len(lines)
            self._parts.append("".join(lines).encode("utf-8", "replace"))

    def add_lines(self, lines: Int64) -> None:
        """Add documents without their own id and time, by their line numbers."""
        if len(lines):
            self._number += len(lines)
            end = f"\t{self._id}\t{self._time}\n"
            text = end.join(map(str, lines.tolist())) + end
            self._parts.append(text.encode("utf-8", "replace"))

    def repeat(self, times: Int64) -> None:
        """Repeat each record so many `times` (n), in place."""
        rows = self.content.split(b"\n")[:-1]
        pairs = zip(rows, times.tolist(), strict=True)
        self._parts = [b"".join((row + b"\n") * number for row, number in pairs)]
        self._number = int(times.sum())

    def lines(self) -> Int64:
        """Return the line number of each record."""
        rows = (row for part in self._parts for row in part.split(b"\n")[:-1])
        return np.fromiter((int(row[: row.index(b"\t")]) for row in rows), np.int64, len(self))

    def __iter__(self) -> Iterator[Record]:
        for part in self._parts:
            for row in part.decode("utf-8").split("\n")[:-1]:
                line, record, time = row.split("\t")
                yield Record(record, time, int(line))


def documents_bytes(files: Iterable[Documents]) -> bytes:
    """Return the content of `documents.tsv`: file (from 1) TAB line TAB id TAB time."""
    return b"".join(_numbered(k, d.content) for k, d in enumerate(files, 1))


def distinct_documents(content: bytes) -> bytes:
    """Return `documents.tsv` with each document once, however many passages it has."""
    return b"".join(row for row, _ in groupby(io.BytesIO(content)))


def _numbered(number: int, content: bytes) -> bytes:
    """Prefix each record with the number of its file."""
    if not content:
        return b""
    return b"%d\t%b\n" % (number, content[:-1].replace(b"\n", b"\n%d\t" % number))


def _flat(text: str) -> str:
    return _BREAKS.sub(" ", text)

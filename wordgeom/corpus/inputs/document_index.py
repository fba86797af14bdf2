"""Which record is which document: ids, times and line numbers of what was read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from wordgeom.core.types import Int64

_BREAKS = re.compile(r"[\t\n\r]")
_NOTHING = "\t\t\n"  # after the line of a document without id and time


class Record(NamedTuple):
    """A record of a file: its id and time, "" where they were not asked for, and its line."""

    id: str
    time: str
    line: int


class Documents:
    """Records in the order of their file, as the bytes that they become: nothing takes less."""

    def __init__(self, content: bytes = b"") -> None:
        self._parts = [content] if content else []
        self._number = content.count(b"\n")

    def __len__(self) -> int:
        return self._number

    @property
    def content(self) -> bytes:
        """All records: what Documents(content) makes anew."""
        return b"".join(self._parts)

    def add(self, records: Iterable[Record]) -> None:
        """Add records; tabs and line ends in an id or a time become blanks."""
        lines = [f"{r.line}\t{_flat(r.id)}\t{_flat(r.time)}\n" for r in records]
        if lines:
            self._number += len(lines)
            self._parts.append("".join(lines).encode("utf-8", "replace"))

    def add_lines(self, lines: Int64) -> None:
        """Add documents that have lines alone."""
        if len(lines):
            self._number += len(lines)
            self._parts.append((_NOTHING.join(map(str, lines.tolist())) + _NOTHING).encode("ascii"))

    def lines(self) -> Int64:
        """Return the line of each record."""
        rows = (row for part in self._parts for row in part.split(b"\n")[:-1])
        return np.fromiter((int(row[: row.index(b"\t")]) for row in rows), np.int64, len(self))

    def __iter__(self) -> Iterator[Record]:
        for row in self.content.decode("utf-8").split("\n")[:-1]:
            line, record, time = row.split("\t")
            yield Record(record, time, int(line))


def documents_bytes(files: Iterable[Documents]) -> bytes:
    """Return the content of `documents.tsv`: file TAB line TAB id TAB time, files from 1."""
    return b"".join(_of_file(k, d.content) for k, d in enumerate(files, 1))


def _of_file(number: int, content: bytes) -> bytes:
    """Return records with the number of their file before each."""
    if not content:
        return b""
    return b"%d\t%b\n" % (number, content[:-1].replace(b"\n", b"\n%d\t" % number))


def _flat(text: str) -> str:
    return _BREAKS.sub(" ", text)

"""Which record is which document: ids, times and line numbers of what was read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_BREAKS = re.compile(r"[\t\n\r]")


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

    def lines(self) -> Iterator[bytes]:
        """Yield `line TAB id TAB time` of each record, with its line end."""
        for part in self._parts:
            yield from part.splitlines(keepends=True)

    def __iter__(self) -> Iterator[Record]:
        for row in self.lines():
            line, record, time = row.decode("utf-8").removesuffix("\n").split("\t")
            yield Record(record, time, int(line))


def documents_bytes(files: Iterable[Documents]) -> bytes:
    """Return the content of `documents.tsv`: file TAB line TAB id TAB time, files from 1."""
    return b"".join(b"%d\t%b" % (k, row) for k, d in enumerate(files, 1) for row in d.lines())


def _flat(text: str) -> str:
    return _BREAKS.sub(" ", text)

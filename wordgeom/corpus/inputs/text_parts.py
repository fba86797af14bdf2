"""A text of several files in parts of equal size, each cut at a separator.

Where a part ends depends only on the bytes at its nominal end. Whoever reads one part and whoever
reads the next one therefore agree, without reading anything else.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from wordgeom.corpus.inputs.part_digests import NOTHING
from wordgeom.corpus.inputs.readers import Source, file_stamp, open_input

_STEP = 1 << 16  # bytes searched at once
_SAMPLES, _SAMPLE = 64, 1 << 12  # stretches of the text that identify it, and their bytes


class Place(NamedTuple):
    """A byte of a text: the index of its file and the offset in it. The text ends in no file."""

    file: int
    offset: int


@dataclass(frozen=True)
class Text:
    """Files that are read one after the other; separators: bytes that end a token."""

    names: Sequence[str]
    sizes: Sequence[int]
    separators: bytes

    @classmethod
    def of(cls, names: Sequence[str], separators: bytes) -> Text:
        """Return the text in these files; raises MissingInputError."""
        return cls(names, [file_stamp(name)["size"] for name in names], separators)

    @property
    def length(self) -> int:
        """The bytes of all files."""
        return sum(self.sizes)

    def cut(self, position: int) -> Place:
        """Return the first place from a byte on, counted over all files, that cuts no token."""
        at = self._place(position)
        if at.offset == 0:
            return at
        offset = self.next_cut(at.file, at.offset)
        return Place(at.file, offset) if offset < self.sizes[at.file] else Place(at.file + 1, 0)

    def next_cut(self, file: int, offset: int) -> int:
        """Return the first offset from `offset` on that follows a separator, or ends the file."""
        if offset == 0:
            return 0
        separator = re.compile(b"[%b]" % re.escape(self.separators))
        with open_input(self.names[file]) as handle:
            handle.seek(offset - 1)
            begin = offset - 1
            while chunk := handle.read(_STEP):
                found = separator.search(chunk)
                if found is not None:
                    return begin + found.end()
                begin += len(chunk)
        return self.sizes[file]

    def byte_before(self, place: Place) -> bytes:
        """Return the byte before a place in a file; nothing before the first."""
        if place.offset == 0:
            return b""
        with open_input(self.names[place.file]) as handle:
            handle.seek(place.offset - 1)
            return handle.read(1)

    def fingerprint(self) -> str:
        """Return a digest of the sizes of the files and of evenly spaced samples of the text."""
        digest = hashlib.sha256(repr(list(self.sizes)).encode())
        for k in range(_SAMPLES):
            place = self._place(self.length * k // _SAMPLES)
            if place.file == len(self.names):
                break
            with open_input(self.names[place.file]) as handle:
                handle.seek(place.offset)
                digest.update(handle.read(_SAMPLE))
        return digest.hexdigest()

    def between(self, span: tuple[int, int]) -> TextRange:
        """Return the range from one byte, counted over all files, to another."""
        return TextRange(self, self.cut(span[0]), self.cut(span[1]))

    def sources(self, begin: Place, end: Place) -> list[Source]:
        """Return the files in [begin:end), with the span to read of the first and of the last."""
        stops = [*self.sizes[begin.file : end.file], *([end.offset] if end.offset else [])]
        made = []
        for file, stop in enumerate(stops, begin.file):
            source = Source(self.names[file])
            start = begin.offset if file == begin.file else 0
            if (start, stop) != (0, self.sizes[file]):
                source.span = (start, stop)
            made.append(source)
        return made

    def _place(self, position: int) -> Place:
        ends = list(accumulate(self.sizes))
        file = bisect_right(ends, position)
        before = 0 if file == 0 else ends[file - 1]
        return Place(file, position - before if file < len(ends) else 0)


@dataclass(frozen=True)
class TextRange:
    """The bytes [begin:end) of a text."""

    text: Text
    begin: Place
    end: Place

    def sources(self) -> list[Source]:
        """Return what is to be read."""
        return self.text.sources(self.begin, self.end)

    def every_source(self, read: Sequence[Source]) -> list[Source]:
        """Return all files of the text: those that were read for the range, and the others."""
        text, first = self.text, self.begin.file
        made = [Source(name, NOTHING, size, stamp=file_stamp(name))
                for name, size in zip(text.names, text.sizes, strict=True)]  # fmt: skip
        made[first : first + len(read)] = read
        return made

    def facts(self) -> dict[str, object]:
        """Return what `merge` compares of all ranges of a text."""
        return {"begin": list(self.begin), "end": list(self.end), "text": self.text.fingerprint()}

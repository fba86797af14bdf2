"""Dated speeches as numbers of words: reading, shuffling dates, and writing."""

from __future__ import annotations

import gzip
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from wordgeom.core.errors import FormatError, MissingInputError
from wordgeom.core.types import Float64, Int32, Int64, offsets

STRATA = 20  # of length
PASSAGE = 10  # tokens
_WORD = re.compile(r"[^\W\d_]+")
_COLUMNS = 4  # year, session, country, speech


@dataclass(frozen=True, eq=False)
class Speeches:
    """n speeches: years (n); tokens (N), rows of `words`, those of speech i from starts[i]."""

    years: Int64
    tokens: Int32
    starts: Int64
    words: list[str]

    @property
    def lengths(self) -> Int64:
        """The number of tokens (n)."""
        return np.diff(self.starts)

    @cached_property
    def of(self) -> Int64:
        """The speech (N) of each token."""
        return np.repeat(np.arange(len(self.years)), self.lengths)

    @property
    def times(self) -> Float64:
        """The years (n), moved and scaled to 0 … 1."""
        first, last = self.years.min(), self.years.max()
        return np.asarray((self.years - first) / max(last - first, 1))

    def document_frequencies(self) -> Int64:
        """Return the number of speeches (V) that contain each word."""
        pairs = np.unique(self.of * len(self.words) + self.tokens)
        return np.bincount(pairs % len(self.words), minlength=len(self.words))

    def select(self, rows: Int64) -> Speeches:
        """Return some speeches."""
        lengths = self.lengths[rows]
        starts = offsets(lengths)
        places = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], lengths)
        return Speeches(self.years[rows], self.tokens[places], starts, self.words)

    def write(self, path: Path) -> None:
        """Write lines `year TAB number TAB text`."""
        words = np.array(self.words, object)
        with path.open("w", encoding="utf-8") as file:
            for row, year in enumerate(self.years.tolist()):
                text = " ".join(words[self.tokens[self.starts[row] : self.starts[row + 1]]])
                file.write(f"{year}\t{row}\t{text}\n")


def read_speeches(path: Path) -> Speeches:
    """Read lines `year TAB session TAB country TAB speech`, gzip or not.

    Raises FormatError, MissingInputError.
    """
    if not path.is_file():
        raise MissingInputError("no such file", where=path, do="check the path")
    numbers: dict[str, int] = {}
    years, parts = [], []
    try:
        for number, line in enumerate(_lines(path), 1):
            cells = line.rstrip("\n").split("\t", _COLUMNS - 1)
            if len(cells) < _COLUMNS or not cells[0].isdecimal():
                do = "pass lines of year, session, country and speech, separated by tabs"
                raise FormatError("no dated speech", where=f"{path}:{number}", do=do)
            found = _WORD.findall(unicodedata.normalize("NFC", cells[-1].lower()))
            years.append(int(cells[0]))
            parts.append(np.array([numbers.setdefault(w, len(numbers)) for w in found], np.int32))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise FormatError(f"unreadable: {error}", where=path, do="download it again") from None
    if not numbers:
        raise FormatError("no speech", where=path, do="check the file")
    starts = offsets(np.array([len(part) for part in parts]))
    return Speeches(np.array(years, np.int64), np.concatenate(parts), starts, list(numbers))


def _lines(path: Path) -> Iterator[str]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        yield from file


def within_strata(speeches: Speeches, rng: np.random.Generator) -> Speeches:
    """Return the speeches with years permuted within strata of length."""
    years = speeches.years.copy()
    for rows in np.array_split(np.argsort(speeches.lengths, kind="stable"), STRATA):
        years[rows] = years[rng.permutation(rows)]
    return replace(speeches, years=years)


def shuffled(speeches: Speeches, rng: np.random.Generator) -> Speeches:
    """Return the speeches with years permuted, and cut at a rate by year.

    Mean lengths of years are in the ratios of the real years. A stretch is kept that begins
    anywhere and goes on at the start of its speech, so that each word is kept with the same
    probability, and what a speech says does not depend on its year. Removing passages instead would
    join more strangers in years of short speeches: a change of usage in small windows.
    """
    distinct, codes = np.unique(speeches.years, return_inverse=True)
    means = np.bincount(codes, speeches.lengths) / np.bincount(codes)
    years = rng.permutation(speeches.years)
    rates = (means / means.max())[np.searchsorted(distinct, years)]
    lengths = speeches.lengths
    number = np.arange(len(speeches.tokens)) - np.repeat(speeches.starts[:-1], lengths)
    begin = rng.integers(0, np.maximum(lengths, 1))
    after = (number - begin[speeches.of]) % lengths[speeches.of]
    kept = after < np.rint(rates * lengths).astype(np.int64)[speeches.of]
    remaining = np.bincount(speeches.of[kept], minlength=len(years))
    return Speeches(years, speeches.tokens[kept], offsets(remaining), speeches.words)

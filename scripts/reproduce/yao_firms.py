"""The firms of §5.1: returns to a correlation matrix, names to words, words to vectors.

The paper joined each name into one token. Here a firm is known by the first word of its name,
which must be the first word of one firm only and in the vocabulary. Many first words are plain
English ("general", "best", "a"): their vectors are not the firm's. So there are two readings:
NAMES, the first words that name a firm and little else, and FIRST, all of them. NAMES, a
list in yao_names.txt, was chosen by reading the first words once, before any accuracy was seen.
"""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from wordgeom.core.errors import FormatError, InputError, MissingInputError
from wordgeom.core.types import Array, Float64
from wordgeom.vectors.keyed import Vectors

MISSING = 0.2  # a firm with a larger share of days without a return is left out (§5.2)
FIRST, NAMES = "first words", "names"
_NAMES = frozenset(Path(__file__).with_name("yao_names.txt").read_text(encoding="utf-8").split())


@dataclass(frozen=True, eq=False)
class Firms:
    """n firms that have enough returns.

    words: first words; sectors (n) int64, numbers in `labels`; correlations (n × n) float64.
    """

    tickers: list[str]
    words: list[str]
    sectors: Array
    labels: list[str]
    correlations: Float64
    notes: tuple[str, ...]


def read_firms(returns: str | Path, companies: str | Path) -> Firms:
    """Read the two files: date × ticker, and ticker, first_word, gics_sector.

    Missing returns are the mean over firms of that day. Raises MissingInputError, FormatError, and
    InputError where fewer than two firms are left.
    """
    tickers, table = _returns(returns)
    told = _companies(companies)
    shares = np.isnan(table).mean(axis=0)
    enough, named = shares <= MISSING, np.array([ticker in told for ticker in tickers])
    kept = np.flatnonzero(enough & named)
    if len(kept) < 2:
        raise InputError("fewer than two firms are left", where=returns, do=f"check {companies}")
    chosen = [told[tickers[k]] for k in kept]
    labels = sorted({row["gics_sector"] for row in chosen})
    sectors = np.array([labels.index(row["gics_sector"]) for row in chosen])
    filled = fill(table[:, kept])
    notes = (
        f"{len(kept)} firms over {len(table):,} days; {np.sum(~enough)} with more than "
        f"{MISSING:.0%} of their returns missing and {np.sum(~named)} without a sector left out",
        f"{np.isnan(table[:, kept]).mean():.1%} of the returns kept were missing and became the "
        "mean over firms of their day",
    )
    words = [row["first_word"] for row in chosen]
    names = [tickers[k] for k in kept]
    return Firms(names, words, sectors, labels, np.atleast_2d(np.corrcoef(filled.T)), notes)


def fill(table: Float64) -> Float64:
    """Return the table (days × firms) with each nan the mean of its day, 0 on a day of no firm."""
    known = ~np.isnan(table)
    totals, counts = np.where(known, table, 0).sum(axis=1), known.sum(axis=1)
    means = totals / np.maximum(counts, 1)
    return np.where(known, table, means[:, None])


def known(firms: Firms, vectors: Vectors, reading: str) -> Array:
    """Return which firms (n) bool have a vector: a first word of one firm only, and in use."""
    uses = Counter(firms.words)
    return np.array(
        [
            uses[word] == 1 and word in vectors.index and (reading == FIRST or word in _NAMES)
            for word in firms.words
        ]
    )


def anchors(firms: Firms, vectors: Vectors, chosen: Array) -> Float64:
    """Return the vectors (p × K) float64 of the chosen firms, (n) bool."""
    words: Sequence[str] = [firms.words[k] for k in np.flatnonzero(chosen)]
    return vectors.matrix[[vectors.index[word] for word in words]].astype(np.float64)


def _returns(path: str | Path) -> tuple[list[str], Float64]:
    """Return the tickers and the table (days × tickers), nan where there is no quote."""
    with _opened(path) as lines:
        rows = csv.reader(lines)
        tickers = next(rows, [])[1:]
        table = [row[1:] for row in rows if row]
    wrong = [number for number, row in enumerate(table, 2) if len(row) != len(tickers)]
    if not table or not tickers or wrong:
        found = f"line {wrong[0]} of another length" if wrong else "no row"
        raise FormatError("returns are date × ticker", where=path, found=found)
    try:
        numbers = np.array([[float(cell or "nan") for cell in row] for row in table])
    except ValueError as error:
        raise FormatError("returns are numbers", where=path, found=str(error)) from None
    return tickers, numbers


def _companies(path: str | Path) -> Mapping[str, dict[str, Any]]:
    with _opened(path) as lines:
        told = csv.DictReader(lines)
        wanted = {"ticker", "first_word", "gics_sector"}
        if not wanted <= set(told.fieldnames or ()):
            found = ", ".join(told.fieldnames or ()) or "nothing"
            raise FormatError("no " + ", ".join(sorted(wanted)), where=path, found=found)
        return {row["ticker"]: row for row in told}


@contextmanager
def _opened(path: str | Path) -> Iterator[TextIO]:
    """Open text, packed or not."""
    path = Path(path)
    if not path.is_file():
        raise MissingInputError("no such file", where=path, do="see data/README.md")
    way = gzip.open if path.suffix == ".gz" else open
    with way(path, "rt", encoding="utf-8-sig", newline="") as lines:
        yield lines

"""The firms of §5.1: their correlation matrix, names and vectors.

The paper joins each name into one token. Here a firm is known if the first word of its name is in
the vocabulary and begins the name of no other firm. Many first words are ordinary English
("general", "best", "a"), and their vectors do not represent the firm. There are therefore two
readings: NAMES, first words that mainly name a firm, and FIRST, all first words. NAMES, in
yao_names.txt, was chosen by reading the first words once, before any accuracy was known.
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

MISSING = 0.2  # firms with a larger share of missing returns are left out (§5.2)
FIRST, NAMES = "first words", "names"
_NAMES = frozenset(Path(__file__).with_name("yao_names.txt").read_text(encoding="utf-8").split())


@dataclass(frozen=True, eq=False)
class Firms:
    """n firms with enough returns.

    words: first words; sectors (n) int64: indices into `labels`; correlations (n × n) float64.
    """

    tickers: list[str]
    words: list[str]
    sectors: Array
    labels: list[str]
    correlations: Float64
    notes: tuple[str, ...]


def read_firms(returns: str | Path, companies: str | Path) -> Firms:
    """Read returns (date × ticker) and companies (ticker, first_word, gics_sector).

    Missing returns become the mean over firms of that day. Raises MissingInputError, FormatError,
    and InputError if fewer than two firms are left.
    """
    tickers, table = _returns(returns)
    known_companies = _companies(companies)
    shares = np.isnan(table).mean(axis=0)
    enough = shares <= MISSING
    named = np.array([ticker in known_companies for ticker in tickers])
    kept = np.flatnonzero(enough & named)
    if len(kept) < 2:
        raise InputError("fewer than two firms are left", where=returns, do=f"check {companies}")
    chosen = [known_companies[tickers[k]] for k in kept]
    labels = sorted({row["gics_sector"] for row in chosen})
    sectors = np.array([labels.index(row["gics_sector"]) for row in chosen])
    filled = fill(table[:, kept])
    notes = (
        f"{len(kept)} firms over {len(table):,} days; {np.sum(~enough)} with more than "
        f"{MISSING:.0%} of their returns missing and {np.sum(~named)} without a sector left out",
        f"{np.isnan(table[:, kept]).mean():.1%} of the remaining returns were missing and were "
        "replaced by the mean over firms of their day",
    )
    words = [row["first_word"] for row in chosen]
    names = [tickers[k] for k in kept]
    return Firms(names, words, sectors, labels, np.atleast_2d(np.corrcoef(filled.T)), notes)


def fill(table: Float64) -> Float64:
    """Return the table (days × firms) with nan replaced by the mean of the day, or by 0."""
    known = ~np.isnan(table)
    totals, counts = np.where(known, table, 0).sum(axis=1), known.sum(axis=1)
    means = totals / np.maximum(counts, 1)
    return np.where(known, table, means[:, None])


def known(firms: Firms, vectors: Vectors, reading: str) -> Array:
    """Return which firms (n) have a vector: a unique first word in the vocabulary."""
    uses = Counter(firms.words)
    return np.array(
        [
            uses[word] == 1 and word in vectors.index and (reading == FIRST or word in _NAMES)
            for word in firms.words
        ]
    )


def anchors(firms: Firms, vectors: Vectors, chosen: Array) -> Float64:
    """Return the vectors (p × K) float64 of the firms in `chosen`, (n) bool."""
    words: Sequence[str] = [firms.words[k] for k in np.flatnonzero(chosen)]
    return vectors.matrix[[vectors.index[word] for word in words]].astype(np.float64)


def _returns(path: str | Path) -> tuple[list[str], Float64]:
    """Return the tickers and the table (days × tickers), nan for missing quotes."""
    with _opened(path) as lines:
        rows = csv.reader(lines)
        tickers = next(rows, [])[1:]
        table = [row[1:] for row in rows if row]
    wrong = [number for number, row in enumerate(table, 2) if len(row) != len(tickers)]
    if not table or not tickers or wrong:
        found = f"line {wrong[0]} of another length" if wrong else "no row"
        raise FormatError("returns must be date × ticker", where=path, found=found)
    try:
        numbers = np.array([[float(cell or "nan") for cell in row] for row in table])
    except ValueError as error:
        raise FormatError("returns must be numbers", where=path, found=str(error)) from None
    return tickers, numbers


def _companies(path: str | Path) -> Mapping[str, dict[str, Any]]:
    with _opened(path) as lines:
        rows = csv.DictReader(lines)
        needed = {"ticker", "first_word", "gics_sector"}
        if not needed <= set(rows.fieldnames or ()):
            found = ", ".join(rows.fieldnames or ()) or "nothing"
            what = "needs the columns " + ", ".join(sorted(needed))
            raise FormatError(what, where=path, found=found)
        return {row["ticker"]: row for row in rows}


@contextmanager
def _opened(path: str | Path) -> Iterator[TextIO]:
    """Open a text file, compressed or not."""
    path = Path(path)
    if not path.is_file():
        raise MissingInputError("no such file", where=path, do="see data/README.md")
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as lines:
        yield lines

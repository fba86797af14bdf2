"""Table 3: how CPU time grows with the number of words and with the dimension.

The paper gives O(m³ + (n − m)K²) for Algorithm 1 with m = 4K, and O((nK² + m̃³) n_iter) for
PMI-eigs. The counts of the n most frequent words are cut out of the given counts.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import scipy.sparse as sparse
from khalife_rows import EIGS, GBU, Rows, available, train
from tables_report import Claim, conclude, judge, show

import wordgeom as wg
from wordgeom.core.errors import InputError

PARTS, MOST = (8, 4, 2, 1), 3.0  # divisors of V; the largest exponent of K
LINEAR = 1.15
LEAST = 8000  # words
_DIM = 100

Seconds = Mapping[tuple[str, int, int], float]  # row, n, K


def exponent(points: Sequence[tuple[int, float]]) -> float:
    """Return the slope of log seconds in log size between the smallest and the largest size."""
    (x, first), (y, last) = min(points), max(points)
    return math.log(last / first) / math.log(y / x)


def criteria(found: Seconds) -> list[Claim]:
    """Return the criteria of Table 3."""
    growth = []
    for row, of_n, bound in ((GBU, True, LINEAR), (GBU, False, MOST), (EIGS, False, MOST)):
        points = _points(found, row, of_n)
        if len(points) > 1:
            slope = exponent(points)
            case = f"{row}: exponent {slope:.2f} of {'n' if of_n else 'K'}"
            growth.append((case, slope <= bound))
    order = [
        (f"n = {n}, K = {K}", took < found[EIGS, n, K])
        for (row, n, K), took in found.items() if row == GBU and (EIGS, n, K) in found
    ]  # fmt: skip
    return [judge("Table 3, growth", growth), judge("Table 3, order", order)]


def run(rows: Rows, dims: Sequence[int]) -> None:
    """Print Table 3; raises InputError for fewer than LEAST words."""
    V = len(rows.words)
    if V < LEAST:
        raise InputError(f"Table 3 needs at least {LEAST:,} words", where=rows.counts, found=V)
    found: dict[tuple[str, int, int], float] = {}
    with tempfile.TemporaryDirectory(dir=rows.folder) as scratch:
        for n, counts in cut(rows, [V // part for part in PARTS], Path(scratch)):
            for row in available():
                found[row, n, _DIM] = train(counts, row, _DIM, rows.threads)[1].cpu
    for row in available():
        for K in dims:
            took = rows.time(row, K)
            if took is not None:
                found[row, V, K] = took.cpu
    _print(found, dims)


def cut(rows: Rows, sizes: Sequence[int], scratch: Path) -> Iterator[tuple[int, Path]]:
    """Yield the counts of the n most frequent words, for each n."""
    full = wg.open_matrix(rows.counts).to_scipy()
    for n in sizes:
        sparse.save_npz(scratch / "part.npz", sparse.csr_matrix(full[:n, :n]), compressed=False)
        names = scratch / "part.txt"
        names.write_text("\n".join(rows.words[:n]) + "\n", encoding="utf-8")
        wg.convert(scratch / "part.npz", scratch / f"{n}", words=names, kind="cooc")
        yield n, scratch / f"{n}"


def _points(found: Seconds, row: str, of_n: bool) -> list[tuple[int, float]]:
    largest = max(n for _, n, _ in found)
    if of_n:
        return [(n, took) for (name, n, K), took in found.items() if (name, K) == (row, _DIM)]
    return [(K, took) for (name, n, K), took in found.items() if (name, n) == (row, largest)]


def _print(found: Seconds, dims: Sequence[int]) -> None:
    sizes = sorted({n for _, n, _ in found})
    columns = [(n, _DIM) for n in sizes] + [(sizes[-1], K) for K in dims if K != _DIM]
    lines = []
    for row in dict.fromkeys(name for name, _, _ in found):
        cells = [f"{found[row, n, K]:.1f}" if (row, n, K) in found else "" for n, K in columns]
        slopes = [_points(found, row, of_n) for of_n in (True, False)]
        ends = [f"{exponent(points):.2f}" if len(points) > 1 else "" for points in slopes]
        lines.append([row, *cells, *ends])
    head = ["CPU seconds", *(f"n = {n:,}, K = {K}" for n, K in columns)]
    show("## Table 3: growth", [*head, "exponent of n", "exponent of K"], lines)
    conclude(criteria(found))

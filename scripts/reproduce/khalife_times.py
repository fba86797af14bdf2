"""Table 7: training time of each row. Counting is not included, as in the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from khalife_rows import DC, EIGS, GBU, PEERS, Rows
from tables_report import Claim, Timed, conclude, judge, show

# row: seconds at K = 100, 200, 300; with 120 s for G, and 30 s (GBU) or 90 s (DC) for the order
PUBLISHED: Mapping[str, tuple[int, int, int]] = {
    "glove": (4020, 7620, 9720), "fasttext": (1800, 2880, 3840), EIGS: (412, 836, 1088),
    DC: (348, 452, 618), GBU: (168, 188, 211),
}  # fmt: skip
DIMS = (100, 200, 300)

Found = Mapping[tuple[str, int], Timed]  # row, K


def criteria(found: Found) -> list[Claim]:
    """Return the criteria of Table 7."""
    order, half = [], []
    for K in sorted({K for _, K in found}):
        cpu = {row: took.cpu for (row, k), took in found.items() if k == K and took.cpu > 0}
        present = [row for row in (GBU, DC, EIGS) if row in cpu]
        pairs = [*pairwise(present), *((EIGS, row) for row in PEERS if {row, EIGS} <= set(cpu))]
        order += [(f"{low} < {high}, K = {K}", cpu[low] < cpu[high]) for low, high in pairs]
        if {GBU, EIGS} <= set(cpu):
            half.append((f"K = {K}", 2 * cpu[GBU] <= cpu[EIGS]))
    return [judge("Table 7, order", order), judge("Table 7, half", half)]


def run(rows: Rows, dims: Sequence[int]) -> None:
    """Print Table 7 with its criteria."""
    found = {}
    for K in dims:
        for name in rows.names(K):
            took = rows.time(name, K)
            if took is not None:
                found[name, K] = took
    lines = []
    for name in dict.fromkeys(name for name, _ in found):
        printed = dict(zip(DIMS, PUBLISHED.get(name, ()), strict=False))
        cells = []
        for K in dims:
            took = found.get((name, K))
            cells.append(_cell(took))
            cells.append(f"{printed[K]}" if K in printed else "")
        lines.append([name, *cells])
    head = ["CPU seconds (elapsed)", *(t for K in dims for t in (f"K = {K}", "paper, elapsed"))]
    show(f"## Table 7: training time, {rows.threads} threads", head, lines)
    conclude(criteria(found))


def _cell(took: Timed | None) -> str:
    if took is None:
        return ""
    cpu = f"{took.cpu:.1f} " if took.cpu > 0 else ""
    return f"{cpu}({took.elapsed:.1f})"

"""Figures 6 and 7: a fifth of the items matched, the others by local reconstruction."""

from __future__ import annotations

from collections.abc import Sequence

from saul_cells import MATCHED, PROJECTED, Cell, Cells
from saul_data import Study
from saul_matching import Grid, criteria, measures, panels
from saul_plots import draw
from tables_report import Claim, conclude, judge, show

DIMS = (16, 32, 64)
_SHOWN = ("Δ", "J", "recall")
_NEIGHBOURS = 4  # that reconstruct an item, for each dimension


def run(studies: Sequence[Study], whole: Grid, cells: Cells, dims: Sequence[int]) -> None:
    """Print Figures 6 and 7 as a table, and draw them; whole: results of Figures 3 and 4."""
    grid = {one.name: _row(one, cells, [d for d in DIMS if d in dims]) for one in studies}
    if not any(grid.values()):
        return
    rows = []
    for study in studies:
        for d, cell in grid[study.name].items():
            facts = cell.facts
            rows.append([study.name, f"{study.landmarks:,}", f"{d}", *measures(cell, _SHOWN),
                         f"{facts['extension_steps']}", f"{facts['stranded']}"])  # fmt: skip
    both = f"{MATCHED}/LLX", PROJECTED
    head = ["", "landmarks", "d", *(f"{name}: {what}" for what in _SHOWN for name in both), "steps",
            "stranded"]  # fmt: skip
    show("### Figures 6 and 7: TSM with landmarks, and SVD", head, rows)
    conclude([*criteria("Figure 6", "Figure 7", grid, DIMS), smaller(whole, grid)])
    draw(panels(grid), cells.folder / "figure-6-7.png", ticks=DIMS)


def _row(study: Study, cells: Cells, dims: Sequence[int]) -> dict[int, Cell]:
    """Return the results at the dimensions for which there are enough landmarks."""
    return {
        d: cells.cell(study.every, d, "landmarks", landmarks=study.landmarks,
                      landmark_choice="random")
        for d in dims if _NEIGHBOURS * d <= study.landmarks
    }  # fmt: skip


def smaller(whole: Grid, grid: Grid) -> Claim:
    """Return the criterion that landmarks cost a part of the lead in Δ."""
    cases = []
    for name, row in grid.items():
        for d, cell in row.items():
            leads = [one.projected["Δ"] - one.matched["Δ"] for one in (cell, whole[name][d])]
            case = f"{name}, d = {d}: {leads[0]:.3f} and {leads[1]:.3f}"
            cases.append((case, leads[0] < leads[1]))
    return judge("Figure 6, smaller", cases)

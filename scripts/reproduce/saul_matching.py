"""Figures 2, 3, 4 and 8, and the sum constraint: thresholded similarity matching beside SVD."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from saul_cells import MATCHED, PROJECTED, Cell, Cells
from saul_data import Study
from saul_plots import Panel, draw
from tables_report import Claim, conclude, judge, show

from wordgeom.evaluation.angles import count_angles
from wordgeom.evaluation.options import NearPairOptions
from wordgeom.plot import angles
from wordgeom.runtime.context import Context

FIRST, USUAL = 16, 32  # the lowest d of the criteria, and that of Figures 2, 5 and 8
CONSTRAINTS = ("off", "paper", "reversed")
PLAIN = "plain"
_ALONE = 0.05
_SHOWN = ("Δ", "J", "lengths", "recall")
_EARLY = 50  # updates
_ROUNDING = 1e-6  # of the objective, in float32
Grid = Mapping[str, Mapping[int, Cell]]  # study → d → result


def run(studies: Sequence[Study], whole: Grid, few: Grid, cells: Cells, context: Context) -> None:
    """Print the tables and draw the figures; whole, few: results of the larger and smaller sets."""
    _figure_2(studies, whole, cells.folder, context)
    dims = few[studies[0].name]
    _figures_3_and_4(whole, "")
    _figures_3_and_4(few, ", smaller sets")
    draw(panels(whole), cells.folder / "figure-3-4.png", ticks=[*whole[studies[0].name]])
    draw(panels(few), cells.folder / "figure-3-4-few.png", ticks=[*dims])
    if USUAL in dims:
        _figure_8(studies, few, cells)
    _constraints(studies, few, cells, [d for d in (FIRST, USUAL) if d in dims])


def _figures_3_and_4(grid: Grid, which: str) -> None:
    """Print the measures of TSM and SVD."""
    head = ["", "d", *(f"{name}: {what}" for what in _SHOWN for name in (MATCHED, PROJECTED))]
    rows = [[name, f"{d}", *measures(cell, _SHOWN)]
            for name, row in grid.items() for d, cell in row.items()]  # fmt: skip
    show(f"### Figures 3 and 4{which}: TSM and SVD", head, rows)
    dims = sorted({d for row in grid.values() for d in row if d >= FIRST})
    conclude(criteria(f"Figure 3{which}", f"Figure 4{which}", grid, dims))


def measures(cell: Cell, names: Sequence[str]) -> list[str]:
    """Return measures, each of TSM and of SVD."""
    return [f"{row[what]:.3f}" for what in names for row in (cell.matched, cell.projected)]


def criteria(delta: str, jaccard: str, grid: Grid, dims: Sequence[int]) -> list[Claim]:
    """Return the criteria that TSM is ahead of SVD on Δ and on J."""
    lower, higher = [], []
    for where, cell in _cells(grid, dims):
        ours, theirs = cell.matched, cell.projected
        lower.append((f"{where}: {ours['Δ']:.3f} and {theirs['Δ']:.3f}", ours["Δ"] < theirs["Δ"]))
        higher.append((f"{where}: {ours['J']:.3f} and {theirs['J']:.3f}", ours["J"] > theirs["J"]))
    return [judge(f"{delta}, Δ", lower), judge(f"{jaccard}, J", higher)]


def _cells(grid: Grid, dims: Sequence[int]) -> Iterator[tuple[str, Cell]]:
    for name, row in grid.items():
        for d in dims:
            if d in row:
                yield f"{name}, d = {d}", row[d]


def panels(grid: Grid) -> list[tuple[str, list[Panel]]]:
    """Return the panels of Δ and of J, by dimension."""
    return [
        (what, [Panel(name, {of: [(d, cell.rows[of][what]) for d, cell in row.items()]
                             for of in (MATCHED, PROJECTED)})
                for name, row in grid.items()])
        for what in ("Δ", "J")
    ]  # fmt: skip


def _figure_2(studies: Sequence[Study], grid: Grid, folder: Path, context: Context) -> None:
    """Print how many items τ leaves alone, and draw the angles."""
    rows, cases = [], []
    for study in studies:
        d = USUAL if USUAL in grid[study.name] else max(grid[study.name])
        cell = grid[study.name][d]
        facts, tau = cell.facts, cell.facts["tau"]
        share = facts["alone"] / facts["matched"]
        rows.append([study.name, f"{facts['matched']:,}", f"{tau:.4f}", f"{facts['sparsity']:.4f}",
                     f"{facts['alone']:,}", f"{facts['virtual_inputs']:,}"])  # fmt: skip
        cases.append((f"{study.name}: {share:.2%} alone", share <= _ALONE))
        found = count_angles(cell.path, study.chosen, NearPairOptions(tau=tau), context)
        out = folder / f"figure-2-{study.name}.png"
        angles.draw(found, (cell.path.name, study.chosen.name), out)
    head = ["", "items", "τ", "sparsity", "alone", "virtual inputs"]
    show("### Figure 2: thresholds", head, rows)
    conclude([judge("Figure 2, near", cases)])


def _figure_8(studies: Sequence[Study], few: Grid, cells: Cells) -> None:
    """Print and draw the objective with and without momentum."""
    rows, drawn, curves = [], [], {}
    for study in studies:
        own = {
            "momentum .9": few[study.name][USUAL],
            "no momentum": cells.cell(study.few, USUAL, PLAIN, momentum=0.0),
        }
        curves[study.name] = {name: course(cell) for name, cell in own.items()}
        rows += [[f"{study.name}, {name}", *(f"{value:.2g}" for value in _at(cell)),
                  f"{cell.matched['Δ']:.3f}", f"{cell.matched['J']:.3f}"]
                 for name, cell in own.items()]  # fmt: skip
        drawn.append(Panel(study.name, curves[study.name]))
    head = ["", "after 1 update", f"{_EARLY}", "all", "Δ", "J"]
    show(f"### Figure 8: objective relative to its start, d = {USUAL}, smaller sets", head, rows)
    conclude(criteria_8(curves))
    draw([("objective", drawn)], cells.folder / "figure-8.png")


def course(cell: Cell) -> list[tuple[float, float]]:
    """Return updates and the objective relative to its start."""
    losses = cell.facts["losses"]
    return [(k, loss / losses[0])
            for k, loss in zip(cell.facts["loss_updates"], losses, strict=True)]  # fmt: skip


def _at(cell: Cell) -> list[float]:
    """Return the objective after the first update, some of them, and all."""
    points = course(cell)
    early = min(points, key=lambda point: abs(point[0] - _EARLY))
    return [points[1][1], early[1], points[-1][1]]


def criteria_8(curves: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]) -> list[Claim]:
    """Return the criteria of Figure 8; curves: study → with and without momentum."""
    descent, lower, monotone = [], [], []
    for name, own in curves.items():
        ours, plain = ([value for _, value in points] for points in own.values())
        descent.append((f"{name}: {ours[-1]:.2g} of the start", ours[-1] < 1.0))
        lower.append((f"{name}: {ours[-1]:.2g} and {plain[-1]:.2g}", ours[-1] < plain[-1]))
        rises = [b - a for a, b in pairwise(plain[1:])]
        most = max(rises, default=0.0)
        monotone.append((f"{name}: rises by {most:.2g}", most <= _ROUNDING))
    return [judge("Figure 8, descent", descent), judge("Figure 8, momentum", lower),
            judge("Figure 8, monotone", monotone)]  # fmt: skip


def _constraints(studies: Sequence[Study], few: Grid, cells: Cells, dims: Sequence[int]) -> None:
    """Print the sum constraints."""
    found: dict[str, list[Cell]] = {name: [] for name in CONSTRAINTS}
    rows = []
    for study in studies:
        for d in dims:
            for name in CONSTRAINTS:
                cell = (few[study.name][d] if name == "off" else
                        cells.cell(study.few, d, name, sum_constraint=name))  # fmt: skip
                found[name].append(cell)
                ours = cell.matched
                rows.append([f"{study.name}, d = {d}", name, f"{ours['Δ']:.4f}", f"{ours['J']:.4f}",
                             f"{ours['lengths']:.3f}", f"{cell.facts['objective']:.2g}",
                             f"{cell.facts['shifted_updates']}"])  # fmt: skip
    head = ["", "constraint", "Δ", "J", "lengths", "objective", "updates with δ ≠ 0"]
    show("### The sum constraint, on the smaller sets", head, rows)
    conclude([constraint_criterion(found)])


def constraint_criterion(found: Mapping[str, Sequence[Cell]]) -> Claim:
    """Return the criterion on the default; found: constraint → results, in one order."""
    default, *others = CONSTRAINTS
    cases = []
    for name in others:
        pairs = list(zip(found[default], found[name], strict=True))
        better = sum(b.matched["Δ"] < a.matched["Δ"] and b.matched["J"] > a.matched["J"]
                     for a, b in pairs)  # fmt: skip
        if pairs:
            case = f"`{name}` is better by both in {better} of {len(pairs)} cells"
            cases.append((case, better < len(pairs)))
    return judge("Constraint, default", cases)

"""Tables 2.4 and 2.5, Figures 2.1 and 2.2: the dimension and the weighting of documents."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from carrington_24_plots import lines
from carrington_24_spaces import Judges, Lsa
from tables_report import Claim, conclude, judge, show

from wordgeom.vectors.keyed import Vectors

DIMS = (10, 50, 100, 200, 300, 500)
WEIGHTS = {"plain": "raw", "row-normalized": "rows", "PPMI": "ppmi"}  # the thesis's name → --weight
POWERS = (0.0, 0.5, 1.0)
WORDSIM = "WordSim-353"
PEARSON, SPEARMAN = "Pearson", "Spearman"
# Measure → row → values at DIMS; nan where the thesis has none.
_NAN = float("nan")
PUBLISHED: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    PEARSON: {
        "SGNS": (.451, _NAN, .648, _NAN, .641, .641), "plain": (.306, .446, .480, .489, .477, .470),
        "row-normalized": (.379, .517, .541, .507, .507, .485),
        "PPMI": (.464, .617, .635, .627, .622, .605),
    },
    SPEARMAN: {
        "SGNS": (.443, _NAN, .663, _NAN, .659, .660), "plain": (.317, .439, .492, .507, .507, .535),
        "row-normalized": (.392, .533, .557, .532, .535, .547),
        "PPMI": (.466, .638, .687, .704, .711, .701),
    },
}  # fmt: skip
Found = dict[str, dict[int, dict[str, tuple[float, float]]]]  # row → r → set → the two


def run(
    spaces: Mapping[str, Lsa], sgns: Mapping[int, Vectors], judges: Judges, folder: Path
) -> None:
    """Print Tables 2.4 and 2.5 with their criteria, and draw Figures 2.1 and 2.2."""
    found: Found = {
        f"{name}, α = {power:g}": {
            r: judges.correlations(space.space(r, power)) for r in DIMS if r <= len(space.values)
        }
        for name, space in spaces.items() for power in POWERS
    }  # fmt: skip
    found["SGNS"] = {r: judges.correlations(space) for r, space in sorted(sgns.items())}
    for column, measure in enumerate((PEARSON, SPEARMAN)):
        rows = [[name, *(_cell(of, r, column) for r in DIMS)] for name, of in found.items()]
        rows += [[f"thesis: {name}", *(_figure(value) for value in values)]
                 for name, values in PUBLISHED[measure].items()]  # fmt: skip
        number = "2.4" if measure == PEARSON else "2.5"
        show(f"### Table {number}: {WORDSIM}, {measure}", ["", *(f"r = {r}" for r in DIMS)], rows)
    conclude([weights(found), dimension(found), sgns_below(found)])
    draw(found, folder)


def weights(found: Found) -> Claim:
    """Return whether plain < row-normalised < PPMI at every r and by both measures."""
    cases = [
        (f"{low} < {high}, r = {r}, {measure}",
         found[f"{low}, α = 0"][r][WORDSIM][k] < found[f"{high}, α = 0"][r][WORDSIM][k])
        for low, high in pairwise(WEIGHTS) for r in found[f"{low}, α = 0"]
        for k, measure in enumerate((PEARSON, SPEARMAN))
    ]  # fmt: skip
    return judge("Tables 2.4 and 2.5, weights", cases)


def dimension(found: Found) -> Claim:
    """Return whether Pearson rises from r = 10 to 100, and by less than .05 from there."""
    cases = []
    for name in WEIGHTS:
        at = {r: scores[WORDSIM][0] for r, scores in found[f"{name}, α = 0"].items()}
        cases.append((f"{name}, r = 10 to 100", at[10] < at[100]))
        later = max(value for r, value in at.items() if r > 100)
        cases.append((f"{name}, r above 100", later < at[100] + 0.05))
    return judge("Tables 2.4 and 2.5, dimension", cases)


def sgns_below(found: Found) -> Claim:
    """Return whether PPMI's best Spearman exceeds that of skip-gram."""
    ours = max(scores[WORDSIM][1] for scores in found["PPMI, α = 0"].values())
    theirs = [scores[WORDSIM][1] for scores in found["SGNS"].values()]
    cases = [(f"PPMI {ours:.3f} > SGNS {max(theirs):.3f}", ours > max(theirs))] if theirs else []
    return judge("Table 2.5, PPMI above skip-gram", cases)


def draw(found: Found, folder: Path) -> None:
    """Draw Figures 2.1 and 2.2."""
    panels = {name: {measure: [(r, scores[WORDSIM][k]) for r, scores in found[row].items()]
                     for k, measure in enumerate((PEARSON, SPEARMAN))}
              for name, row in (("LSA", "plain, α = 0"), ("SGNS", "SGNS"))
              if found[row]}  # fmt: skip
    lines(panels, "dimension r", f"correlation, {WORDSIM}", folder / "figure-2.1.png")
    if found["SGNS"]:
        sets = next(iter(found["SGNS"].values()))
        curves = {name: [(r, scores[name][0]) for r, scores in found["SGNS"].items()]
                  for name in sets}  # fmt: skip
        lines({"SGNS": curves}, "dimension r", "Pearson correlation", folder / "figure-2.2.png")


def _cell(of: Mapping[int, Mapping[str, tuple[float, float]]], r: int, column: int) -> str:
    return f"{of[r][WORDSIM][column]:.3f}" if r in of else ""


def _figure(value: float) -> str:
    return "" if value != value else f"{value:.3f}"

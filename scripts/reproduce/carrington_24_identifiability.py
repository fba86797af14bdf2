"""Tables 3.2 to 3.7, Figures 3.4 to 3.6: spaces that fit equally, and score differently."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from carrington_24_plots import lines
from carrington_24_spaces import PEARSON, SPEARMAN, Judges, Lsa, named
from scipy.optimize import minimize_scalar
from tables_report import Claim, conclude, judge, show

from wordgeom.core.types import Float64
from wordgeom.transforms.fit.maps import Triangular
from wordgeom.transforms.fit.pairs import read_pair_file
from wordgeom.transforms.space import Space
from wordgeom.vectors.keyed import Vectors

Scores = Mapping[str, tuple[float, float]]
_FROM, _TO, _GRID = -4.0, 4.0, 81  # of α
_DRAWN = np.linspace(-2.0, 2.0, 41)
_SEED = 1


def orthonormal(space: Vectors) -> Vectors:
    """Return vectors whose columns are orthonormal: Q of V = QR."""
    return named(space.words, np.linalg.qr(space.matrix.astype(np.float64))[0])


def table_3_2(sgns: Mapping[int, Vectors], judges: Judges) -> None:
    """Print Table 3.2: skip-gram before and after B Bᵀ = I."""
    made = {r: (judges.correlations(space), judges.correlations(orthonormal(space)))
            for r, space in sorted(sgns.items())}  # fmt: skip
    head = ["Pearson", *(f"r = {r}, {what}" for r in made for what in ("original", "orthonormal"))]
    rows = [[name, *(f"{side[name][0]:.3f}" for pair in made.values() for side in pair)]
            for name in judges.sets]  # fmt: skip
    show("### Table 3.2: orthonormal columns, skip-gram", head, rows)
    cases = []
    for r, (before, after) in made.items():
        risen = sum(after[name][0] > before[name][0] for name in judges.sets)
        cases.append((f"{risen} of {len(judges.sets)} rise, r = {r}", 2 * risen > len(judges.sets)))
    conclude([judge("Table 3.2, most sets rise", cases)])


def table_3_3(space: Lsa, r: int, judges: Judges, folder: Path) -> None:
    """Print Table 3.3, the best power of the singular values, and draw Figures 3.4 and 3.5."""
    grid = np.linspace(_FROM, _TO, _GRID)
    curves = [judges.correlations(space.space(r, alpha)) for alpha in grid]
    best = {
        name: [_optimum(grid, [one[name][k] for one in curves], _score(space, r, judges, name, k))
               for k in (0, 1)]
        for name in judges.sets
    }  # fmt: skip
    head = ["", "Pearson: α", "g", "Spearman: α", "g"]
    rows = [[name, *(f"{value:.3f}" for pair in found for value in pair)]
            for name, found in best.items()]  # fmt: skip
    show(f"### Table 3.3: the best α of Φ^α Vᵀ, LSA, r = {r}", head, rows)
    alphas = [found[k][0] for found in best.values() for k in (0, 1)]
    spread = max(alphas) - min(alphas)
    conclude(
        [judge("Table 3.3, no α is best for all sets", [(f"range {spread:.2f}", spread >= 0.5)])]
    )
    for number, name in (("3.4", "WordSim-353"), ("3.5", "SimLex-999")):
        drawn = [(alpha, judges.correlations(space.space(r, alpha))[name]) for alpha in _DRAWN]
        panel = {measure.name.title(): [(alpha, value[k]) for alpha, value in drawn]
                 for k, measure in enumerate((PEARSON, SPEARMAN))}  # fmt: skip
        lines({name: panel}, "α", "correlation", folder / f"figure-{number}.png")


def _score(space: Lsa, r: int, judges: Judges, name: str, k: int) -> Callable[[float], float]:
    task, measure = judges.sets[name], (PEARSON, SPEARMAN)[k]
    return lambda alpha: task.answer(space.space(r, alpha), judges.context).score(measure)


def _optimum(
    grid: Float64, values: list[float], score: Callable[[float], float]
) -> tuple[float, float]:
    """Return the best α and its score: the best of a grid, refined between its neighbours."""
    at = int(np.argmax(values))
    bounds = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    made = minimize_scalar(lambda alpha: -score(alpha), bounds=bounds, method="bounded")
    return (float(made.x), -float(made.fun)) if -made.fun > values[at] else (grid[at], values[at])


def best_maps(title: str, space: Vectors, judges: Judges) -> dict[str, Scores]:
    """Print the best scores over upper triangular maps; return the scores of each set's map.

    The maps maximise Pearson's correlation without a penalty, by L-BFGS from I; the column of
    Spearman's has the score of the same map.
    """
    before = judges.correlations(space)
    after = {name: judges.correlations(_fitted(space, judges, name)) for name in judges.sets}
    head = ["", "Pearson: original", "best", "Spearman: original", "at Pearson's best"]
    rows = [[name, *(f"{of[name][k]:.3f}" for k in (0, 1) for of in (before, after[name]))]
            for name in judges.sets]  # fmt: skip
    show(title, head, rows)
    cases = [(name, after[name][name][0] > before[name][0] + 0.1) for name in judges.sets]
    conclude([judge(f"{title.split(':')[0].lstrip('# ')}, own set rises by .1", cases)])
    return {"original": before, **after}


def _fitted(space: Vectors, judges: Judges, name: str) -> Vectors:
    """Return a space after the upper triangular map that fits a set best."""
    held = Space.of(space, judges.context.pool)
    judged = read_pair_file(judges.files[name], space).judged(held)
    family = Triangular(held.columns)
    C = family.matrix(family.fit(judged, 0.0, family.start(judged)))
    return named(space.words, space.matrix.astype(np.float64) @ C.T)


def table_3_5(scores: Mapping[str, Scores], judges: Judges) -> None:
    """Print Table 3.5: the scores of spaces fitted to one set, on the others."""
    head = ["fitted to", *judges.sets]
    rows = [[fitted, *(_marked(of, scores["original"], name) for name in judges.sets)]
            for fitted, of in scores.items()]  # fmt: skip
    show("### Table 3.5: Pearson on other sets (bold: above the original), LSA", head, rows)
    moved = [of[name][0] - scores["original"][name][0]
             for fitted, of in scores.items() if fitted != "original"
             for name in judges.sets if name != fitted]  # fmt: skip
    up, down = sum(move > 0 for move in moved), sum(move < 0 for move in moved)
    case = f"{up} of {len(moved)} rise, {down} fall"
    conclude([judge("Table 3.5, other sets may rise or fall", [(case, up > 0 and down > 0)])])


def _marked(of: Scores, original: Scores, name: str) -> str:
    value = of[name][0]
    return f"**{value:.3f}**" if value > original[name][0] else f"{value:.3f}"


def figure_3_6(space: Lsa, r: int, judges: Judges, folder: Path) -> Claim:
    """Draw Figure 3.6: powers of four diagonal matrices on Φ Vᵀ and on Vᵀ; return its criterion."""
    rng = np.random.default_rng(_SEED)
    diagonals = {"Φ": space.values[:r], "i": np.arange(1.0, r + 1), "U(0, 1)": rng.random(r),
                 "|N(0, 1)|": np.abs(rng.standard_normal(r))}  # fmt: skip

    def wordsim(scale: Float64) -> float:
        return judges.correlations(space.scaled(r, scale))["WordSim-353"][0]

    panels, cases = {}, []
    for start, base in (("Φ Vᵀ", space.values[:r]), ("Vᵀ", np.ones(r))):
        panel = {f"Λ = {name}": [(alpha, wordsim(base * scale**alpha)) for alpha in _DRAWN]
                 for name, scale in diagonals.items()}  # fmt: skip
        best = {name: max(value for _, value in curve) for name, curve in panel.items()}
        others = max(value for name, value in best.items() if name != "Λ = Φ")
        cases.append(
            (f"{start}: Φ {best['Λ = Φ']:.3f}, others {others:.3f}", best["Λ = Φ"] < others + 0.05)
        )
        panels[start] = panel
    lines(panels, "α", "Pearson, WordSim-353", folder / "figure-3.6.png")
    return judge("Figure 3.6, Φ hardly above other diagonals", cases)

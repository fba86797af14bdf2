"""Tables 3.9 and 3.10, Figures 3.7 and 3.8: analogies after diagonal and triangular maps."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
from carrington_24_plots import lines, strips
from carrington_24_spaces import Judges, Lsa, named
from tables_report import Claim, conclude, judge, show

from wordgeom.core.types import Float64
from wordgeom.vectors.keyed import Vectors

_SEED = 1
_ALPHAS = np.linspace(-2.0, 2.0, 21)
PUBLISHED = {"3.9": (0.736, 0.692, 0.247), "3.10": (0.218, 0.189, 0.073)}


def random_maps(
    number: str, space: Vectors, judges: Judges, runs: int, folder: Path | None
) -> None:
    """Print Table 3.9 or 3.10: accuracy after random maps of UT⁺; draw Figure 3.7 to `folder`."""
    rng = np.random.default_rng(_SEED)
    r = space.matrix.shape[1]
    first = judges.accuracy(space)
    diagonal = [_sections(_mapped(space, np.diag(rng.random(r))), judges) for _ in range(runs)]
    triangular = [judges.accuracy(_mapped(space, np.triu(rng.random((r, r))))) for _ in range(runs)]
    whole = [one[""] for one in diagonal]
    published = PUBLISHED[number]
    rows = [["original", "", f"{first:.3f}", "", f"{published[0]:.3f}"],
            ["R diagonal", *_three(whole), f"{published[1]:.3f}"],
            ["R upper triangular", *_three(triangular), f"{published[2]:.3f}"]]  # fmt: skip
    head = [f"{runs} draws", "minimum", "mean", "maximum", "thesis, mean"]
    show(f"### Table {number}: analogies after random R ∈ UT⁺(r)", head, rows)
    order = first > max(whole) > max(triangular)
    conclude([judge(f"Table {number}, original > diagonal > triangular", [("all draws", order)])])
    if folder is not None:
        original = _sections(space, judges)
        del original[""]
        groups = {
            name: (value, [one[name] for one in diagonal]) for name, value in original.items()
        }
        strips(groups, "accuracy", folder / "figure-3.7.png")


def figure_3_8(space: Lsa, r: int, judges: Judges, folder: Path) -> Claim:
    """Draw Figure 3.8, analogies by the power of Φ; return its criterion."""
    curve = [(float(a), judges.accuracy(space.space(r, a))) for a in _ALPHAS]
    lines({"LSA": {"accuracy": curve}}, "α", "Google analogies", folder / "figure-3.8.png")
    alpha, best = max(curve, key=lambda point: point[1])
    steps = [abs(b - a) for (_, a), (_, b) in pairwise(curve)]
    cases = [(f"best α {alpha:.1f} (thesis: 1.2) above 0, {best:.3f}", alpha > 0),
             (f"largest step {max(steps):.3f}, smooth", max(steps) < 0.5 * best)]  # fmt: skip
    return judge("Figure 3.8, a smooth function with its best α above 0", cases)


def _mapped(space: Vectors, R: Float64) -> Vectors:
    return named(space.words, space.matrix.astype(np.float64) @ R.T)


def _sections(space: Vectors, judges: Judges) -> dict[str, float]:
    """Return the accuracy by section, and over all questions as ''."""
    answers = judges.answers(space)
    measure = answers.measures[0]
    found = {name: answers.score(measure, at) for name, at in answers.groups.items()}
    return {**found, "": answers.score(measure)}


def _three(values: list[float]) -> list[str]:
    return [f"{value:.3f}" for value in (min(values), sum(values) / len(values), max(values))]

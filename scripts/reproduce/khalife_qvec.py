"""Table 5: QVEC, the agreement of vectors with linguistic features (`wordgeom eval`).

What the paper calls QVEC is 100 times the mean canonical correlation
(`wordgeom/evaluation/qvec_measures.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from khalife_rows import DC, EIGS, GBU, RANDOM, Rows
from tables_report import Claim, conclude, judge, show

from wordgeom.evaluation.answers import Score, scores
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.qvec import read_oracle
from wordgeom.linalg.device import open_context
from wordgeom.runtime.run_options import UseOptions

MEASURE = "QVEC-CCA mean"  # the paper's QVEC: random vectors score as published
ORDER = (RANDOM, GBU, DC, EIGS)
# row: K = 100, 200, 300
PUBLISHED: Mapping[str, Mapping[int, float]] = {
    RANDOM: {100: 14.89, 200: 21.82, 300: 27.08}, GBU: {100: 30.01, 200: 37.41, 300: 42.45},
    DC: {100: 34.21, 200: 41.42, 300: 45.69}, EIGS: {100: 36.55, 200: 43.74, 300: 48.35},
    "glove": {100: 35.43, 200: 42.06, 300: 46.25}, "fasttext": {100: 36.06, 200: 43.51, 300: 47.87},
}  # fmt: skip

Found = Mapping[tuple[str, int], Score]  # row, K


def criteria(found: Found) -> list[Claim]:
    """Return the criteria of Table 5."""
    order, peers = [], []
    for K in sorted({K for _, K in found}):
        present = [row for row in ORDER if (row, K) in found]
        for low, high in pairwise(present):
            case = f"{low} < {high}, K = {K}"
            order.append((case, found[low, K].value < found[high, K].value))
        for row in ("glove", "fasttext"):
            if (row, K) in found:
                value = found[row, K].value
                bounds = [(DC, 1), (EIGS, -1)]
                holds = all(sign * (value - found[other, K].value) > 0
                            for other, sign in bounds if (other, K) in found)  # fmt: skip
                peers.append((f"{row}, K = {K}", holds))
    return [judge("Table 5, order", order), judge("Table 5, peers", peers)]


def run(rows: Rows, dims: Sequence[int], oracle: Path) -> None:
    """Print Table 5 with its criteria."""
    task, found = read_oracle(oracle, EvalOptions()), {}
    with open_context(UseOptions(threads=rows.threads)) as context:
        for K in dims:
            for name in rows.names(K):
                answers = task.answer(rows.vectors(name, K), context)
                measured = {score.measure: score for score in scores(answers, 1, 1)}
                found[name, K] = measured[MEASURE]
    names = dict.fromkeys(name for name, _ in found)
    lines = []
    for name in names:
        printed = PUBLISHED.get(name, {})
        cells = [_cell(found.get((name, K)), printed.get(K)) for K in dims]
        lines.append([name, *(cell for pair in cells for cell in pair)])
    some = next(iter(found.values()))
    head = ["100 × QVEC-CCA mean", *(t for K in dims for t in (f"K = {K}", "paper"))]
    show(f"## Table 5: QVEC\n\n{some.name}, {some.used:,} of {some.total:,} words", head, lines)
    conclude(criteria(found))


def _cell(score: Score | None, printed: float | None) -> tuple[str, str]:
    theirs = "" if printed is None else f"{printed:.2f}"
    if score is None:
        return "", theirs
    low, value, high = (100 * x for x in (score.low, score.value, score.high))
    return f"{value:.2f} [{low:.2f}, {high:.2f}]", theirs

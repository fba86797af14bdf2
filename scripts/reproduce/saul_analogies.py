"""Table 1 and Figure 5: analogies completed by vectors of fewer dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from saul_cells import MATCHED, PROJECTED, Cell
from saul_data import ANALOGIES
from saul_matching import USUAL
from saul_plots import Panel, draw
from tables_report import Claim, conclude, judge, show

from wordgeom.evaluation.analogies import Analogies, read_analogies
from wordgeom.evaluation.answers import Answers, Score, difference, scores
from wordgeom.evaluation.options import EvalOptions
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors, read_vectors
from wordgeom.vectors.reduction import svd

SEMANTIC, SYNTACTIC = "semantic", "syntactic"
_PREFIX = "gram"  # of the names of syntactic sections
_RESAMPLES, _SEED = 1000, 1
Differences = Mapping[str, Mapping[int, Score]]  # kind → d → TSM − SVD


def run(words: Path, cells: Mapping[int, Cell], folder: Path, context: Context) -> None:
    """Print Figure 5 and Table 1, and draw the figure; cells: TSM of the words, by dimension."""
    original = read_vectors(words)
    found: dict[str, dict[int, Score]] = {}
    panels, rows = [], []
    for kind, questions in halves().items():
        level = _accuracy(questions.answer(original, context))
        found[kind] = {}
        curves: dict[str, list[tuple[float, float]]] = {MATCHED: [], PROJECTED: []}
        rows.append([kind, "all", _text(level), "", ""])
        for d, cell in cells.items():
            ours, theirs = _answers(questions, original, cell, context)
            found[kind][d] = difference(theirs, ours, ours.measures[0], _RESAMPLES, _SEED)
            own = _accuracy(ours), _accuracy(theirs)
            for name, one in zip(curves, own, strict=True):
                curves[name].append((d, one.value))
            rows.append([kind, f"{d}", *map(_text, own), _text(found[kind][d])])
        curves["all dimensions"] = [(d, level.value) for d in cells]
        panels.append(Panel(f"{kind} ({level.used:,})", curves))
    head = ["", "d", MATCHED, PROJECTED, "difference"]
    show("### Figure 5: share of analogies completed (95 % intervals by word pairs)", head, rows)
    conclude(criteria(found))
    draw([("completed", panels)], folder / "figure-5.png", ticks=list(cells))
    if USUAL in cells:
        _table_1(original, cells[USUAL], context)


def halves() -> dict[str, Analogies]:
    """Return gensim's questions about meanings, and those about forms."""
    every = read_analogies(ANALOGIES, EvalOptions())
    made = {}
    for kind in (SEMANTIC, SYNTACTIC):
        own = [k for k, section in enumerate(every.sections)
               if section.startswith(_PREFIX) == (kind == SYNTACTIC)]  # fmt: skip
        made[kind] = replace(every, questions=tuple(every.questions[k] for k in own),
                             sections=tuple(every.sections[k] for k in own))  # fmt: skip
    return made


def _answers(
    questions: Analogies, original: Vectors, cell: Cell, context: Context
) -> tuple[Answers, Answers]:
    """Return the answers of TSM, and those of as many dimensions of SVD."""
    matched = read_vectors(cell.path)
    K = min(matched.matrix.shape[1], original.matrix.shape[1])
    projected = Vectors(original.words, svd(original.matrix, K, context.pool))
    return questions.answer(matched, context), questions.answer(projected, context)


def _accuracy(answers: Answers) -> Score:
    return scores(answers, _RESAMPLES, _SEED)[0]


def _text(score: Score) -> str:
    return f"{score.value:.3f} [{score.low:.3f}, {score.high:.3f}]"


def criteria(found: Differences) -> list[Claim]:
    """Return the criteria of Figure 5 on the differences TSM − SVD."""
    own = {kind: row[USUAL] for kind, row in found.items() if USUAL in row}
    claims = [
        judge(f"Figure 5, {kind}", [(f"difference {_text(one)}", one.value > 0 and one.low > 0)])
        for kind, one in own.items()
    ]
    cases = []
    if own:
        semantic, syntactic = own[SEMANTIC].value, own[SYNTACTIC].value
        cases = [(f"{semantic:.3f} and {syntactic:.3f}", semantic > syntactic)]
    return [*claims, judge("Figure 5, larger", cases)]


def _table_1(original: Vectors, cell: Cell, context: Context) -> None:
    """Print each category's first question that TSM completes and SVD does not."""
    rows, cases = [], []
    for kind, questions in halves().items():
        ours, theirs = _answers(questions, original, cell, context)
        right = ours.given[:, 0] == ours.gold
        wrong = theirs.given[:, 0] != theirs.gold
        for section, at in ours.groups.items():
            only = at[right[at] & wrong[at]]
            other = int((~right[at] & ~wrong[at]).sum())
            cases.append((section, len(only) > 0))
            if len(only):
                a, b, c, d = questions.questions[ours.items[only[0]]]
                given = original.words[theirs.given[only[0], 0]]
                rows.append([kind, section, f"{a} : {b}", c, d, given, f"{len(only)}", f"{other}",
                             f"{len(at)}"])  # fmt: skip
    head = ["", "category", "prompt", "query", MATCHED, PROJECTED, f"only {MATCHED}",
            f"only {PROJECTED}", "questions"]  # fmt: skip
    show(f"### Table 1: first analogies that only TSM completes, d = {USUAL}", head, rows)
    conclude([judge("Table 1, examples", cases)])

"""Table 1 and Figure 5: analogies completed by vectors of fewer dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from saul_cells import MATCHED, PROJECTED, Cell
from saul_completion import COSADD, PAPER, completed
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

SEMANTIC, SYNTACTIC, BOTH = "semantic", "syntactic", "both"
_PREFIX = "gram"  # of the names of syntactic sections
_RESAMPLES, _SEED = 1000, 1
Completed = Mapping[str, Answers]  # rule → answers


@dataclass(frozen=True)
class Half:
    """The questions of one kind. original: answers of all dimensions; made: d → TSM and SVD."""

    questions: Analogies
    original: Completed
    made: Mapping[int, tuple[Completed, Completed]]

    def difference(self, rule: str, d: int) -> Score:
        """Return the share that TSM completes less that of SVD."""
        ours, theirs = (one[rule] for one in self.made[d])
        return difference(theirs, ours, ours.measures[0], _RESAMPLES, _SEED)

    def rows(self, rule: str) -> Iterator[tuple[int, Score, Score, Score]]:
        """Yield d, the shares of TSM and of SVD, and their difference."""
        for d, (ours, theirs) in self.made.items():
            yield d, _share(ours[rule]), _share(theirs[rule]), self.difference(rule, d)


def run(words: Path, cells: Mapping[int, Cell], folder: Path, context: Context) -> None:
    """Print Figure 5 and Table 1, and draw the figure; cells: TSM of the words, by dimension."""
    original = read_vectors(words)
    found = {kind: _answered(one, original, cells, context) for kind, one in halves().items()}
    rows, drawn = [], []
    for rule in (PAPER, COSADD):
        panels = []
        for kind, half in found.items():
            level = _share(half.original[rule])
            rows.append([rule, kind, "all", _text(level), "", ""])
            own = list(half.rows(rule))
            rows += [[rule, kind, f"{d}", *map(_text, shares)] for d, *shares in own]
            curves = {
                MATCHED: [(d, ours.value) for d, ours, _, _ in own],
                PROJECTED: [(d, theirs.value) for d, _, theirs, _ in own],
                "all dimensions": [(d, level.value) for d in cells],
            }
            panels.append(Panel(f"{kind}, {rule}", curves))
        drawn.append(("completed", panels))
    title = "### Figure 5: share of analogies completed (95 % intervals by word pairs)"
    show(title, ["rule", "", "d", MATCHED, PROJECTED, "difference"], rows)
    conclude(criteria(found))
    draw(drawn, folder / "figure-5.png", ticks=list(cells))
    if USUAL in cells:
        _table_1(found, original.words)


def halves() -> dict[str, Analogies]:
    """Return gensim's questions about meanings, those about forms, and all of them."""
    every = read_analogies(ANALOGIES, EvalOptions())
    made = {BOTH: every}
    for kind in (SEMANTIC, SYNTACTIC):
        own = [k for k, section in enumerate(every.sections)
               if section.startswith(_PREFIX) == (kind == SYNTACTIC)]  # fmt: skip
        made[kind] = replace(every, questions=tuple(every.questions[k] for k in own),
                             sections=tuple(every.sections[k] for k in own))  # fmt: skip
    return made


def _answered(
    questions: Analogies, original: Vectors, cells: Mapping[int, Cell], context: Context
) -> Half:
    made = {}
    for d, cell in cells.items():
        K = min(d, original.matrix.shape[1])
        projected = Vectors(original.words, svd(original.matrix, K, context.pool))
        both = read_vectors(cell.path), projected
        ours, theirs = (completed(questions, one, context) for one in both)
        made[d] = ours, theirs
    return Half(questions, completed(questions, original, context), made)


def _share(answers: Answers) -> Score:
    return scores(answers, _RESAMPLES, _SEED)[0]


def _text(score: Score) -> str:
    return f"{score.value:.3f} [{score.low:.3f}, {score.high:.3f}]"


def criteria(found: Mapping[str, Half]) -> list[Claim]:
    """Return the criteria of Figure 5 on the differences TSM − SVD, by each rule."""
    claims = []
    for rule in (PAPER, COSADD):
        own = {kind: half.difference(rule, USUAL) for kind, half in found.items()
               if USUAL in half.made}  # fmt: skip
        claims += [judge(f"Figure 5, {kind}, {rule}", [(f"difference {_text(one)}", one.low > 0)])
                   for kind, one in own.items()]  # fmt: skip
        cases = []
        if own:
            semantic, syntactic = own[SEMANTIC].value, own[SYNTACTIC].value
            cases = [(f"{semantic:.3f} and {syntactic:.3f}", semantic > syntactic)]
        claims.append(judge(f"Figure 5, larger, {rule}", cases))
    return claims


def _table_1(found: Mapping[str, Half], words: Sequence[str]) -> None:
    """Print each category's first question that TSM completes and SVD does not, by eq. 13."""
    rows, cases = [], []
    for kind in (SEMANTIC, SYNTACTIC):
        half = found[kind]
        ours, theirs = (one[PAPER] for one in half.made[USUAL])
        right, other = (one.given[:, 0] == one.gold for one in (ours, theirs))
        for section, at in ours.groups.items():
            only = at[right[at] & ~other[at]]
            cases.append((section, len(only) > 0))
            if len(only):
                a, b, c, d = half.questions.questions[ours.items[only[0]]]
                rows.append([kind, section, f"{a}, {b}", c, d, words[theirs.given[only[0], 0]],
                             f"{len(only)}", f"{(other[at] & ~right[at]).sum()}",
                             f"{len(at)}"])  # fmt: skip
    head = ["", "category", "prompt", "query", MATCHED, PROJECTED, f"only {MATCHED}",
            f"only {PROJECTED}", "questions"]  # fmt: skip
    show(f"### Table 1: first analogies that only TSM completes, d = {USUAL}", head, rows)
    conclude([judge("Table 1, examples", cases)])

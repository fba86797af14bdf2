"""Average precision, false discoveries and power of measures on planted words, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from planted_measures import Scored
from planted_words import (
    CONSTANT,
    FACTORS,
    FREQUENCY,
    PLANTED,
    RANGE,
    SHARES,
    UNTOUCHED,
)

from wordgeom.core.errors import FormatError
from wordgeom.core.types import Array, Float64, Int64

LEVEL, POWER, FLAGGED = 0.05, 0.8, 0.07  # of the criteria
HALF = 0.5
_RESAMPLES = 1000
_HEAD, _PARTS = ("word", "kind", "size", "speeches", "control"), ("", " p", " q")


@dataclass(frozen=True, eq=False)
class Run:
    """The vocabulary (V) of one seed of a design, and scores.

    kinds, sizes (V): of pseudo-words, else `untouched` or `remainder` and NaN; documents (V):
    speeches with the word; control (V): mask of the words that are ranked with pseudo-words.
    """

    seed: int
    words: Sequence[str]
    kinds: Array
    sizes: Float64
    documents: Int64
    control: Array
    scores: Sequence[Scored] = ()

    def of(self, kind: str | None = None, size: float | None = None) -> Array:
        """Return the mask (V) of a kind, None for all whose meaning changes, and of a size."""
        found = np.isin(self.kinds, PLANTED if kind is None else kind)
        return found if size is None else found & (self.sizes == size)

    @property
    def ranked(self) -> Int64:
        """The rows that average precision is of: pseudo-words and controls."""
        return np.flatnonzero(~np.isnan(self.sizes) | self.control)


def write_scores(path: Path, made: str, run: Run, scores: Sequence[Scored]) -> None:
    """Write a line for each word: its kind, size and so on, and scores, p and q.

    made: the options, a line.
    """
    head = [*_HEAD]
    columns = [run.words, run.kinds, [f"{size:g}" for size in run.sizes], run.documents,
               run.control.astype(int)]  # fmt: skip
    for scored in scores:
        head += [f"{scored.measure}{part}" for part in _PARTS]
        for values in (scored.score, scored.p, scored.q):
            columns.append([f"{value:.7g}" for value in values])
    lines = ["\t".join(map(str, row)) for row in zip(*columns, strict=True)]
    part = path.with_name(path.name + ".part")
    part.write_text("\n".join([made, "\t".join(head), *lines]) + "\n", encoding="utf-8")
    part.replace(path)


def read_run(paths: Sequence[Path], made: str, seed: int) -> Run:
    """Return one seed of a design from the files of families.

    Raises FormatError for files made with other options.
    """
    scores, found = [], None
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        head, *rows = [line.split("\t") for line in lines[1:]]
        columns = list(zip(*rows, strict=True))
        if lines[0] != made or found not in (None, columns[: len(_HEAD)]):
            do = "choose another --out, or delete the files"
            raise FormatError("scores made with other options", where=path, do=do)
        found = columns[: len(_HEAD)]
        for at in range(len(_HEAD), len(head), len(_PARTS)):
            values = (np.array(column, np.float64) for column in columns[at : at + len(_PARTS)])
            scores.append(Scored(head[at], *values))
    assert found is not None
    words, kinds, sizes, documents, control = found
    return Run(
        seed, words, np.array(kinds, object), np.array(sizes, np.float64),
        np.array(documents, np.int64), np.array(control) == "1", scores,
    )  # fmt: skip


def average_precision(positive: Array, score: Float64, weights: Float64) -> Float64:
    """Return the average precision (b) with weights (b × n); equal scores are one threshold.

    Words without a score, NaN, come last.
    """
    score = np.where(np.isnan(score), -np.inf, score)
    order = np.argsort(-score, kind="stable")
    last = np.append(score[order][1:] != score[order][:-1], True)
    weights = weights[:, order]
    found = np.cumsum(weights * positive[order], axis=1)[:, last]
    all_found = np.cumsum(weights, axis=1)[:, last]
    gained = np.diff(found, axis=1, prepend=0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.where(all_found > 0.0, found / all_found, 0.0)
        return np.asarray((gained * precision).sum(axis=1) / found[:, -1])


def precisions(runs: Sequence[Run]) -> Float64:
    """Return the average precision (measures × 1 + resamples), the mean over seeds.

    Column 0 is observed; words are resampled within planted and other ones.
    """
    total = np.zeros((len(runs[0].scores), 1 + _RESAMPLES))
    for run in runs:
        rows, rng = run.ranked, np.random.default_rng([run.seed, _RESAMPLES])
        positive = run.of()[rows]
        weights = np.ones((1 + _RESAMPLES, len(rows)))
        for group in (positive, ~positive):
            n = int(group.sum())
            weights[1:, group] = rng.multinomial(n, np.full(n, 1.0 / n), _RESAMPLES)
        for k, scored in enumerate(run.scores):
            total[k] += average_precision(positive, scored.score[rows], weights)
    return total / len(runs)


def tables(runs: Sequence[Run]) -> list[str]:
    """Return the lines of a design's tables."""
    scores = runs[0].scores
    tested = [k for k, scored in enumerate(scores) if not np.isnan(scored.p).all()]
    tested = [k for k in tested if not scores[k].measure.startswith(("flips p", "flips turn"))]
    cells = [(kind, size) for kind in PLANTED for size in SHARES]
    changing = [cell for cell in cells if any(run.of(*cell).any() for run in runs)]
    still = [(CONSTANT, size) for size in SHARES[:-1]] + [(FREQUENCY, size) for size in FACTORS]
    above = [
        _row(scored.measure, *(f"{_above(runs, k, cell):.3f}" for cell in [*changing, *still[3:]]))
        for k, scored in enumerate(scores)
    ]
    return [
        *_ranking(runs), "",
        "share above the 95 % quantile of controls and constant shares, at equal error", "",
        _heads([*changing, *still[3:]]), *above,
        "", "power at q ≤ .05, by kind and share; all words planted", "",
        *_by_cell(runs, tested, "q", changing),
        "", "share with p ≤ .05, by constant share, and by factor of frequency", "",
        *_by_cell(runs, tested, "p", still),
    ]  # fmt: skip


def _ranking(runs: Sequence[Run]) -> list[str]:
    """Return the table of all measures, by average precision."""
    found, scores = precisions(runs), runs[0].scores
    best = _best(found, scores)
    lines = [
        _head(
            "measure", "average precision", "best of flips − measure", "false discoveries",
            "power, half", "frequency only, p ≤ .05", "untouched, p ≤ .05",
        )
    ]  # fmt: skip
    for k in np.argsort(-found[:, 0], kind="stable").tolist():
        apart = "–" if best in (None, k) else _interval(found[best] - found[k])
        lines.append(_row(scores[k].measure, _interval(found[k]), apart, *_rates(runs, k)))
    return lines


def _by_cell(
    runs: Sequence[Run], tested: Sequence[int], value: str, cells: Sequence[tuple[str, float]]
) -> list[str]:
    """Return the table of the shares of words whose p or q is at most .05."""
    rows = [
        _row(runs[0].scores[k].measure, *(_share(runs, k, value, cell) for cell in cells))
        for k in tested
    ]
    return [_heads(cells), *rows]


def _heads(cells: Sequence[tuple[str, float]]) -> str:
    names = [f"×{size:g}" if kind == FREQUENCY else f"{kind} {size:.0%}" for kind, size in cells]
    return _head("measure", *names)


def _above(runs: Sequence[Run], k: int, cell: tuple[str, float]) -> float:
    """Return the share of words of a cell whose score exceeds most scores without change."""
    hits = []
    for run in runs:
        score = np.where(np.isnan(run.scores[k].score), -np.inf, run.scores[k].score)
        still = run.control | run.of(CONSTANT)
        bound = np.quantile(score[still], 1.0 - LEVEL, method="higher")
        hits.append(score[run.of(*cell)] > bound)
    return _mean(hits)


def _best(found: Float64, scores: Sequence[Scored]) -> int | None:
    """Return the score of flips with the highest average precision, None without flips."""
    ours = [k for k, scored in enumerate(scores) if scored.ours]
    return max(ours, key=lambda k: found[k, 0], default=None)


def criteria(design: str, runs: Sequence[Run]) -> list[str]:
    """Return a line for each criterion; none without flips."""
    found, scores = precisions(runs), runs[0].scores
    best, lines = _best(found, scores), []
    for k, scored in enumerate(scores):
        if scored.measure.startswith("flips F"):
            power, flagged = half(runs, k), share(runs, k, "p", (FREQUENCY,))
            lines.append(
                f"{design}, {scored.measure}: power {power:.3f} ≥ {POWER}: {_met(power >= POWER)}; "
                f"frequency only {flagged:.3f} ≤ {FLAGGED}: {_met(flagged <= FLAGGED)}"
            )
    if best is not None:
        others = [k for k, scored in enumerate(scores) if not scored.ours]
        above = all(np.quantile(found[best, 1:] - found[k, 1:], 0.025) > 0.0 for k in others)
        what = f"{scores[best].measure}: average precision above every baseline"
        lines.append(f"{design}, {what}: {_met(above)}")
    return lines


def half(runs: Sequence[Run], k: int) -> float:
    """Return the power at q ≤ .05 of changes of half the uses, of words in enough speeches."""
    rows = [run.of(None, HALF) & (run.documents >= RANGE[0]) for run in runs]
    return _mean([run.scores[k].q[r] <= LEVEL for run, r in zip(runs, rows, strict=True)])


def share(runs: Sequence[Run], k: int, value: str, cell: Sequence[Any]) -> float:
    """Return the share of words of a kind, and perhaps a size, whose p or q is at most .05."""
    return _mean([getattr(run.scores[k], value)[run.of(*cell)] <= LEVEL for run in runs])


def _rates(runs: Sequence[Run], k: int) -> list[str]:
    """Return the false discoveries, power, and shares of words with p ≤ .05 without change."""
    if np.isnan(runs[0].scores[k].p).all():
        return ["–"] * 4
    false = true = 0
    untouched = []
    for run in runs:
        scored, planted = run.scores[k], run.of()
        others = run.of(UNTOUCHED) | (~planted & ~np.isnan(run.sizes))
        false += int(np.sum(scored.q[others] <= LEVEL))
        true += int(np.sum(scored.q[planted] <= LEVEL))
        untouched.append(scored.p[run.of(UNTOUCHED) & ~np.isnan(scored.p)] <= LEVEL)
    discoveries = f"{false / max(false + true, 1):.3f} ({false} of {false + true})"
    flagged = [_share(runs, k, "p", (FREQUENCY,)), _figure(_mean(untouched))]
    return [discoveries, f"{half(runs, k):.3f}", *flagged]


def _share(runs: Sequence[Run], k: int, value: str, cell: Sequence[Any]) -> str:
    return _figure(share(runs, k, value, cell))


def _mean(hits: Sequence[Array]) -> float:
    joined = np.concatenate(hits)
    return float(joined.mean()) if len(joined) else np.nan


def _interval(values: Float64) -> str:
    low, high = np.quantile(values[1:], (0.025, 0.975))
    return f"{values[0]:.3f} [{low:.3f}, {high:.3f}]"


def _figure(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"


def _met(met: bool) -> str:
    return "met" if met else "not met"


def _head(*cells: str) -> str:
    return _row(*cells) + "\n" + "|---" * len(cells) + "|"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"

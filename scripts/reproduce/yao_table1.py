"""Table 1: k-NN accuracy of sectors before and after imputation, with controls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from yao_firms import FIRST, NAMES, Firms, anchors, known
from yao_imputing import EXACT, PUBLISHED, Method, impute
from yao_knn import KS, PLAIN, Vote, accuracy, classify, gain, only

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.evaluation.answers import Answers, Score
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

APART = (2, 5, 8)  # the k at which intervals must not overlap
_SHUFFLES = 10
_PARTS = ("after above before at every k", "intervals apart at k = 2, 5, 8", "never rises with k")
_ROWS = {
    "self": (0.154, 0.170, 0.150, 0.150, 0.144, 0.138, 0.135),
    "self(hf)": (0.180, 0.190, 0.172, 0.167, 0.157, 0.157, 0.157),
    "self(hf)+aff": (0.556, 0.472, 0.396, 0.359, 0.302, 0.261, 0.187),
    "Google": (0.220, 0.297, 0.271, 0.305, 0.280, 0.280, 0.186),
    "Google+aff": (0.838, 0.803, 0.784, 0.768, 0.725, 0.678, 0.626),
    "Glove": (0.417, 0.466, 0.490, 0.500, 0.500, 0.505, 0.451),
    "Glove+aff": (0.832, 0.766, 0.690, 0.653, 0.606, 0.542, 0.405),
    "fast": (0.443, 0.496, 0.527, 0.500, 0.511, 0.470, 0.447),
    "fast+aff": (0.811, 0.749, 0.713, 0.684, 0.641, 0.608, 0.595),
}
PUBLISHED_ROWS = {name: dict(zip(KS, row, strict=True)) for name, row in _ROWS.items()}
OTHERS = (
    ("weighted votes", Vote(weighted=True)),
    ("cosine", Vote(cosine=True)),
    ("cosine, weighted votes", Vote(cosine=True, weighted=True)),
)

_Classifier = Callable[[int], Answers]


@dataclass(frozen=True, eq=False)
class Space:
    """Vectors (m × K) of some firms; items (m): their numbers among all firms, ascending.

    reattached: firms that zero weights cut off from every known firm, and that got other weights.
    """

    items: Int64
    vectors: Float64
    sectors: Array
    reattached: int = 0

    def classify(self, k: int, vote: Vote = PLAIN) -> Answers:
        """Classify each firm by the others of the space."""
        return classify(self.vectors, self.sectors, self.items, k, vote)


class Table1:
    """The experiment with one reading of the firms' names."""

    def __init__(self, firms: Firms, vectors: Vectors, reading: str, context: Context) -> None:
        self.firms, self.context = firms, context
        self.known = known(firms, vectors, reading)
        self.anchors = anchors(firms, vectors, self.known)
        self.every = np.arange(len(firms.words))
        self.ours = np.flatnonzero(self.known)
        self.rest = np.flatnonzero(~self.known)
        self.before = Space(self.ours, self.anchors, firms.sectors[self.ours])
        self.after = self.space(firms.correlations)

    def space(self, points: Float64, method: Method = EXACT) -> Space:
        """Return the space of all firms, imputed from points (n × d)."""
        made = impute(points, self.known, self.anchors, method, self.context)
        return Space(self.every, made.vectors, self.firms.sectors, made.reattached)

    def rows(self) -> Iterator[tuple[str, list[Score]]]:
        """Yield the rows of the table: name, and scores at each k."""
        after, before = self.after, self.before
        domain = Space(self.every, self.firms.correlations, self.firms.sectors)
        subset = Space(self.ours, self.firms.correlations[self.ours], before.sectors)
        p, n = len(self.ours), len(self.every)
        yield f"before: {p} known firms", _scores(before.classify)
        yield f"after: all {n} firms", _scores(after.classify)
        yield "after, known firms", _scores(lambda k: only(after.classify(k), self.ours))
        yield "after, imputed firms", _scores(lambda k: only(after.classify(k), self.rest))
        yield "domain alone, all firms", _scores(domain.classify)
        yield "domain alone, known firms", _scores(subset.classify)
        published = self.space(self.firms.correlations, PUBLISHED)
        yield "after, authors' settings (NNLS, ε .1, η 1e-2)", _scores(published.classify)

    def others(self) -> Iterator[tuple[str, list[Score]]]:
        """Yield rows before and after imputation with other distances and votes."""
        for name, vote in OTHERS:
            for when, space in (("before", self.before), ("after", self.after)):
                yield f"{when}, {name}", _scores(partial(space.classify, vote=vote))

    def gains(self) -> list[Score]:
        """Return after − before at each k, paired over the known firms."""
        return [gain(self.before.classify(k), self.after.classify(k)) for k in KS]

    def domain_gains(self) -> list[Score]:
        """Return after − domain alone at each k, paired over all firms."""
        domain = Space(self.every, self.firms.correlations, self.firms.sectors)
        return [gain(domain.classify(k), self.after.classify(k)) for k in KS]

    def shuffled(self) -> Array:
        """Return accuracies (shuffles × ks) after imputation from rows assigned to random firms."""
        rng = np.random.default_rng(1)
        found = []
        for _ in range(_SHUFFLES):
            order = rng.permutation(len(self.every))
            space = self.space(self.firms.correlations[order])
            found.append([float(np.mean(a.given == a.gold)) for a in map(space.classify, KS)])
        return np.array(found)


def run(firms: Firms, vectors: Vectors, context: Context) -> bool:
    """Print the tables; return whether the shape is reproduced."""
    print("## Table 1: k-NN accuracy of sectors\n")
    chance = np.bincount(firms.sectors).max() / len(firms.sectors)
    print(f"{len(firms.labels)} sectors; always the largest: {chance:.3f}.\n")
    verdicts = []
    for reading in (NAMES, FIRST):
        table = Table1(firms, vectors, reading, context)
        verdicts.append(_print(table, reading))
    _head("published")
    for name, row in PUBLISHED_ROWS.items():
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in row.values()) + " |")
    print(f"\nTable 1, {NAMES}: {shape(verdicts[0])}. {FIRST}: {shape(verdicts[1])}.\n", flush=True)
    return verdicts[0]


def verdict(before: list[Score], after: list[Score]) -> tuple[bool, bool, bool]:
    """Return the three parts of the criterion, for scores in order of KS."""
    above = all(b.value < a.value for b, a in zip(before, after, strict=True))
    apart = all(before[KS.index(k)].high < after[KS.index(k)].low for k in APART)
    falls = all(later.value <= sooner.value for sooner, later in pairwise(after))
    return above, apart, falls


def shape(reproduced: bool) -> str:
    """Return the verdict in words."""
    return "shape reproduced" if reproduced else "shape NOT reproduced"


def _print(table: Table1, reading: str) -> bool:
    rows = dict(table.rows())
    _head(reading)
    for name, scores in rows.items():
        _row(name, scores)
    shuffled = table.shuffled()
    means = [f"{m:.3f} ± {s:.3f}" for m, s in zip(shuffled.mean(0), shuffled.std(0), strict=True)]
    print(f"| after, domain rows shuffled ({_SHUFFLES}×) | " + " | ".join(means) + " |")
    _row("after − before, known firms (paired)", table.gains())
    _row("after − domain alone, all firms (paired)", table.domain_gains())
    for name, scores in table.others():
        _row(name, scores)
    print(f"\n{table.after.reattached} imputed firms without a known neighbour were reattached.  ")
    before, after = list(rows.values())[:2]
    parts = verdict(before, after)
    for part, holds in zip(_PARTS, parts, strict=True):
        print(f"{part}: {'yes' if holds else 'no'}  ")
    print()
    return all(parts)


def _scores(classify: _Classifier) -> list[Score]:
    return [accuracy(classify(k)) for k in KS]


def _head(title: str) -> None:
    print(f"| {title} | " + " | ".join(f"k = {k}" for k in KS) + " |")
    print("|---|" + "---|" * len(KS))


def _row(name: str, scores: list[Score]) -> None:
    cells = [f"{s.value:.3f} [{s.low:.3f}, {s.high:.3f}]" for s in scores]
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)

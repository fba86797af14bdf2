"""The problem that items, pairs and options make: which pairs, and what is given about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import first_few, plural, several
from wordgeom.core.types import Array, Csr, Int64
from wordgeom.matrices.interfaces import Matrix
from wordgeom.methods.inputs.item_pairs import ItemPairs
from wordgeom.methods.mde import options as names
from wordgeom.methods.mde.distortions import DEVIATIONS
from wordgeom.methods.mde.graphs.components import component_of
from wordgeom.methods.mde.graphs.distances import distances
from wordgeom.methods.mde.graphs.given_pairs import GivenPairs, given_pairs
from wordgeom.methods.mde.graphs.keys import keys_of, merged
from wordgeom.methods.mde.graphs.largest_entries import largest_entries
from wordgeom.methods.mde.graphs.nearby import Sample
from wordgeom.methods.mde.graphs.neighbours import Points, neighbours, points_of
from wordgeom.methods.mde.graphs.paths import shortest_paths
from wordgeom.methods.mde.graphs.sampling import dissimilar
from wordgeom.methods.mde.options import Options
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.vectors.keyed import Vectors, row_in

_ENTRY, _COUNTED, _POINT = 12, 14, 32  # bytes of an entry, one with counts, a number of vectors
_LISTED = 5  # sizes of components in a note


@dataclass
class Graph:
    """The pairs of a problem.

    similar, dissimilar: with weights > 0; or deviations, and the two others empty. near: pairs with
    weights from which a start can be computed; points: those whose distances are the deviations, a
    better start; sample: how to draw more dissimilar pairs, None where they stay the same. notes;
    statistics: for the run card.
    """

    similar: Pairs
    dissimilar: Pairs
    deviations: Pairs
    near: Pairs
    points: Points | None = None
    sample: Sample | None = None
    notes: list[str] = field(default_factory=list)
    statistics: dict[str, Any] = field(default_factory=dict)


def no_pairs() -> Pairs:
    """Return no pairs."""
    return Pairs(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32))


class Construction:
    """Makes the graph of items from their vectors or matrix, and from the pairs of a file."""

    def __init__(
        self, items: Any, given: ItemPairs | None, options: Options, context: Context
    ) -> None:
        self._items, self._given, self._options, self._context = items, given, options, context
        self._n = len(items.words)
        self._start: Points | None = None
        self._sample: Sample | None = None
        self.notes: list[str] = []
        self.statistics: dict[str, Any] = {}

    def graph(self) -> Graph:
        """Return the graph. Raises InputError for items or pairs that cannot be embedded."""
        if self._options.by_weight:
            return self._weighted()
        deviations, near = self._deviations()
        if not len(deviations):
            raise InputError("no pair of items has a deviation", do="check --pairs or --longest")
        if not deviations.given.any():
            raise InputError(
                "all deviations are 0: the items are identical", do="embed items that differ"
            )
        deviations = self._usable(deviations)
        self.statistics["pairs"] = len(deviations)
        self._count_components(deviations, "pairs")
        return self._made(deviations=deviations, near=near or _closeness(deviations))

    def _weighted(self) -> Graph:
        """Return similar and dissimilar pairs."""
        similar, far = (
            self._from_file() if self._options.graph == names.WEIGHTS
            else (self._similar(), no_pairs())
        )  # fmt: skip
        ratio = self._options.dissimilar
        if len(far) and not self._options.is_set("dissimilar"):
            ratio = 0.0
        wanted = round(ratio * len(similar))
        known = merged(similar, far, self._n)
        drawn = dissimilar(known, self._n, wanted, self._context.rng)
        if len(drawn) < wanted:
            only = several(len(drawn), "pair is", "pairs are")
            self.notes.append(f"only {only} left to be dissimilar, not {wanted:,}")
        if self._options.nearby and len(drawn):
            nearest, each = self._options.nearby, self._options.repulsion_weight
            without = keys_of(known, self._n)
            self._sample = Sample(self._n, nearest, len(drawn), each, far, without)
            drawn = self._sample.uniform(keys_of(drawn, self._n))
        far = merged(far, drawn, self._n)
        if not (len(similar) or len(far)):
            raise InputError("no two items are similar", do="check the items")
        self.statistics |= {"pairs_similar": len(similar), "pairs_dissimilar": len(far)}
        if len(similar):
            self._count_components(similar, "similar pairs")
        return self._made(similar=similar, far=far, near=similar)

    def _made(self, *, near: Pairs, similar: Pairs | None = None, far: Pairs | None = None,
              deviations: Pairs | None = None) -> Graph:  # fmt: skip
        none = no_pairs()
        return Graph(similar or none, far or none, deviations or none, near, self._start,
                     self._sample, self.notes, self.statistics)  # fmt: skip

    def _similar(self) -> Pairs:
        """Return the similar pairs of vectors, or of a matrix."""
        k, context = self._options.neighbours, self._context
        if isinstance(self._items, Vectors):
            if self._options.is_set("similarity"):
                do = "pass a directory of counts, or omit --similarity"
                raise OptionError("--similarity has no effect on vectors", do=do)
            return self._neighbours(self.points(self._options.metric))
        pairs = largest_entries(self._entries(self._items), k, context.pool)
        self._note_absent(pairs, "has no entry above 0", "have no entry above 0")
        return pairs

    def _entries(self, matrix: Matrix) -> Csr:
        """Return what makes words similar. Raises InputError if these are counts that it lacks."""
        counts = self._options.similarity == names.COUNTS
        if counts and not matrix.has_counts:
            do = "pass the counts themselves, or omit --similarity"
            raise InputError("the matrix has no counts", do=do)
        needed = (_COUNTED if counts else _ENTRY) * matrix.entries
        do = "count with --max-vocab, or raise --memory"
        check_memory("the matrix", needed, self._context.memory, do)
        found = matrix.with_counts() if counts else None
        if found is None:
            return matrix.full()
        pattern, values = found
        return Csr(pattern.indptr, pattern.indices, values, pattern.columns)

    def _neighbours(self, points: Points) -> Pairs:
        found = neighbours(
            points, self._options.neighbours, self._context.pool, self._context.progress
        )
        self.statistics["neighbour_recall"] = found.recall
        return found.pairs

    def edges(self) -> Pairs:
        """Return deviations: those of the file, or the distances of neighbours."""
        if self._given is not None:
            return self._deviations_of_file()
        return self._lengths(self.points(self._options.metric))[0]

    def points(self, metric: str) -> Points:
        """Return the vectors as points. Raises InputError for vectors that have no neighbours."""
        if not isinstance(self._items, Vectors):
            what = f"--graph {self._options.graph} needs vectors, not a matrix"
            raise InputError(what, do="pass a vectors file, or --graph neighbours")
        needed = _POINT * self._items.matrix.size
        do = "embed fewer items, reduce their dimension, or raise --memory"
        check_memory("the vectors and a search among them", needed, self._context.memory, do)
        points = points_of(self._items.matrix, metric)
        zero = np.setdiff1d(np.arange(self._n), points.rows)
        if len(zero):
            what = several(len(zero), "item has a zero vector", "items have zero vectors")
            listed = first_few([self._items.words[row] for row in zero])
            self.notes.append(f"{what} and no cosine: {listed}; --metric euclidean uses them")
        if len(points.rows) < 2 or (points.points == points.points[0]).all():
            what = "identical" if len(points.rows) else "zero"
            raise InputError(f"the vectors of the items are {what}", do="embed items that differ")
        return points

    def _deviations(self) -> tuple[Pairs, Pairs | None]:
        """Return pairs with deviations, and pairs with weights for a start, if there are any."""
        options, context = self._options, self._context
        if options.graph == names.DEVIATIONS:
            return self._deviations_of_file(), None
        if options.graph == names.DISTANCES:
            self._start = self.points(options.metric)
            return distances(self._start, options.samples, context.rng), None
        if self._given is not None:
            edges = self._deviations_of_file()
            near = _closeness(edges)
        else:
            edges, near = self._lengths(self.points(options.metric))
        longest = options.longest or np.inf
        paths = shortest_paths(
            edges, self._n, options.samples, context.rng, context.pool,
            longest=longest, progress=context.progress,
        )  # fmt: skip
        self.statistics["pairs_without_path"] = paths.apart
        if paths.apart:
            what = several(paths.apart, "sampled pair has", "sampled pairs have")
            short = f" of at most {options.longest:g}" if options.longest else ""
            self.notes.append(f"{what} no path{short}: left out")
        return paths.pairs, near

    def _lengths(self, points: Points) -> tuple[Pairs, Pairs]:
        """Return the pairs of neighbours with their distances, and with their weights."""
        near = self._neighbours(points)
        at = np.searchsorted(points.rows, near.left), np.searchsorted(points.rows, near.right)
        return replace(near, given=points.distances(*at).astype(np.float32)), near

    def _from_file(self) -> tuple[Pairs, Pairs]:
        """Return the similar and the dissimilar pairs of the file."""
        found = self._read()
        neither = len(found.pairs) - len(found.similar) - len(found.dissimilar)
        if neither == len(found.pairs):
            do = "give similar pairs weights above 0"
            raise InputError("all weights of --pairs are 0", do=do)
        if neither:
            self.notes.append(f"{plural(neither, 'pair')} of weight 0: left out")
        return found.similar, found.dissimilar

    def _deviations_of_file(self) -> Pairs:
        assert self._given is not None
        if (self._given.values < 0).any():
            what = "--pairs has a negative number, which is no deviation"
            raise InputError(what, do="pass --graph weights for weights")
        return self._read().pairs

    def _read(self) -> GivenPairs:
        """Return the pairs of the file; notes those that are not used as they stand."""
        assert self._given is not None
        rows = {word: row for row, word in enumerate(self._items.words)}
        given = self._given
        found = given_pairs(
            given.left, given.right, given.values, lambda name: row_in(rows, name), self._n
        )
        for number, text in (
            (found.unknown, "with a name that is no item: left out"),
            (found.same, "of an item with itself: left out"),
            (found.contradictory, "with several numbers: averaged"),
        ):
            if number:
                self.notes.append(f"{plural(number, 'pair')} of --pairs {text}")
        if not len(found.pairs):
            what = "no pair of --pairs has the names of two items"
            raise InputError(what, do="check that the names are those of the items")
        self._note_absent(found.pairs, "is in no pair of --pairs", "are in no pair of --pairs")
        return found

    def _usable(self, pairs: Pairs) -> Pairs:
        """Return the pairs without deviations of 0, where the loss divides by them."""
        zero = pairs.given == 0.0
        if not (DEVIATIONS[self._options.loss].divides and zero.any()):
            return pairs
        number = int(np.count_nonzero(zero))
        what = f"{plural(number, 'pair')} of deviation 0, by which --loss {self._options.loss}"
        self.notes.append(f"{what} divides: left out")
        return pairs.chosen(~zero)

    def _note_absent(self, pairs: Pairs, one: str, more: str) -> None:
        number = self._n - len(np.union1d(pairs.left, pairs.right))
        if number:
            what = several(number, f"item {one}", f"items {more}")
            self.notes.append(f"{what}: nothing attracts {'it' if number == 1 else 'them'}")

    def _count_components(self, pairs: Pairs, what: str) -> None:
        sizes = np.bincount(component_of(pairs, self._n))
        self.statistics |= {"components": len(sizes), "largest_component": int(sizes[0])}
        if len(sizes) > 1:
            listed = first_few([f"{size:,}" for size in sizes], _LISTED)
            text = f"the graph of {what} has {len(sizes):,} components (items: {listed})"
            self.notes.append(text + self._meaning(what))

    def _meaning(self, what: str) -> str:
        if self._options.constraint == names.ANCHORED:
            return ""
        if what == "similar pairs" and self._options.dissimilar:
            return "; only dissimilar pairs place one relative to another"
        return "; nothing places one relative to another"


def without_fixed(pairs: Pairs, fixed: Array) -> Pairs:
    """Return the pairs of which at least one item is not fixed; fixed (n): bool."""
    return pairs.chosen(~(fixed[pairs.left] & fixed[pairs.right]))


def rows_of(items: Sequence[str], others: Sequence[str]) -> Int64:
    """Return the row of each other name (m) among the items, −1 for none."""
    rows = {word: row for row, word in enumerate(items)}
    found = (row_in(rows, name) for name in others)
    return np.array([-1 if row is None else row for row in found], np.int64)


def _closeness(deviations: Pairs) -> Pairs:
    """Return weights of pairs with deviations δ, for a start: 1/δ², at most 10⁴ times the mean's.

    The quadratic problem with these weights has all distances near their deviations.
    """
    relative = deviations.given / np.mean(deviations.given, dtype=np.float64)
    return replace(deviations, given=(1.0 / np.maximum(relative, 1e-2) ** 2).astype(np.float32))

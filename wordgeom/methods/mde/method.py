"""Minimum-distortion embedding: maps and vectors that keep similar items close.

Agrawal, Ali and Boyd (2021). Each pair of a graph has a distortion, a function of the distance of
its vectors, and the average distortion is minimised under a constraint. Similar pairs attract, a
sample of dissimilar pairs repels; or the pairs have distances that the vectors should have. Items
are vectors, rows of an array, or the words of a matrix. Distances within a cluster mean more than
those between clusters. For vectors of words from counts see `gbu`: docs/methods/mde.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.errors import InputError, OptionError, RankError
from wordgeom.core.formatting import several
from wordgeom.core.options import flag
from wordgeom.methods.contract import VECTORS, Result, Status
from wordgeom.methods.mde import options as names
from wordgeom.methods.mde.options import Options
from wordgeom.methods.mde.recipes import OF_PAIRS, SPECTRAL
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

if TYPE_CHECKING:
    from wordgeom.core.types import Float32, Int64
    from wordgeom.methods.mde.construction import Graph
    from wordgeom.methods.mde.problem import Term
    from wordgeom.methods.mde.solve import Solution
    from wordgeom.optim.constraints import Constraint

__all__ = ["MAKES", "NEEDS", "Options", "fit"]

NEEDS = ("items", "item-pairs", "anchors", "init")
MAKES = (VECTORS,)

_LEAST = 3  # items
_MAP = 3  # dimensions up to which nearest vectors are found quickly
_ARRAYS = 28  # n × K float32 arrays at once: two for each pair of L-BFGS, and the search
_PAIR = 80  # bytes of a pair, in both directions, with its distance and slope
_POINTS = 200  # of a course in the run card


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return vectors (n × K) of minimum average distortion, a row per item.

    Raises OptionError for options that contradict the inputs, RankError for K ≥ n, InputError for
    items or pairs that cannot be embedded or if memory is insufficient.
    """
    from wordgeom.methods.mde.checks import checks
    from wordgeom.methods.mde.solve import Settings, get_problem, solve

    options = _combined(inputs, options)
    if options.recipe in SPECTRAL:
        return _spectral(inputs, options, context)
    embedding = _Embedding(inputs, options, context)
    terms, held = embedding.terms()
    solution = solve(
        get_problem(embedding.n, terms, context), embedding.start(), embedding.constraint(),
        Settings(options.steps, options.tol, options.gradient_tol, batch=options.batch), context,
        None if embedding.graph.sample is None else embedding,
    )  # fmt: skip
    given = (terms, held) if held else None
    statistics, notes = checks(solution.terms, solution.vectors, embedding.words, given)
    embedding.statistics |= statistics
    embedding.notes += notes
    return _result(solution, embedding, options)


def _spectral(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return the vectors of a recipe that has a solution by eigenvectors."""
    from wordgeom.methods.mde.classical import embed

    items, pairs = inputs["items"], inputs.get("item-pairs")
    for name, flag_name in (("anchors", "--anchors"), ("init", "--init")):
        if name in inputs:
            what = f"{flag_name} has no effect with --recipe {options.recipe}"
            raise OptionError(what, do="omit one of the two")
    if pairs is not None and options.recipe not in OF_PAIRS:
        do = "omit --pairs"
        raise OptionError(f"--pairs has no effect with --recipe {options.recipe}", do=do)
    _check_items(items, None, options.dim)
    return embed(items, pairs, options.dim, options, context)


def _combined(inputs: Mapping[str, Any], options: Options) -> Options:
    """Return the options with those that the inputs imply. Raises OptionError."""
    from wordgeom.vectors.keyed import Vectors

    options = _with_pairs(options) if "item-pairs" in inputs else options
    if "item-pairs" not in inputs and options.graph in (names.WEIGHTS, names.DEVIATIONS):
        raise OptionError(f"--graph {options.graph} needs pairs", do="name a file: --pairs FILE")
    if options.is_set("metric") and not isinstance(inputs["items"], Vectors):
        raise OptionError("--metric has no effect on a matrix", do="omit --metric")
    if options.is_set("start") and "init" in inputs:
        raise OptionError("--init excludes --start", do="pass one of the two")
    anchors = "anchors" in inputs
    if anchors and not options.is_set("constraint"):
        options = options.but(constraint=names.ANCHORED)
    if anchors != (options.constraint == names.ANCHORED):
        what = f"--constraint {options.constraint} "
        what += "excludes --anchors" if anchors else "needs --anchors"
        raise OptionError(what, do="name a vectors file with --anchors, or omit --constraint")
    return _of_a_map(options, _dimension(inputs, options))


def _of_a_map(options: Options, K: int) -> Options:
    """Return the options, without --nearby where it has no effect. Raises OptionError if given."""
    if not options.by_weight or options.recipe in SPECTRAL or not options.nearby:
        return options
    for applies, why in (
        (K > _MAP, f"--dim {K}, above {_MAP}"), (options.batch > 0, "--batch"),
        (options.constraint == names.STANDARDIZED, f"--constraint {names.STANDARDIZED}"),
        (options.dissimilar == 0.0, "--dissimilar 0"),
    ):  # fmt: skip
        if applies:
            return options.without_nearby(why)
    return options


def _with_pairs(options: Options) -> Options:
    """Return the options with the graph of --pairs. Raises OptionError for one that has none."""
    for name in ("neighbours", "metric"):
        if options.is_set(name):
            raise OptionError(f"{flag(name)} has no effect with --pairs", do=f"omit {flag(name)}")
    implied = {names.NEIGHBOURS: names.WEIGHTS, names.DISTANCES: names.DEVIATIONS}
    if options.graph not in implied or options.recipe in SPECTRAL:
        return options
    if options.is_set("graph"):
        what = f"--pairs has no effect with --graph {options.graph}"
        raise OptionError(what, do="omit one of the two")
    return options.but(graph=implied[options.graph])


class _Embedding:
    """The parts of a problem: terms, start and constraint, and what to say of them."""

    def __init__(self, inputs: Mapping[str, Any], options: Options, context: Context) -> None:
        from wordgeom.methods.mde.checks import divided
        from wordgeom.methods.mde.construction import Construction, rows_of

        items, self._init, self._anchors = (
            inputs.get(name) for name in ("items", "init", "anchors")
        )
        assert items is not None
        self.words: list[str] = items.words
        self.n, self._options, self._context = len(self.words), options, context
        self.K = _dimension(inputs, options)
        _check_items(items, self._anchors, self.K)
        self.fixed = np.zeros(self.n, bool)
        self._rows: Int64 = np.empty(0, np.int64)
        if self._anchors is not None:
            found = rows_of(self._anchors.words, self.words)
            self.fixed = found >= 0
            self._rows = found[self.fixed]
        self.graph: Graph = Construction(items, inputs.get("item-pairs"), options, context).graph()
        self._held: Graph | None = None
        if options.hold_out:
            parts = divided(self.graph, options.hold_out, self.n, context.rng)
            self.graph, self._held = parts
        self.notes, self.statistics = self.graph.notes, self.graph.statistics
        self._check_anchors()
        self._check_memory()

    def terms(self) -> tuple[list[Term], list[Term]]:
        """Return the pairs with their functions, and those of --hold-out.

        Raises InputError where nothing holds them.
        """
        self._check_balance()
        if self._options.constraint == names.STANDARDIZED and len(self.graph.deviations):
            self._to_natural_length()
        return self._terms(self.graph), [] if self._held is None else self._terms(self._held)

    def gathered(self, vectors: Float32) -> Float32:
        """Return vectors (n × K) whose strays are back among their similar items."""
        from wordgeom.methods.mde.graphs.strays import without_strays

        return without_strays(vectors, self.graph.similar)

    def redrawn(self, vectors: Float32, number: int) -> list[Term]:
        """Return the terms of a later round, with dissimilar pairs for vectors (n × K)."""
        graph, context = self.graph, self._context
        assert graph.sample is not None
        rng = np.random.default_rng((context.seed, number))
        drawn = graph.sample.drawn(vectors, rng, context.pool)
        return self._terms(replace(graph, dissimilar=drawn))

    def _terms(self, graph: Graph) -> list[Term]:
        from wordgeom.methods.mde.construction import without_fixed
        from wordgeom.methods.mde.distortions import ATTRACTIVE, DEVIATIONS, REPULSIVE
        from wordgeom.methods.mde.problem import Term

        options, apart = self._options, {}
        if options.repulsion_exponent:
            apart["exponent"] = options.repulsion_exponent
        made = [
            (graph.similar, ATTRACTIVE[options.attraction], options.parameters),
            (graph.dissimilar, REPULSIVE[options.repulsion], apart),
            (graph.deviations, DEVIATIONS[options.loss], options.parameters),
        ]
        used = [
            (without_fixed(pairs, self.fixed), function(**parameters))
            for pairs, function, parameters in made if len(pairs)
        ]  # fmt: skip
        return [Term(pairs, function) for pairs, function in used if len(pairs)]

    def constraint(self) -> Constraint:
        """Return the constraint."""
        from wordgeom.optim.constraints import Anchored, Centered, Standardized

        ops = self._context.ops
        if self._anchors is not None:
            return Anchored(np.flatnonzero(self.fixed), self._anchors.matrix[self._rows], ops)
        made = Standardized if self._options.constraint == names.STANDARDIZED else Centered
        return made(self.n, ops)

    def start(self) -> Float32:
        """Return the first vectors (n × K)."""
        from wordgeom.methods.mde import start

        context, near = self._context, self.graph.near
        if self._init is not None:
            vectors, notes = start.of_file(self._init, self.words, context)
            self.notes += notes
            return vectors
        if self._options.start == names.RANDOM or not len(near):
            return start.scaled(start.at_random(self.n, self.K, context), self.graph)
        if self._anchors is not None:
            values = self._anchors.matrix[self._rows]
            vectors, alone = start.around_anchors(
                near, self.n, np.flatnonzero(self.fixed), values, context
            )
            if alone:
                what = several(alone, "item has", "items have")
                self.notes.append(f"{what} no path of similar pairs to an anchor: random start")
            return vectors
        if self.graph.points is not None:
            return start.scaled(start.principal(self.graph.points, self.K, context), self.graph)
        vectors = start.quadratic(near, self.n, self.K, context, exact=self._is_quadratic)
        return start.scaled(vectors, self.graph)

    @property
    def _is_quadratic(self) -> bool:
        """Whether the eigenvectors of the start are the solution."""
        options = self._options
        quadratic = options.attraction == "power" and options.exponent in (0.0, 2.0)
        alone = len(self.graph.similar) > 0 and not len(self.graph.dissimilar)
        return alone and quadratic and options.constraint == names.STANDARDIZED

    def _to_natural_length(self) -> None:
        """Scale the deviations to the root mean square distance of standardised vectors (2.7)."""
        pairs = self.graph.deviations
        natural = np.sqrt(2.0 * self.n * self.K / (self.n - 1))
        factor = float(natural / np.sqrt(np.mean(np.square(pairs.given, dtype=np.float64))))
        for graph in (self.graph, *([] if self._held is None else [self._held])):
            scaled = (graph.deviations.given * factor).astype(np.float32)
            graph.deviations = replace(graph.deviations, given=scaled)
        self.statistics["deviations_scaled_by"] = factor

    def _check_anchors(self) -> None:
        """Raise InputError unless some items are fixed and others are not; count the anchors."""
        if self._anchors is None:
            return
        number, given = int(self.fixed.sum()), len(self._anchors.words)
        if number == 0:
            what = f"none of the {given:,} words of --anchors is an item"
            raise InputError(what, do="anchor items by their names")
        if number == self.n:
            raise InputError("all items are anchored: there is nothing to place",
                             do="embed items that --anchors lacks")  # fmt: skip
        self.statistics["anchored_items"] = number
        if number < given:
            absent = several(given - number, "word of --anchors is", "words of --anchors are")
            self.notes.append(f"{absent} no item and without effect")

    def _check_balance(self) -> None:
        """Raise InputError for pairs whose only solution is a point, or is infinite."""
        graph, constraint = self.graph, self._options.constraint
        if len(graph.deviations) or constraint == names.STANDARDIZED:
            return
        if not len(graph.similar):
            raise InputError("all pairs are dissimilar, so that items move apart without bound",
                             do="add similar pairs, or pass --constraint standardized")  # fmt: skip
        if not len(graph.dissimilar) and constraint == names.CENTERED:
            do = "pass --constraint standardized, or --dissimilar above 0"
            raise InputError("all pairs are similar, so that all vectors become equal", do=do)

    def _check_memory(self) -> None:
        graph = self.graph
        pairs = sum(len(each) for each in (graph.similar, graph.dissimilar, graph.deviations))
        if graph.sample is not None:
            pairs += graph.sample.nearest * self.n
        needed = _PAIR * pairs + 4 * _ARRAYS * self.n * self.K
        what = f"the {pairs:,} pairs and {self.n:,} vectors of dimension {self.K:,}"
        do = "lower --nearby or --dissimilar" if graph.sample is not None else "lower --dim"
        check_memory(what, needed, self._context.memory, f"{do}, or raise --memory")


def _check_items(items: Any, anchors: Any, K: int) -> None:
    """Raise InputError for too few items or vectors that are not finite, RankError for K ≥ n."""
    from wordgeom.vectors.finite import check_finite
    from wordgeom.vectors.keyed import Vectors

    n = len(items.words)
    if n < _LEAST:
        few = several(n, "item is", "items are")
        raise InputError(f"{few} too few to embed", do=f"pass at least {_LEAST}")
    if anchors is None and n <= K:
        raise RankError(f"--dim {K} needs more than {K} items, found {n:,}", do="lower --dim")
    for vectors, named in ((items, "the items"), (anchors, "--anchors")):
        if isinstance(vectors, Vectors):
            check_finite(vectors, range(len(vectors.words)), named, "check the vectors")


def _dimension(inputs: Mapping[str, Any], options: Options) -> int:
    """Return K. Raises OptionError for a --dim that is not that of --anchors or --init."""
    given = [(name, int(inputs[name].matrix.shape[1])) for name in ("anchors", "init")
             if name in inputs]  # fmt: skip
    if options.is_set("dim"):
        given.insert(0, ("dim", options.dim))
    first, dimension = given[0] if given else ("dim", options.dim)
    for name, K in given[1:]:
        if dimension != K:
            what = f"{flag(first)} has dimension {dimension}, {flag(name)} {K}"
            raise OptionError(what, do="pass vectors of the same dimension")
    return dimension


def _result(solution: Solution, embedding: _Embedding, options: Options) -> Result:
    """Return the vectors of a solution, and what to say of it."""
    notes = list(embedding.notes)
    if solution.separated:
        notes.append("items that coincided at the start were moved apart")
    missed = not (solution.reached or options.batch)
    if missed:
        fell = f"the average distortion fell from {solution.values[0]:.5g} to"
        end = f"{solution.distortion:.5g} in {several(options.steps, 'step', 'steps')}"
        notes.append(f"{fell} {end}, and missed --tol {options.tol:g}; raise --steps")
    steps = _sampled(len(solution.lengths))
    courses = {
        "distortions": solution.values[-len(solution.lengths):], "step_lengths": solution.lengths,
        "gradient_norms": solution.norms[1:],
    }  # fmt: skip
    statistics = {
        **embedding.statistics,
        "average_distortion": solution.distortion, "gradient_norm": solution.norm,
        "distortion_at_start": solution.values[0], "steps": len(solution.lengths),
        "course_steps": steps,
        **{name: [course[k - 1] for k in steps] for name, course in courses.items() if course},
    }  # fmt: skip
    return Result(np.ascontiguousarray(solution.vectors, np.float32), {}, notes, statistics,
                  Status.of(missed=missed, deficient=False))  # fmt: skip


def _sampled(steps: int) -> list[int]:
    """Return the steps of a course from 1: all, or some at equal ratios."""
    if steps <= _POINTS:
        return list(range(1, steps + 1))
    chosen: list[int] = np.unique(np.geomspace(1, steps, _POINTS).round().astype(int)).tolist()
    return chosen

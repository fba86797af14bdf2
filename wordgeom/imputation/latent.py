"""Latent semantic imputation (Yao et al. 2019): vectors for entities without one.

Build a graph of neighbours, fit weights that reconstruct each entity from its neighbours, and
solve for vectors that are the same weighted means of their neighbours' vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, cast

import numpy as np

from wordgeom.core.errors import OptionError
from wordgeom.core.formatting import several
from wordgeom.core.types import Array, Csr, Float64, Int64
from wordgeom.imputation import baselines
from wordgeom.imputation.graph import Graph, neighbour_graph
from wordgeom.imputation.name_order import name_order
from wordgeom.imputation.options import EXACT, ImputeOptions
from wordgeom.imputation.reattachment import reattach
from wordgeom.imputation.solve import Solution, solve_exact, solve_power
from wordgeom.imputation.tables.matching import Anchors
from wordgeom.imputation.trust import Trust, assess_trust
from wordgeom.imputation.validation import Validation, check_folds, validate
from wordgeom.imputation.weights import Weights, fit_weights
from wordgeom.runtime.block_map import saved
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.runtime.progress import Progress
from wordgeom.runtime.scheduler import Result

IMPUTATION = "imputation"
_EDGE = 40  # bytes of a neighbour: in the graph, the weights and the system
_QUANTILES = {"least": 0.0, "quarter": 0.25, "median": 0.5, "three quarters": 0.75, "most": 1.0}


@dataclass(frozen=True, eq=False)
class Imputation:
    """Vectors (q × K) float64 of the q unknown entities, ascending, with trust and statistics."""

    vectors: Float64
    trust: Trust
    validation: Validation | None
    statistics: dict[str, Any]
    notes: list[str]


def impute(
    names: Sequence[str],
    points: Float64,
    anchors: Anchors,
    options: ImputeOptions,
    context: Context,
    further: Sequence[baselines.Baseline] = (),
) -> Imputation:
    """Return vectors for the entities of `points` (n × d) that are not anchors.

    further: baselines of the validation, beside those of baselines.py. Raises OptionError for more
    neighbours than other entities, or more folds than anchors.
    """
    if anchors.known.all() and not options.validate:
        return _all_known(names, points, anchors, context)
    _check_options(options, len(points), anchors)
    system = _System.of(points, name_order(names), anchors.known, options, context)
    if anchors.known.all():
        result = _all_known(names, points, anchors, context)
    else:
        result = _impute_unknown(system, names, points, anchors)
    if not options.validate:
        return result
    order = name_order([names[entity] for entity in anchors.entities])
    predictors = _predictors(system, points, anchors, order, context)
    predictors |= {each.name: each.make(order) for each in further}
    checked = validate(predictors, anchors.matrix[order], options.validate, context)
    notes = [*_ridge_notes(len(anchors.matrix), points.shape[1]), *(b.note for b in further)]
    return replace(result, validation=replace(checked, notes=(*checked.notes, *notes)))


def _check_options(options: ImputeOptions, n: int, anchors: Anchors) -> None:
    if options.delta >= n:
        do = f"pass --delta {n - 1} or less" if n > 1 else "add entities"
        raise OptionError(f"--delta {options.delta} needs more than {n:,} entities", do=do)
    if options.validate:
        check_folds(anchors.matrix, options.validate)


@dataclass(frozen=True, eq=False)
class _Solved:
    """A solution with its weights (q × n), and the numbers of the reattached entities."""

    solution: Solution
    weights: Csr
    reattached: Int64


@dataclass(frozen=True, eq=False)
class _System:
    """Weights of the entities `rows`: the unknown ones, or for validation all."""

    graph: Graph
    rows: Int64
    fitted: Weights
    options: ImputeOptions
    context: Context

    @classmethod
    def of(
        cls,
        points: Float64,
        order: Int64,
        known: Array,
        options: ImputeOptions,
        context: Context,
    ) -> Self:
        """Build the graph of the points (n × d) and fit the weights; order (n): breaks ties."""
        graph = _graph(points, order, options, context)
        _check_edges(len(graph.indices), options.delta * len(points), context.memory)
        rows = np.arange(len(points)) if options.validate else np.flatnonzero(~known)
        kind = cast(Literal["simplex", "nnls"], options.weights)
        fitted = fit_weights(points, graph, rows, kind, options.weight_epsilon, context)
        return cls(graph, rows, fitted, options, context)

    def solve(self, known: Array, anchors: Float64, progress: Progress) -> _Solved:
        """Return vectors of the entities that are not `known` (n), given anchors (p × K)."""
        unknown = np.flatnonzero(~known)
        options = self.options
        weights = self.fitted.matrix.select(np.searchsorted(self.rows, unknown))
        weights, reattached = reattach(weights, self.graph, unknown, known)
        if options.solver == EXACT:
            found = solve_exact(weights, known, anchors, self.context.pool, progress)
        else:
            found = solve_power(
                weights, known, anchors, options.eta, options.max_iterations, self.context.pool,
                progress,
            )  # fmt: skip
        return _Solved(found, weights, reattached)


def _check_edges(edges: int, usual: int, memory: int) -> None:
    """Raise InputError where ties cause more edges than memory holds."""
    if edges > 2 * usual:
        what = f"the {edges:,} edges of a table with many tied entities"
        check_memory(what, _EDGE * edges, memory, "raise --memory, or drop entities that are alike")


def _graph(points: Float64, order: Int64, options: ImputeOptions, context: Context) -> Graph:
    """Return the graph of the points (n × d), which an interrupted run may have saved."""

    def compute() -> Result:
        graph = neighbour_graph(
            points, options.delta, context.pool, context.progress, how=options.neighbours,
            order=order,
        )  # fmt: skip
        quality = np.array([float(graph.exact), graph.recall])
        return {"indptr": graph.indptr, "indices": graph.indices, "tree": graph.tree,
                "tied": np.asarray(graph.tied), "excluded": np.asarray(graph.excluded),
                "quality": quality}  # fmt: skip

    found = saved("graph-with-ties", compute, context)
    exact, recall = found["quality"].tolist()
    return Graph(
        found["indptr"], found["indices"], found["tree"], bool(exact), recall, found["tied"],
        found["excluded"],
    )  # fmt: skip


def _predictors(
    system: _System, points: Float64, anchors: Anchors, order: Int64, context: Context
) -> dict[str, baselines.Predict]:
    """Return the predictors of hidden vectors, imputation first.

    order (p): the anchors in the order of their names, by whose positions they are hidden, so that
    nothing depends on the order of the rows.
    """

    def ours(hidden: Int64, visible: Int64) -> Float64:
        known, given = np.zeros(len(points), np.bool_), np.sort(order[visible])
        known[anchors.entities[given]] = True
        solved = system.solve(known, anchors.matrix[given], Progress())
        place = np.searchsorted(np.flatnonzero(~known), anchors.entities[order[hidden]])
        return solved.solution.vectors[place]

    entities, matrix = np.arange(len(order)), anchors.matrix[order]
    described = points[anchors.entities[order]]
    return {
        IMPUTATION: ours,
        "mean vector": baselines.mean_vector(matrix),
        "nearest known": baselines.nearest_anchor(described, entities, matrix, context.pool),
        "ridge": baselines.ridge(described, entities, matrix, context.seed),
    }


def _ridge_notes(known: int, columns: int) -> list[str]:
    most = baselines.ridge_rows(known, columns)
    note = f"ridge regression used at most {most:,} known vectors, drawn at random"
    return [note] if most < known else []


def _impute_unknown(
    system: _System, names: Sequence[str], points: Float64, anchors: Anchors
) -> Imputation:
    """Impute the unknown entities from all anchors."""
    graph, context = system.graph, system.context
    solved = system.solve(anchors.known, anchors.matrix, context.progress)
    trust = assess_trust(
        names, points, anchors.known, graph, solved.weights, solved.reattached, context.pool
    )  # fmt: skip
    return Imputation(
        solved.solution.vectors, trust, None, _statistics(solved, graph, system.fitted, trust),
        [*_notes(solved, graph, system.fitted), *_tie_notes(trust)],
    )  # fmt: skip


def _all_known(
    names: Sequence[str], points: Float64, anchors: Anchors, context: Context
) -> Imputation:
    """Return the result for a domain whose entities are all known."""
    empty = Csr(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0), len(names))
    trust = assess_trust(
        names, points, anchors.known, None, empty, np.empty(0, np.int64), context.pool
    )  # fmt: skip
    return Imputation(np.empty((0, anchors.matrix.shape[1])), trust, None, {}, [])


def _statistics(solved: _Solved, graph: Graph, fitted: Weights, trust: Trust) -> dict[str, Any]:
    solution, imputed = solved.solution, trust.source > 0
    return {
        "edges": len(graph.indices),
        "exact_neighbours": graph.exact,
        "recall": graph.recall,
        "mended": len(solved.reattached),
        "equal_weights": fitted.equal,
        "tied": int(np.count_nonzero(trust.tied)),
        "excluded": int(trust.excluded.sum()),
        "solver": solution.solver,
        "iterations": solution.iterations,
        "residual": solution.residual,
        "change": solution.change,
        "converged": solution.converged,
        "error": _quantiles(trust.error[imputed]),
        "distance": _quantiles(trust.distance[imputed]),
        "distance_of_known": _quantiles(trust.distance[~imputed]),
    }


def _quantiles(values: Float64) -> dict[str, float]:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return {}
    return {name: float(np.quantile(finite, q)) for name, q in _QUANTILES.items()}


def _tie_notes(trust: Trust) -> list[str]:
    tied, excluded = np.count_nonzero(trust.tied), int(trust.excluded.sum())
    if not tied:
        return []
    whose = several(int(tied), "imputed entity has", "imputed entities have")
    note = f"{whose} tied nearest neighbours, all of which are used"
    if excluded:
        limit = "exceed the limit, and a hash of the names chose"
        note = f"{whose} tied nearest neighbours; for {excluded:,} of them, ties {limit}"
    return [f"{note} (column `tied` of the trust table)"]


def _notes(solved: _Solved, graph: Graph, fitted: Weights) -> list[str]:
    notes, solution = [], solved.solution
    if not graph.exact:
        notes.append(f"approximate nearest neighbours: recall {graph.recall:.4f}")
    if fitted.equal:
        whose = several(fitted.equal, "entity has equal weights", "entities have equal weights")
        notes.append(f"{whose}: the fitted ones were all 0")
    if fitted.unconverged:
        whose = several(fitted.unconverged, "entity", "entities")
        notes.append(f"the weights of {whose} did not converge")
    if len(solved.reattached):
        which = several(len(solved.reattached), "entity was", "entities were")
        why = "cut off from all known entities by zero weights"
        notes.append(f"{which} {why}, and reattached along the spanning tree")
    if not solution.converged:
        notes.append(
            f"{solution.solver} did not converge in {solution.iterations:,} iterations: "
            f"residual {solution.residual:.2g}"
        )
    return notes

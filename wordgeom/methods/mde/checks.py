"""What a run says of its result (§2.6): distortions of the pairs, and of pairs that it left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wordgeom.core.formatting import several
from wordgeom.core.types import Array
from wordgeom.methods.mde import validation
from wordgeom.methods.mde.construction import Graph
from wordgeom.methods.mde.distortions import ATTRACTIVE, REPULSIVE
from wordgeom.methods.mde.graphs.keys import keys_of
from wordgeom.methods.mde.problem import Distortion, Term


def divided(graph: Graph, share: float, n: int, rng: np.random.Generator) -> tuple[Graph, Graph]:
    """Return the graph without a random share of the pairs of each kind, and that share.

    The start is computed without them too. Raises OptionError where a side would be empty.
    """
    kinds = [kind for kind in ("similar", "dissimilar", "deviations") if len(getattr(graph, kind))]
    pairs = [getattr(graph, kind) for kind in kinds]
    parts = [validation.hold_out(each, share, rng) for each in pairs]
    fitted: dict[str, Any] = {kind: part[0] for kind, part in zip(kinds, parts, strict=True)}
    held: dict[str, Any] = {kind: part[1] for kind, part in zip(kinds, parts, strict=True)}
    hidden = np.sort(np.concatenate([keys_of(part[1], n) for part in parts]))
    near = graph.near.chosen(~np.isin(keys_of(graph.near, n), hidden))
    alone = validation.stranded(pairs, [part[0] for part in parts], n)
    notes = list(graph.notes)
    if alone:
        items = several(alone, "item has", "items have")
        notes.append(f"{items} no pairs but those of --hold-out")
    sample = None if graph.sample is None else graph.sample.less(hidden)
    kept = replace(graph, **fitted, near=near, notes=notes, sample=sample)
    return kept, replace(graph, **held)


def checks(
    terms: Sequence[Term], vectors: Array, words: Sequence[str],
    parts: tuple[Sequence[Term], Sequence[Term]] | None = None,
) -> tuple[dict[str, Any], list[str]]:  # fmt: skip
    """Return statistics and notes on the distortions of pairs between vectors (n × m).

    parts: pairs that were fitted and pairs that were held out, drawn alike, to be compared.
    """
    found = _judged(terms, vectors)
    statistics = {"distortion_of_pairs": validation.distortions(found, words)}
    notes = [validation.worst_line(found, words)]
    if parts is not None:
        fitted, held = (_judged(part, vectors) for part in parts)
        statistics["held_out"] = validation.held_out(fitted, held)
        notes.append(validation.held_out_line(fitted, held))
    return statistics, notes


def _judged(terms: Sequence[Term], vectors: Array) -> list[validation.Judged]:
    return [
        validation.judged(_kind(term.distortion), term.pairs, term.distortion, vectors)
        for term in terms
    ]


def _kind(distortion: Distortion) -> str:
    """Return what messages call the pairs with a distortion function."""
    if type(distortion) in ATTRACTIVE.values():
        return "similar pairs"
    return "dissimilar pairs" if type(distortion) in REPULSIVE.values() else "pairs"

"""The threshold of a run, the memory that it needs, and what it says of its result."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import several
from wordgeom.core.types import Float64
from wordgeom.linalg.nearest_neighbours import nearest_to
from wordgeom.linalg.thresholded_join import PANEL, count_cosines
from wordgeom.methods.tsm.options import Options
from wordgeom.methods.tsm.similarities import Similarities, unit_rows
from wordgeom.methods.tsm.solve import Matching, Settings, match
from wordgeom.methods.tsm.tiles import scratch_bytes
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

_PAIR = 8  # bytes of a similar pair, column and value
_SAMPLE = 2000  # items whose nearest neighbour decides which τ to recommend
_ALONE, _ENOUGH = 0.5, 0.05  # shares of items without similar ones: an error, and a good τ


class Plan:
    """A matching of points (n × K): its threshold, checks and statistics."""

    def __init__(self, points: Float64, options: Options, context: Context) -> None:
        self._points, self._options, self._context = points, options, context
        self.notes: list[str] = []
        n = len(points)
        self._check_memory(0)
        cosines = count_cosines(unit_rows(points), context.pool, context.progress)
        self.threshold = options.tau or cosines.quantile(options.sparsity)
        if not 0.0 < self.threshold < 1.0:
            what = (
                f"a sparsity of {options.sparsity:g} is reached at a cosine of {self.threshold:.4f}"
            )
            raise InputError(f"{what}, but τ must be above 0 and below 1", do="pass --tau")
        self._check_memory(cosines.above(self.threshold) + n)

    def match(self) -> Matching:
        """Return the matching. Raises InputError where most items are alone."""
        options = self._options
        settings = Settings(
            options.dim, self.threshold, options.updates, options.momentum, options.sum_constraint,
            options.low_memory,
        )  # fmt: skip
        return match(self._points, settings, self._context, self._check_alone)

    def statistics(self, matching: Matching) -> dict[str, Any]:
        """Return numbers for the run card."""
        n, similar = len(self._points), matching.similar
        return {
            "tau": self.threshold, "matched": n, "similar_pairs": matching.similar_pairs,
            "sparsity": 1.0 - matching.similar_pairs / (n * (n - 1) / 2),
            "alone": matching.alone, "virtual_inputs": matching.virtual,
            "updates": len(matching.objectives) - 1, "shifted_updates": matching.shifts,
            "entries_of_s": similar.positive, "objective_at_start": matching.relative[0],
            "objective": matching.relative[-1],
            "eigenvalues": matching.embedding.eigenvalues.tolist(),
        }  # fmt: skip

    def _check_alone(self, similar: Similarities, alone: int) -> None:
        n = similar.rows
        if not alone:
            return
        better = self._better_threshold()
        items = several(alone, "item has", "items have")
        what = f"{items} no other at a cosine above τ = {self.threshold:.4f}, of {n:,}"
        if alone > _ALONE * n:
            do = "project them with wordgeom transform --dim"
            if better:
                do = f"pass --tau {better:.4f} or less, or lower --sparsity"
            raise InputError(what, do=do)
        line = f"{what}: joined to the nearest by virtual inputs"
        many = better and alone > _ENOUGH * n
        self.notes.append(f"{line}; --tau {better:.4f} leaves few alone" if many else line)

    def _better_threshold(self) -> float:
        """Return the τ at which a sample of items has a twentieth alone, 0 if none has."""
        points = self._points
        units = points / np.sqrt(np.einsum("ij,ij->i", points, points))[:, None]
        sample = np.arange(0, len(units), max(1, len(units) // _SAMPLE))
        _, squared = nearest_to(units, sample, np.arange(len(units)), self._context.pool)
        cosines = 1.0 - squared / 2.0
        return max(round(float(np.quantile(cosines, _ENOUGH)), 4), 0.0)

    def _check_memory(self, pairs: int) -> None:
        """Raise InputError where Z, S, the points and products in flight exceed the limit."""
        options, n, threads = self._options, len(self._points), self._context.pool.threads
        numbers = 0 if options.low_memory else n * (n + PANEL) // 2
        matrices = 2 if options.momentum else 1
        columns = 2 * (options.dim + 1)
        needed = 4 * numbers * matrices + _PAIR * pairs + 12 * self._points.size
        needed += scratch_bytes(n, columns, threads) + 6 * 4 * n * columns
        needed += 4 * 128 * n * threads  # products of the join
        what = f"the matrices of {n:,} items at --dim {options.dim}"
        do = "raise --memory, or pass --landmarks" + ("" if options.low_memory else
             " or --low-memory")  # fmt: skip
        check_memory(what, needed, self._context.memory, do)

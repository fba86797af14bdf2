"""Vectors for new words, from their co-occurrences with known words, whose vectors stay fixed.

Each new word is one row problem of a weighted sweep (anchored_rows.py), with the vectors of known
words, the anchors, as the other factor. calibration.py maps its solution to a vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from wordgeom.core.ops import Ops, Tall
from wordgeom.core.options import Options, option
from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Array, Csr, Float32, Int32, Int64
from wordgeom.methods.gbu.anchored_rows import AnchoredRows
from wordgeom.runtime.block_map import map_blocks
from wordgeom.runtime.context import Context
from wordgeom.runtime.scheduler import Result as Saved


@dataclass(frozen=True)
class ExtendOptions(Options):
    """Options of `extend`."""

    anchors: int = option(
        0, "number of anchors, the most frequent known words; 0: all known words", low=0,
        metavar="M",
    )  # fmt: skip
    min_pairs: int = option(
        5, "minimum number of known words that a new word co-occurs with", low=1, metavar="N"
    )
    drop_zero: bool = option(False, "drop zero vectors; their words count as new")
    keep_only_new: bool = option(False, "write only the new words")


@dataclass(frozen=True)
class Anchored:
    """Row problems against anchors.

    targets (V × V): g_ij of all observed pairs; weights (nnz): c_ij or C_ij^α; place (V): row of an
    anchor in `vectors`, -1 for other words; vectors (m × K) float32: of the anchors; problem: that
    of the loss.
    """

    targets: Csr
    weights: Float32
    place: Int32
    vectors: Float32
    problem: AnchoredRows

    def pairs(self) -> Int64:
        """Return how many other words (V) among the anchors each word co-occurs with."""
        numbers = np.zeros(self.targets.rows, np.int64)
        for start, stop in row_blocks(self.targets.indptr):
            numbers[start:stop] = np.diff(self._anchor_pairs(np.arange(start, stop))[0].indptr)
        return numbers

    def solve(self, rows: Int64, context: Context, name: str) -> tuple[Array, int]:
        """Return the rows' solutions (n × K) float32 and the number that missed the tolerance.

        A row's own column is excluded. Solutions do not depend on the scale of the vectors. name:
        of the solutions in a checkpoint.
        """
        squares = np.einsum("ij,ij->", self.vectors, self.vectors, dtype=np.float64)
        norm = np.float32(np.sqrt(squares / len(self.vectors)) / self.problem.norm)
        other = context.ops.tall(self.vectors / norm, np.float32)
        lengths = self.targets.indptr[rows + 1] - self.targets.indptr[rows]
        ends = row_blocks(np.concatenate(([0], np.cumsum(lengths))))
        blocks = [rows[start:stop] for start, stop in ends]
        solve = partial(self._solve_block, other)
        done = map_blocks(solve, blocks, context.ops, context, name, serial=True)
        parts = list(
            context.progress.follow(
                done, "rows", len(rows), "rows", lambda part: len(part["solutions"])
            )
        )
        missed = sum(int(part["missed"][0]) for part in parts)
        empty = np.zeros((0, self.vectors.shape[1]), np.float32)
        return np.concatenate([empty, *(part["solutions"] for part in parts)]), missed

    def _solve_block(self, other: Tall, rows: Int64, ops: Ops) -> Saved:
        solution, missed = self.problem.solve(rows, *self._anchor_pairs(rows), other, ops)
        return {"solutions": ops.to_numpy(solution), "missed": np.array([missed])}

    def _anchor_pairs(self, rows: Int64) -> tuple[Csr, Float32]:
        """Return the targets (n × m) of the rows' pairs with other anchors, and their weights."""
        begins = self.targets.indptr[rows]
        lengths = self.targets.indptr[rows + 1] - begins
        before = np.cumsum(lengths) - lengths
        entries = np.arange(int(lengths.sum())) + np.repeat(begins - before, lengths)
        columns = self.place[self.targets.indices[entries]]
        kept = (columns >= 0) & (columns != np.repeat(self.place[rows], lengths))
        running = np.concatenate(([0], np.cumsum(kept)))
        indptr = running[np.concatenate((before, [len(kept)]))]
        entries = entries[kept]
        targets = Csr(indptr, columns[kept], self.targets.data[entries], len(self.vectors))
        return targets, self.weights[entries]

"""Vectors for new words, from their counts with known ones, whose vectors are held.

A new word's row problem (linalg/rows.py) is that of a weighted sweep, with the vectors of known
words, its anchors, as the other factor. What takes its solution to a vector like theirs, and how
far that is to be trusted, known words tell, solved likewise (calibration.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.ops import Ops
from wordgeom.core.options import Options, option
from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Array, Csr, Float32, Int32, Int64
from wordgeom.linalg.row_solver import Penalty, solve_rows
from wordgeom.runtime.progress import Progress

_TOL = 1e-3  # of a row's residual


@dataclass(frozen=True)
class ExtendOptions(Options):
    """How new words get vectors."""

    anchors: int = option(
        0, "solve against so many known words, the most frequent; 0: against all", low=0,
        metavar="M",
    )  # fmt: skip
    min_pairs: int = option(
        5, "known words that a new word must have been counted with", low=1, metavar="N"
    )
    keep_only_new: bool = option(False, "write the new words alone")


@dataclass(frozen=True)
class Anchored:
    """Counts against anchors.

    targets (V × V): g_ij of all pairs that were counted; weights (nnz): c_ij; place (V): where an
    anchor's vector stands, -1 for other words; vectors (m × K) float32 of the anchors.
    """

    targets: Csr
    weights: Float32
    place: Int32
    vectors: Float32

    def pairs(self) -> Int64:
        """(V) how many anchors each word was counted with, itself aside."""
        found = np.zeros(self.targets.rows, np.int64)
        for start, stop in row_blocks(self.targets.indptr):
            found[start:stop] = np.diff(self._picked(np.arange(start, stop))[0].indptr)
        return found

    def solve(self, rows: Int64, held: Penalty, ops: Ops, progress: Progress) -> tuple[Array, int]:
        """Return each row's solution x (n × K) float32, and how many missed the tolerance.

        A row's own column is left out. Of vectors of any scale x is the same: the anchors are
        brought to a mean square length of 1, as background and ridge are stated for vectors whose
        products are weighted counts.
        """
        squares = np.einsum("ij,ij->", self.vectors, self.vectors, dtype=np.float64)
        length = np.float32(np.sqrt(squares / len(self.vectors)))
        other = ops.tall(self.vectors / length, np.float32)
        lengths = self.targets.indptr[rows + 1] - self.targets.indptr[rows]
        found = np.zeros((len(rows), self.vectors.shape[1]), np.float32)
        blocks = iter(row_blocks(np.concatenate(([0], np.cumsum(lengths)))))
        followed = progress.follow(blocks, "rows", len(rows), "rows", lambda b: b[1] - b[0])
        missed = 0
        for start, stop in followed:
            solver = ops.row_solver(*self._picked(rows[start:stop]))
            begin = ops.tall(found[start:stop], np.float32)
            made = solve_rows(solver, other, begin, held, _TOL, ops)
            found[start:stop] = ops.to_numpy(made.solution)
            missed += made.missed
        return found, missed

    def _picked(self, rows: Int64) -> tuple[Csr, Float32]:
        """Return the rows' pairs with anchors (n × m), and their weights."""
        begins = self.targets.indptr[rows]
        lengths = self.targets.indptr[rows + 1] - begins
        before = np.cumsum(lengths) - lengths
        entries = np.arange(int(lengths.sum())) + np.repeat(begins - before, lengths)
        columns = self.place[self.targets.indices[entries]]
        kept = (columns >= 0) & (columns != np.repeat(self.place[rows], lengths))
        running = np.concatenate(([0], np.cumsum(kept)))
        indptr = running[np.concatenate((before, [len(kept)]))]
        entries = entries[kept]
        picked = Csr(indptr, columns[kept], self.targets.data[entries], len(self.vectors))
        return picked, self.weights[entries]

"""The stage that weights counts by pointwise mutual information."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from wordgeom.checkpoint.matrix_rows import MatrixRows
from wordgeom.core.formatting import plural
from wordgeom.core.requests import request_of
from wordgeom.core.types import Csr
from wordgeom.matrices.cooccurrence import COOC, PMI, StoredMatrix, csr_bytes
from wordgeom.matrices.opening import open_matrix
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.stages.stage import Job, Outcome
from wordgeom.stages.store_stage import StoreStage
from wordgeom.storage.disk_space import Demand, Space
from wordgeom.weighting import cluster_pmi
from wordgeom.weighting.options import PmiOptions
from wordgeom.weighting.pmi import WeightedMatrix

_AHEAD = 8  # blocks of rows held at most, at any number of threads


@dataclass(frozen=True)
class BuildPmi(StoreStage):
    """Weight the counts of one store into another."""

    counts: Path
    out: Path
    weighting: PmiOptions
    run: RunOptions
    resume: ResumeOptions = field(default_factory=ResumeOptions)

    kind: ClassVar[str] = PMI

    @cached_property
    def matrix(self) -> StoredMatrix:
        """The counts. Raises what `open_matrix` raises."""
        return open_matrix(self.counts, (COOC,))

    @property
    def input_paths(self) -> tuple[Path, ...]:
        """The counts."""
        return (self.counts,)

    @cached_property
    def request(self) -> dict[str, Any]:
        """The weighting and the digest of the counts."""
        options = self.weighting.result_options()
        return request_of("build-pmi", options, [self.matrix.store.digest])

    @property
    def demand(self) -> Demand:
        """The size of the counts in float32; at least, their words without any pair."""
        matrix, words = self.matrix, len(self.matrix.vocabulary)
        vocabulary = matrix.store.array("vocab").length
        least, most = (csr_bytes(words, n, np.float32, vocabulary) for n in (0, matrix.stored))
        return Demand(Space(least, most))

    def work(self, job: Job) -> Outcome:
        """Weight all rows, and commit the store."""
        matrix = self.matrix
        with MatrixRows(job.checkpoint, self.out, PMI) as rows:
            weighted = WeightedMatrix(matrix, self.weighting, job.context.pool)
            _write(weighted, rows, job.context)
            attributes = rows.finish({"triangle": "upper" if matrix.symmetric else ""})
            card = job.card(self.request) | {"parent": os.path.relpath(matrix.path, self.out)}
            made = rows.writer.commit(attributes, card)
        at = made.attributes
        words, pairs = plural(at["shape"][0], "word"), plural(matrix.stored, "pair")
        summary = f"{made.path}: {words}, {at['stored']:,} of {pairs}; {job.seconds()}"
        return Outcome(summary, self.out, value=made)


def _write(weighted: WeightedMatrix, rows: MatrixRows, context: Context) -> None:
    rows.begin(weighted.vocabulary, np.float32)
    for _ in rows.earlier():  # verified, since more rows are to follow them
        pass
    left = [(max(start, rows.done), stop) for start, stop in weighted.row_blocks()]
    blocks = _weighted([b for b in left if b[0] < b[1]], weighted, context)
    words = len(weighted.vocabulary)
    followed = context.progress.follow(
        blocks, "weighting", words, "rows", lambda b: b.rows, done=rows.done
    )
    rows.write((np.diff(block.indptr), block.indices, block.data) for block in followed)


def _weighted(
    blocks: list[tuple[int, int]], weighted: WeightedMatrix, context: Context
) -> Iterator[Csr]:
    """Yield the weighted rows of the blocks, on the pool or on a cluster."""
    if context.cluster is not None and weighted.counts.stored >= cluster_pmi.WORTH:
        return cluster_pmi.weigh_on_cluster(weighted, blocks, context.cluster)
    ahead = min(2 * context.pool.threads, _AHEAD)
    return context.pool.map(lambda block: weighted.rows(*block), blocks, ahead=ahead)

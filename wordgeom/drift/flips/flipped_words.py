"""Statistics of words under sign flips, in blocks of words, here or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from wordgeom.core.types import Csr, Float32, Float64
from wordgeom.drift.flips.cells import Cells
from wordgeom.drift.flips.moments import Moments
from wordgeom.drift.flips.scores import ScoreModel
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.block_map import map_joined
from wordgeom.runtime.context import Context
from wordgeom.runtime.scheduler import Result, Scheduler, Shared

_BLOCKS = 4  # of a task on a cluster: some .2 to 2 s
_TOGETHER = 16  # blocks whose statistics are saved as one: some megabytes


@dataclass(frozen=True, eq=False)
class FlippedWords:
    """Words' columns (p × n), and signs (B × c) of the cells."""

    model: ScoreModel
    columns: Csr
    signs: Float32

    def open(self) -> FlippedWords:
        """Return the words, as `_SharedWords.open` does."""
        return self

    def statistics(self, words: slice) -> tuple[Float32, Float64]:
        """Return F (B+1 × w) and turn (w) of a slice of words."""
        part = self.columns.block(words.start, words.stop)
        scores = self.model.scores(self.model.moments.of_words(part, words.start))
        F = np.empty((len(self.signs) + 1, part.rows), np.float32)
        weights = np.repeat(1.0 / np.arange(1, self.model.degree + 1), self.model.moments.rank)
        pairs = zip(scores.total * weights, scores.parts * weights, strict=True)
        for j, (total, parts) in enumerate(pairs):
            spread = float(np.sum(parts**2))
            scale = spread**-0.5 if spread > 0.0 else np.nan  # without scores
            flipped = self.signs @ (parts * scale).astype(np.float32)
            F[0, j] = np.sum((total * scale) ** 2)
            F[1:, j] = np.einsum("bm,bm->b", flipped, flipped)
        return F, scores.turn


@dataclass(frozen=True)
class _SharedWords:
    """FlippedWords as the spec of a map holds them.

    cells, moments: the arrays of Cells and of Moments; columns: indptr, indices and data of Xᵀ.
    """

    cells: tuple[Shared, ...]
    moments: tuple[Shared, ...]
    levels: Shared
    columns: tuple[Shared, ...]
    signs: Shared
    passages: int

    @classmethod
    def of(cls, task: FlippedWords, scheduler: Scheduler) -> _SharedWords:
        """Share what blocks of words read; raises WriteError."""
        share, X, of = scheduler.share, task.columns, task.model.moments
        cells = tuple(share(getattr(of.cells, field.name)) for field in fields(Cells))
        arrays = tuple(share(getattr(of, field.name)) for field in fields(Moments)[1:])
        columns = share(X.indptr), share(X.indices), share(X.data)
        levels, signs = share(task.model.levels), share(task.signs)
        return cls(cells, arrays, levels, columns, signs, X.columns)

    def open(self) -> FlippedWords:
        """Return the words."""
        cells = Cells(*(array.open() for array in self.cells))
        moments = Moments(cells, *(array.open() for array in self.moments))
        indptr, indices, data = (array.open() for array in self.columns)
        model = ScoreModel(moments, self.levels.open())
        return FlippedWords(model, Csr(indptr, indices, data, self.passages), self.signs.open())

    def release(self, scheduler: Scheduler) -> None:
        """Free the arrays."""
        scheduler.release(*self.cells, *self.moments, self.levels, *self.columns, self.signs)


def statistics_of(
    task: FlippedWords, blocks: Sequence[slice], context: Context
) -> Iterator[tuple[Float32, Float64]]:
    """Yield F (B+1 × w) and turn (w) of all words, in order, some at a time."""
    scheduler, of_task = context.cluster, 1 if context.cluster is None else _BLOCKS
    bounds = [(block.start, block.stop) for block in blocks]
    tasks = [tuple(bounds[k : k + of_task]) for k in range(0, len(bounds), of_task)]
    spec = task if scheduler is None else _SharedWords.of(task, scheduler)
    done = map_joined(_statistics, tasks, lambda: spec, context, "flips", _TOGETHER // of_task)
    for made in done:
        yield made["statistics"], made["turn"]
    if isinstance(spec, _SharedWords):
        spec.release(context.scheduler)


def _statistics(blocks: tuple[tuple[int, int], ...], spec: FlippedWords | _SharedWords) -> Result:
    with one_thread():
        task = spec.open()
        found = [task.statistics(slice(*block)) for block in blocks]
    return {
        "statistics": np.concatenate([F for F, _ in found], axis=1),
        "turn": np.concatenate([turn for _, turn in found]),
    }

"""Counts of the words of each document, one block of the stream of ids after the other.

A block has a constant number of ids and may begin and end inside a document, so that one of any
length takes no more memory than a short one: its parts are added up as they come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Int32, Int64
from wordgeom.counts import document_kernels
from wordgeom.runtime.pool import Pool, Reusable
from wordgeom.storage.id_stream import Ids

BLOCK = 1 << 20  # ids counted at once: about 10 ms
Entries = tuple[Int64, Int32, Array]  # of rows: lengths, columns (ascending in each), counts


class DocumentCounts:
    """Counts of a stream in which an id V ends each document (`encode_documents`).

    sums, holders (V) int64: of each word, its occurrences in all rows that were yielded, and the
    rows that hold it.
    """

    def __init__(self, stream: Ids, words: int, pool: Pool) -> None:
        self._stream, self._words, self._pool = stream, words, pool
        self.sums, self.holders = np.zeros((2, words), np.int64)

    def rows(self) -> Iterator[Entries]:
        """Yield all rows in order, some at a time; the arrays are good until the next are asked."""
        open_row = _Row(np.empty(0, np.int32), np.empty(0, np.int64))
        for block in self._blocks():
            ended = len(block.lengths) - 1
            first, last = int(block.lengths[0]), int(block.lengths[-1])
            open_row = open_row.plus(block.indices[:first], block.values[:first])
            if not ended:
                continue
            yield self._added(np.array([len(open_row.indices)]), open_row.indices, open_row.values)
            whole = slice(first, len(block.indices) - last)
            yield self._added(block.lengths[1:ended], block.indices[whole], block.values[whole])
            rest = slice(len(block.indices) - last, None)
            open_row = _Row(block.indices[rest].copy(), block.values[rest].astype(np.int64))

    def _added(self, lengths: Int64, indices: Int32, values: Array) -> Entries:
        document_kernels.add_rows(indices, values, self.sums, self.holders)
        return lengths, indices, values

    def _blocks(self) -> Iterator[_Block]:
        """Yield what is counted in each block; the first row and the last may go on elsewhere."""
        benches, buffers = Reusable(lambda: _Bench(self._words)), Reusable(_Buffers)
        stream = self._stream
        parts = (stream.read(at, at + BLOCK) for at in range(0, stream.length, BLOCK))

        def run(ids: Int32) -> tuple[_Block, _Buffers]:
            bench, room = benches.take(), buffers.take()
            rows = document_kernels.count_documents(
                ids, self._words, bench.cells, bench.marks, bench.groups,
                room.lengths, room.indices, room.values,
            )  # fmt: skip
            benches.give_back(bench)
            lengths = room.lengths[:rows]
            entries = int(lengths.sum())
            return _Block(lengths, room.indices[:entries], room.values[:entries]), room

        for block, room in self._pool.map(run, parts):
            yield block
            buffers.give_back(room)


@dataclass(frozen=True)
class _Block:
    lengths: Int64
    indices: Int32
    values: Array


@dataclass(frozen=True)
class _Row:
    """A row as far as it was counted: columns, ascending, and counts."""

    indices: Int32
    values: Int64

    def plus(self, indices: Int32, values: Array) -> _Row:
        """Return the row with more entries."""
        both = np.concatenate((self.indices, indices))
        columns, places = np.unique(both, return_inverse=True)
        sums = np.zeros(len(columns), np.int64)
        np.add.at(sums, places, np.concatenate((self.values, values)))
        return _Row(columns, sums)


class _Bench:
    """What a thread counts in: a cell for each word, a bit for each cell, one for 64 of these."""

    def __init__(self, words: int) -> None:
        marks = -(-words // 64)
        self.cells = np.zeros(words, np.int32)
        self.marks = np.zeros(marks, np.uint64)
        self.groups = np.zeros(-(-marks // 64), np.uint64)


class _Buffers:
    """Room for the rows of a block."""

    def __init__(self) -> None:
        self.lengths = np.empty(BLOCK + 1, np.int64)
        self.indices = np.empty(BLOCK, np.int32)
        self.values = np.empty(BLOCK, np.int32)

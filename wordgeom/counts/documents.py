"""Count the words of each document, one block of the stream of ids at a time.

A block has a constant number of ids and may begin and end within a document. The parts of a
document are summed, so that a long document takes no more memory than a short one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Int32, Int64
from wordgeom.counts import document_kernels
from wordgeom.runtime.pool import LOOKAHEAD, Pool, Reusable
from wordgeom.storage.id_stream import Ids

BLOCK = 1 << 20  # ids counted at once: about 10 ms
_FEWEST, _ID_BYTES = 1 << 16, 20  # of an id in a block, with room for its count and for a row
Entries = tuple[Int64, Int32, Array]  # lengths of rows, columns (ascending in each row), counts


def ids_at_once(room: int, threads: int) -> int:
    """Return the ids of a block of which all in work and in line take at most `room` bytes."""
    return min(max(room // ((threads * LOOKAHEAD + 2) * _ID_BYTES), _FEWEST), BLOCK)


class DocumentCounts:
    """Counts of a stream in which an id V ends each document (`encode_documents`).

    sums, document_frequencies (V) int64: total count of each word, and number of rows with it, in
    all rows yielded so far. block: ids counted at once.
    """

    def __init__(self, stream: Ids, words: int, pool: Pool, block: int = BLOCK) -> None:
        self._stream, self._words, self._pool, self._block = stream, words, pool, block
        self.sums, self.document_frequencies = np.zeros((2, words), np.int64)

    def rows(self) -> Iterator[Entries]:
        """Yield all rows in order in blocks; the arrays are valid until the next block."""
        open_row = _Row(np.empty(0, np.int32), np.empty(0, np.int64))
        for lengths, indices, values in self._blocks():
            ended = len(lengths) - 1
            first, last = int(lengths[0]), int(lengths[-1])
            open_row = open_row.plus(indices[:first], values[:first])
            if not ended:
                continue
            yield self._added(np.array([len(open_row.indices)]), open_row.indices, open_row.values)
            inner = slice(first, len(indices) - last)
            yield self._added(lengths[1:ended], indices[inner], values[inner])
            rest = slice(len(indices) - last, None)
            open_row = _Row(indices[rest].copy(), values[rest].astype(np.int64))

    def _added(self, lengths: Int64, indices: Int32, values: Array) -> Entries:
        document_kernels.add_rows(indices, values, self.sums, self.document_frequencies)
        return lengths, indices, values

    def _blocks(self) -> Iterator[Entries]:
        """Yield the counts of each block; its first and last row may continue in other blocks."""
        accumulators = Reusable(lambda: _Accumulator(self._words))
        buffers = Reusable(lambda: _Buffers(self._block))
        stream, block = self._stream, self._block
        parts = (stream.read(at, at + block) for at in range(0, stream.length, block))

        def run(ids: Int32) -> tuple[Entries, _Buffers]:
            accumulator, room = accumulators.take(), buffers.take()
            rows = document_kernels.count_documents(
                ids, self._words, accumulator.cells, accumulator.marks, accumulator.groups,
                room.lengths, room.indices, room.values,
            )  # fmt: skip
            accumulators.give_back(accumulator)
            lengths = room.lengths[:rows]
            entries = int(lengths.sum())
            return (lengths, room.indices[:entries], room.values[:entries]), room

        for counted, room in self._pool.map(run, parts):
            yield counted
            buffers.give_back(room)


@dataclass(frozen=True)
class _Row:
    """The counted part of a row: columns, ascending, and counts."""

    indices: Int32
    values: Int64

    def plus(self, indices: Int32, values: Array) -> _Row:
        """Return the sum of the row and other entries."""
        both = np.concatenate((self.indices, indices))
        columns, places = np.unique(both, return_inverse=True)
        sums = np.zeros(len(columns), np.int64)
        np.add.at(sums, places, np.concatenate((self.values, values)))
        return _Row(columns, sums)


class _Accumulator:
    """A thread's accumulator: a cell for each word, a bit for each cell, a bit for 64 of these."""

    def __init__(self, words: int) -> None:
        marks = -(-words // 64)
        self.cells = np.zeros(words, np.int32)
        self.marks = np.zeros(marks, np.uint64)
        self.groups = np.zeros(-(-marks // 64), np.uint64)


class _Buffers:
    """Buffers for the rows of a block."""

    def __init__(self, block: int) -> None:
        self.lengths = np.empty(block + 1, np.int64)
        self.indices = np.empty(block, np.int32)
        self.values = np.empty(block, np.int32)

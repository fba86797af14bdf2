"""Rows and sums of a co-occurrence matrix on their way to its store: shared with `merge`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wordgeom.checkpoint.matrix_rows import MatrixRows
from wordgeom.core.formatting import plural
from wordgeom.core.types import Int64
from wordgeom.counts.count_rows import Rows, Workspace, block_entries, value_type
from wordgeom.counts.windows import WindowOptions, weights
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory, data_room
from wordgeom.runtime.run_options import FLOOR
from wordgeom.storage.store import Store, StoreWriter

_WORD_BYTES, _BENCH_BYTES = 160, 34  # of a word and its sums; of its cell in a thread
_MATRIX_BYTES = 16  # of a word of a matrix that is added up: its count and where its row begins
_COPY_BYTES = 8  # and of the copy of where rows begin that a cluster gets
_BUFFERS_SHARE = 3  # a third of the room for blocks of rows
_LEAST = 1 << 25  # bytes of room, so that a run that is not rejected continues


def counting_room(words: int, context: Context, matrices: int = 0) -> int:
    """Return the bytes that counting may take beside the words.

    matrices: that are added up. Raises InputError where the sums and each thread's cells of so many
    words exceed --memory.
    """
    matrix = _MATRIX_BYTES + (0 if context.cluster is None else _COPY_BYTES)
    each = _WORD_BYTES + _BENCH_BYTES * context.pool.threads + matrix * matrices
    needed = words * each
    do = "raise --memory or --min-count, or pass --max-vocab or fewer --threads"
    check_memory(f"counts of {words:,} words", needed, max(context.memory, FLOOR), do)
    return max(data_room(context.memory) - needed, _LEAST)


def rows_at_once(room: int, dtype: np.dtype[Any], context: Context, matrices: int = 1) -> int:
    """Return the entries of a block of rows, where counting may take `room` bytes.

    matrices: that are added up.
    """
    return block_entries(room // _BUFFERS_SHARE, context.pool.threads, dtype, matrices)


def count_type(most: int, window: WindowOptions) -> np.dtype[Any]:
    """Return the dtype of the counts, from the largest that `most` occurrences of a word allow."""
    return value_type(2 * most * int(weights(window).sum()))


def write_rows(
    counted: Iterator[Rows], shop: Workspace, rows: MatrixRows, context: Context
) -> tuple[Int64, Int64]:
    """Write blocks of rows; return the sums of all rows and columns, resumed rows included."""
    followed = context.progress.follow(
        counted, "counting", shop.words, "rows", lambda r: len(r.lengths), done=rows.done
    )
    rows.write((block.lengths, block.indices, block.values) for block in followed)
    for first, earlier in rows.earlier():
        shop.add(first, earlier)
    return shop.sums()


def write_sums(
    writer: StoreWriter, row_sums: Int64, column_sums: Int64, window: WindowOptions
) -> None:
    """Write the sums of the rows and, where they differ, of the columns."""
    writer.array("rowsums", np.int64).write(row_sums)
    if window.context != "both":
        writer.array("columnsums", np.int64).write(column_sums)


def matrix_shape(made: Store) -> str:
    """Return the size of a words × words matrix, for a summary."""
    at = made.attributes
    return f"{plural(at['shape'][0], 'word')}, {plural(at['stored'], 'pair')}"

"""Map provisional ids to the stream that is counted: for windows, or for documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from wordgeom.core.types import Float64, Int32
from wordgeom.corpus.encoding import row_kernels
from wordgeom.corpus.encoding.document_rows import RowNumbering
from wordgeom.corpus.encoding.encoded_text import EncodedText
from wordgeom.corpus.encoding.memory_limits import id_stream
from wordgeom.corpus.encoding.passages import Splits, repeat_documents
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.runtime.context import Context
from wordgeom.storage.id_stream import Sink

MakeSink = Callable[[int], Sink]
_MAPPED = 1 << 22  # ids mapped at once if the stream goes to a file
_WHOLE = 1 << 62  # tokens of a passage: documents are not split
_END = np.array([-1], np.int32)  # ends the last document


class Totals(NamedTuple):
    """Totals over the stream, as in `EncodedCorpus`."""

    tokens: int
    kept: int
    documents: int
    short: int


def map_windows(
    text: EncodedText,
    options: CorpusOptions,
    gap: int,
    ends: bool,
    short: int,
    context: Context,
    sink: MakeSink | None,
) -> tuple[Sink, Totals]:
    """Return the stream of `encode` and its totals."""
    V = len(text.vocabulary)
    keep = _keep_probability(text.vocabulary, text.tokens, options.sample)
    drop = options.oov == "drop"
    state = np.zeros(6, np.int64)
    out = _StreamWriter(text.length + text.boundaries * gap, V + ends, context, sink)
    most = max(1, _MAPPED // (gap + 1))  # an id becomes at most a gap and itself
    with out:
        for ids, rows in _steps(text, most):
            room = out.room(_MAPPED)
            n = row_kernels.map_ids(
                ids, rows, V, drop, keep, context.seed, gap, V + ends, short, state, room
            )
            out.stream.append(room[:n])
    tokens, documents, length, _, brief, kept = state.tolist()
    return out.stream, Totals(tokens, kept, documents, brief + (0 < length < short))


def map_documents(
    text: EncodedText,
    sources: list[Source],
    options: CorpusOptions,
    context: Context,
    sink: MakeSink | None,
    passages: int | None = None,
) -> tuple[Sink, Totals]:
    """Return the stream of `encode_documents` and its totals."""
    V, size = len(text.vocabulary), passages or _WHOLE
    keep = _keep_probability(text.vocabulary, text.tokens, options.sample)
    listed = sum(source.lines + len(source.documents) for source in sources)
    numbering, state = RowNumbering(sources, options), np.zeros(7, np.int64)
    most = text.length + text.boundaries + listed + len(sources) + text.length // size + 1
    out = _StreamWriter(most, V, context, sink)
    documents, pending, splits = 0, _END[:0], Splits()
    with out:
        for ids, mapping in chain(_steps(text, _MAPPED), [(_END, _END)]):
            rows = numbering.rows(ids)
            documents += len(rows)
            ended = int(rows[-1] - state[2]) if len(rows) else 0
            split = np.empty(len(ids) // size + 1, np.int64)
            room = out.room(len(pending) + len(ids) + ended + len(split))
            room[: len(pending)] = pending
            n = row_kernels.map_documents(
                ids, mapping, V, keep, context.seed, rows, size, state, room, split
            )
            out.stream.append(room[:n])
            pending = room[n : n + int(state[5])].copy()
            splits.add(split[: int(state[6])])
        ends = numbering.finish()
        out.fill(V, ends - int(state[2]))
        if passages is not None:
            repeat_documents(sources, splits.passages(ends), context)
    return out.stream, Totals(int(state[0]), int(state[1]), documents, 0)


def _steps(text: EncodedText, most: int) -> Iterator[tuple[Int32, Int32]]:
    """Yield at most `most` ids at a time, with their map id → row."""
    for ids, rows in text.parts:
        for start in range(0, len(ids), most):
            yield ids[start : start + most], rows


class _StreamWriter:
    """Writes a stream of at most `capacity` ids; closes it if the block fails."""

    def __init__(
        self, capacity: int, outside: int, context: Context, sink: MakeSink | None
    ) -> None:
        memory = id_stream(context)
        # If everything fits, one array is filled from the front and never copied.
        self._array = np.empty(capacity, np.int32) if memory.fits(capacity) else None
        in_memory = self._array is not None or sink is None
        self.stream: Sink = memory if in_memory or sink is None else sink(outside)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is not None:
            self.stream.close()

    def room(self, size: int) -> Int32:
        """Return an array for the next ids."""
        array = self._array
        return np.empty(size, np.int32) if array is None else array[self.stream.length :]

    def fill(self, value: int, number: int) -> None:
        """Append a value `number` times."""
        for start in range(0, number, _MAPPED):
            size = min(_MAPPED, number - start)
            room = self.room(size)
            room[:size] = value
            self.stream.append(room[:size])


def _keep_probability(words: Vocabulary, tokens: int, threshold: float) -> Float64:
    """(V + 1) probability to keep a token: word2vec's (√(f/t) + 1) t/f; empty to keep all."""
    if threshold == 0.0:
        return np.empty(0, np.float64)
    frequency = np.maximum(words.counts, 1) / tokens
    keep = (np.sqrt(frequency / threshold) + 1) * threshold / frequency
    return np.append(np.minimum(keep, 1.0), 1.0)

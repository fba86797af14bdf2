"""Provisional ids → the stream that is counted: of windows, or of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Float64, Int32
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import document_kernels, kernels
from wordgeom.corpus.tokens.document_rows import Numbering
from wordgeom.corpus.tokens.encoded_text import Coded
from wordgeom.corpus.tokens.room import id_stream
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.runtime.context import Context
from wordgeom.storage.id_stream import Sink

MakeSink = Callable[[int], Sink]
_MAPPED = 1 << 22  # ids mapped at once where the stream goes to a file


@dataclass(frozen=True)
class Counted:
    """What was met on the way: see `Encoded`."""

    tokens: int
    kept: int
    documents: int
    short: int = 0


def map_windows(
    coded: Coded,
    options: CorpusOptions,
    gap: int,
    ends: bool,
    short: int,
    context: Context,
    sink: MakeSink | None,
) -> tuple[Sink, Counted]:
    """Return the stream of `encode`, and what it holds."""
    V = len(coded.vocabulary)
    keep = _keep_probability(coded.vocabulary, coded.tokens, options.sample)
    drop = options.oov == "drop"
    state = np.zeros(6, np.int64)
    out = _Output(coded.length + coded.boundaries * gap, V + ends, context, sink)
    most = max(1, _MAPPED // (gap + 1))  # an id becomes at most a gap and itself
    with out:
        for ids, rows in _steps(coded, most):
            room = out.room(_MAPPED)
            n = kernels.map_ids(
                ids, rows, V, drop, keep, context.seed, gap, V + ends, short, state, room
            )
            out.append(room, n)
    tokens, documents, length, _, brief, kept = state.tolist()
    return out.stream, Counted(tokens, kept, documents, brief + (0 < length < short))


def map_documents(
    coded: Coded,
    sources: list[Source],
    options: CorpusOptions,
    context: Context,
    sink: MakeSink | None,
) -> tuple[Sink, Counted]:
    """Return the stream of `encode_documents`, and what it holds."""
    V = len(coded.vocabulary)
    keep = _keep_probability(coded.vocabulary, coded.tokens, options.sample)
    places, state = Numbering(sources, options), np.zeros(4, np.int64)
    listed = sum(len(source.documents) for source in sources)
    out = _Output(coded.length + coded.boundaries + listed + len(sources), V, context, sink)
    documents = 0
    with out:
        for ids, mapping in _steps(coded, _MAPPED):
            rows = places.rows(ids)
            documents += len(rows)
            ended = int(rows[-1] - state[2]) if len(rows) else 0
            room = out.room(len(ids) + ended)
            n = document_kernels.map_documents(
                ids, mapping, V, keep, context.seed, rows, state, room
            )
            out.append(room, n)
        left = places.finish() - int(state[2])
        for start in range(0, left, _MAPPED):
            number = min(_MAPPED, left - start)
            room = out.room(number)
            room[:number] = V
            out.append(room, number)
    return out.stream, Counted(int(state[0]), int(state[1]), documents)


def _steps(coded: Coded, most: int) -> Iterator[tuple[Int32, Int32]]:
    """Yield the ids, at most so many at once, each time with id → row."""
    for ids, rows in coded.parts:
        for start in range(0, len(ids), most):
            yield ids[start : start + most], rows


class _Output:
    """Where a stream of at most `capacity` ids is written; closed if that fails."""

    def __init__(
        self, capacity: int, nothing: int, context: Context, sink: MakeSink | None
    ) -> None:
        memory = id_stream(context)
        # One array for all, where it fits; it is filled from the front and never copied.
        self._whole = np.empty(capacity, np.int32) if memory.fits(capacity) else None
        in_memory = self._whole is not None or sink is None
        self.stream: Sink = memory if in_memory or sink is None else sink(nothing)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is not None:
            self.stream.close()

    def room(self, size: int) -> Int32:
        """Return an array for the next ids."""
        whole = self._whole
        return np.empty(size, np.int32) if whole is None else whole[self.stream.length :]

    def append(self, room: Int32, number: int) -> None:
        """Add the ids that were put there."""
        self.stream.append(room[:number])


def _keep_probability(words: Vocabulary, tokens: int, threshold: float) -> Float64:
    """(V + 1) probability that a token is kept, word2vec's (√(f/t) + 1) t/f; empty for all."""
    if threshold == 0.0:
        return np.empty(0, np.float64)
    frequency = np.maximum(words.counts, 1) / tokens
    keep = (np.sqrt(frequency / threshold) + 1) * threshold / frequency
    return np.append(np.minimum(keep, 1.0), 1.0)

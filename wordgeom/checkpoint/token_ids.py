"""What a count has finished, state for a later run: the text as ids, and counts of parts of it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wordgeom.checkpoint import corpus_writer
from wordgeom.checkpoint.state import State
from wordgeom.core.types import Csr, Int32, Int64
from wordgeom.corpus.encoding.encode import EncodedCorpus
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.vocabulary import read_vocabulary_bytes, vocabulary_bytes
from wordgeom.counts.count_rows import Rows
from wordgeom.counts.partial_counts import Part, Span
from wordgeom.storage.id_stream import read_around
from wordgeom.storage.store import Store, StoreWriter

_IDS = "ids"
_STEP = 1 << 22  # ids written at once
_EDGE = 2048  # ids at either end, more than any window reaches
_FACTS = ("tokens", "kept", "documents", "short", "notes")  # of the text


class TokenIds:
    """A stream of ids in a file (storage.id_stream.Sink): written once, then memory-mapped.

    Mapped pages belong to the page cache: they take no private memory. `nothing`, the id of what is
    outside the stream, stands at both its ends, so that windows there need no copy.
    """

    in_place = True

    def __init__(self, state: State, nothing: int) -> None:
        self._writer: StoreWriter | None = state.writer(_IDS)
        self._mapped = np.empty(0, np.int32)
        self._edge = np.full(_EDGE, nothing, np.int32)
        self.length = 0
        self._writer.__enter__()
        try:
            self._out = self._writer.array(_IDS, np.int32)
            self._out.write(self._edge)
        except BaseException:
            self.close()
            raise

    @classmethod
    def of(cls, piece: Store) -> TokenIds:
        """Map the stream of an interrupted run, after verifying its checksums."""
        piece.array(_IDS).verify()
        made = cls.__new__(cls)
        made._writer = None
        made._map(piece)
        return made

    def append(self, ids: Int32) -> None:
        """Add ids at the end."""
        self._out.write(ids)
        self.length += len(ids)

    def finish(self, vocabulary: bytes, documents: bytes, attributes: dict[str, Any]) -> None:
        """Commit the stream with the facts about the text; from then on it can be read."""
        assert self._writer is not None
        self._out.write(self._edge)
        self._writer.text("vocab", vocabulary)
        self._writer.text("documents", documents)
        piece = self._writer.commit(attributes, {})
        self.close()
        self._map(piece)

    def read(self, start: int, stop: int) -> Int32:
        """Return ids[start:stop], cut at the ends of the stream."""
        start, stop = max(0, start), min(stop, self.length)
        return self._mapped[_EDGE + start : _EDGE + max(start, stop)]

    def around(self, begin: int, end: int, reach: int, nowhere: int) -> tuple[Int32, int]:
        """Return ids with at least `reach` around [begin:end), and where `begin` lies in them."""
        if reach > _EDGE:
            return read_around(self, begin, end, reach, nowhere)
        return self._mapped[_EDGE + begin - reach : _EDGE + end + reach], reach

    def close(self) -> None:
        """Stop writing; an unfinished stream is removed."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.__exit__(None, None, None)

    def _map(self, piece: Store) -> None:
        array = piece.array(_IDS)
        # A private, writable mapping: kernels are compiled for writable arrays.
        raw = np.memmap(array.path, np.uint8, mode="c")
        self._mapped = np.frombuffer(raw, np.int32, array.length, array.offset)
        self.length = array.length - 2 * _EDGE


def find_ids(state: State) -> tuple[EncodedCorpus, bytes] | None:
    """Return the text that an interrupted run encoded, and its documents.tsv, or None."""
    piece = state.find(_IDS)
    if piece is None:
        return None
    at = piece.attributes
    vocabulary = read_vocabulary_bytes(piece.text("vocab"), piece.path / "vocab.tsv")
    sources = [Source(**source) for source in at["sources"]]
    facts = {name: at[name] for name in _FACTS}
    encoded = EncodedCorpus(vocabulary, TokenIds.of(piece), sources, **facts)
    return encoded, piece.text("documents")


def save_ids(state: State, encoded: EncodedCorpus, documents: bytes, nothing: int) -> None:
    """Save a text that is long enough; its stream is then the saved one.

    nothing: the id of what is outside the stream.
    """
    stream = encoded.stream
    if not isinstance(stream, TokenIds):
        if stream.length < corpus_writer.WORTH and not state.due():
            return
        memory, stream = stream, TokenIds(state, nothing)
        with closing(memory):
            for start in range(0, memory.length, _STEP):
                stream.append(memory.read(start, start + _STEP))
    facts = {name: getattr(encoded, name) for name in _FACTS}
    facts["sources"] = [asdict(source) for source in encoded.sources]
    try:
        stream.finish(vocabulary_bytes(encoded.vocabulary), documents, facts)
    except BaseException:
        stream.close()
        raise
    encoded.stream = stream
    corpus_writer.forget_text(state)


@dataclass(frozen=True)
class StoredPart:
    """One part of a count, in a store."""

    piece: Store
    indptr: Int64
    words: int

    @classmethod
    def of(cls, piece: Store) -> StoredPart:
        """Open a part."""
        indptr = piece.array("indptr").read()
        return cls(piece, indptr, len(indptr) - 1)

    def rows(self, start: int, stop: int) -> Csr:
        """Return the rows [start:stop)."""
        begin, end = int(self.indptr[start]), int(self.indptr[stop])
        indices = self.piece.array("indices").read(begin, end)
        data = self.piece.array("data").read(begin, end)
        return Csr(self.indptr[start : stop + 1] - begin, indices, data, self.words)

    def close(self) -> None:
        """Do nothing: each read opens the files."""


@dataclass(frozen=True)
class PartialCounts:
    """The parts of a count as pieces of the state (counts.partial_counts.Parts)."""

    state: State

    def find(self, span: Span, words: int) -> Part | None:
        """Return a part that an interrupted run finished, or None."""
        piece = self.state.find(_name(span))
        return None if piece is None else StoredPart.of(piece)

    def spill(self, span: Span, blocks: Iterable[Rows], words: int, dtype: np.dtype[Any]) -> Part:
        """Write the rows of a part; raises WriteError when the disk is full."""
        indptr = np.zeros(words + 1, np.int64)
        with self.state.writer(_name(span)) as writer:
            indices, data = writer.array("indices", np.int32), writer.array("data", dtype)
            for rows in blocks:
                indptr[rows.start + 1 : rows.start + 1 + len(rows.lengths)] = rows.lengths
                indices.write(rows.indices)
                data.write(rows.values)
            writer.array("indptr", np.int64).write(np.cumsum(indptr))
            return StoredPart.of(writer.commit({}, {}))


def _name(span: Span) -> str:
    return f"part-{span[0]}-{span[1]}"

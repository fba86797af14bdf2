"""What a count has finished, kept for a later run: the text as ids, and counts of parts of it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wordgeom.checkpoint import corpus_writer
from wordgeom.checkpoint.corpus_reader import edited
from wordgeom.checkpoint.state import Kept
from wordgeom.core.errors import FormatError
from wordgeom.core.types import Csr, Int32, Int64
from wordgeom.corpus.encoding.encode import EncodedCorpus
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.vocabulary import read_vocabulary_bytes, vocabulary_bytes
from wordgeom.counts.count_rows import Rows
from wordgeom.counts.partial_counts import Part, Span
from wordgeom.storage.id_stream import read_around
from wordgeom.storage.store import Store, StoreWriter

_IDS = "ids"
_STEP = 1 << 22  # ids written or checked at once
_EDGE = 2048  # ids at either end, more than any window reaches
# What else is known of a text, and of what type it is.
_FACTS: dict[str, Any] = {
    "tokens": int, "kept": int, "documents": int, "short": int, "notes": list
}  # fmt: skip


class KeptIds:
    """A stream of ids in a file: written once (corpus.spool.Sink), then mapped into memory.

    Mapped pages are the system's to drop: they take no private memory. `nothing`, the id of what is
    outside the stream, stands at both its ends, so that windows there need no copy.
    """

    in_place = True

    def __init__(self, kept: Kept, nothing: int) -> None:
        self._writer: StoreWriter | None = kept.writer(_IDS)
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
    def of(cls, piece: Store, most: int) -> KeptIds:
        """Map the stream of an earlier run, checked: ids are 0 to `most`. Raises FormatError."""
        array = piece.array(_IDS)
        if array.dtype != np.int32 or array.length < 2 * _EDGE:
            raise edited(piece)
        for start in range(0, array.length, _STEP):
            ids = array.read(start, min(start + _STEP, array.length))
            # Kernels take ids for places, so that they are looked at before.
            if not 0 <= int(ids.min()) <= int(ids.max()) <= most:
                raise FormatError("an id is out of range", where=array.path)
        made = cls.__new__(cls)
        made._writer = None
        made._map(piece)
        return made

    def append(self, ids: Int32) -> None:
        """Add ids at the end."""
        self._out.write(ids)
        self.length += len(ids)

    def finish(self, vocabulary: bytes, documents: bytes, attributes: dict[str, Any]) -> None:
        """Commit the stream with what else is known of the text; it can be read from then on."""
        assert self._writer is not None
        self._out.write(self._edge)
        self._writer.text("vocab", vocabulary)
        self._writer.text("documents", documents)
        piece = self._writer.commit(attributes, {})
        self.close()
        self._map(piece)

    def read(self, start: int, stop: int) -> Int32:
        """Return ids[start:stop]; what lies outside the stream is left out."""
        start, stop = max(0, start), min(stop, self.length)
        return self._mapped[_EDGE + start : _EDGE + max(start, stop)]

    def around(self, begin: int, end: int, reach: int, nowhere: int) -> tuple[Int32, int]:
        """Return ids with at least `reach` around [begin:end), and where `begin` lies in them."""
        if reach > _EDGE:
            return read_around(self, begin, end, reach, nowhere)
        return self._mapped[_EDGE + begin - reach : _EDGE + end + reach], reach

    def close(self) -> None:
        """End the writing; what is not finished is removed."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.__exit__(None, None, None)

    def _map(self, piece: Store) -> None:
        array = piece.array(_IDS)
        # A mapping of our own, as if to change it: kernels are compiled for arrays that can be.
        raw = np.memmap(array.path, np.uint8, mode="c")
        self._mapped = np.frombuffer(raw, np.int32, array.length, array.offset)
        self.length = array.length - 2 * _EDGE


def find_ids(kept: Kept, *, beyond: bool) -> tuple[EncodedCorpus, bytes] | None:
    """Return the text that an earlier run read, and its documents.tsv.

    beyond: its ids go to V + 1, not only to V.
    """
    piece = kept.find(_IDS)
    if piece is None:
        return None
    at = piece.attributes
    vocabulary = read_vocabulary_bytes(piece.text("vocab"), piece.path / "vocab.tsv")
    try:
        sources = [Source(**source) for source in at["sources"]]
        facts = {name: kind(at[name]) for name, kind in _FACTS.items()}
    except (KeyError, TypeError, ValueError, OverflowError):
        raise edited(piece) from None
    stream = KeptIds.of(piece, len(vocabulary) + beyond)
    encoded = EncodedCorpus(vocabulary, stream, sources, **facts)
    return encoded, piece.text("documents")


def keep_ids(kept: Kept, encoded: EncodedCorpus, documents: bytes, nothing: int) -> None:
    """Keep the text, if it is long; its stream is then the one that was kept.

    nothing: the id of what is outside the stream.
    """
    stream = encoded.stream
    if not isinstance(stream, KeptIds):
        if stream.length < corpus_writer.WORTH and not kept.due():
            return
        memory, stream = stream, KeptIds(kept, nothing)
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
    corpus_writer.forget_text(kept)


@dataclass(frozen=True)
class StoredPart:
    """A part of a count in a store."""

    piece: Store
    indptr: Int64
    words: int

    @classmethod
    def of(cls, piece: Store) -> StoredPart:
        """Open a part; raises FormatError where its arrays do not fit together."""
        indptr, entries = piece.array("indptr").read(), piece.array("indices").length
        fits = (
            len(indptr) > 0
            and int(indptr[0]) == 0
            and int(indptr[-1]) == entries == piece.array("data").length
            and bool(np.all(indptr[1:] >= indptr[:-1]))
        )
        if not fits:
            raise edited(piece)
        return cls(piece, indptr, len(indptr) - 1)

    def rows(self, start: int, stop: int) -> Csr:
        """Return the rows [start:stop)."""
        begin, end = int(self.indptr[start]), int(self.indptr[stop])
        indices = self.piece.array("indices").read(begin, end)
        data = self.piece.array("data").read(begin, end)
        if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < self.words:
            raise FormatError("a column is out of range", where=self.piece.path)
        return Csr(self.indptr[start : stop + 1] - begin, indices, data, self.words)

    def close(self) -> None:
        """Let go of nothing: each read opens the files."""


@dataclass(frozen=True)
class KeptParts:
    """Parts as pieces that a later run finds (counts.partial.Parts)."""

    kept: Kept

    def find(self, span: Span, words: int) -> Part | None:
        """Return a part that an earlier run finished."""
        piece = self.kept.find(_name(span))
        part = None if piece is None else StoredPart.of(piece)
        if part is not None and part.words != words:
            raise edited(part.piece)
        return part

    def spill(self, span: Span, blocks: Iterable[Rows], words: int, dtype: np.dtype[Any]) -> Part:
        """Write the rows of a part; raises WriteError when the disk is full."""
        indptr = np.zeros(words + 1, np.int64)
        with self.kept.writer(_name(span)) as writer:
            indices, data = writer.array("indices", np.int32), writer.array("data", dtype)
            for rows in blocks:
                indptr[rows.start + 1 : rows.start + 1 + len(rows.lengths)] = rows.lengths
                indices.write(rows.indices)
                data.write(rows.values)
            writer.array("indptr", np.int64).write(np.cumsum(indptr))
            return StoredPart.of(writer.commit({}, {}))


def _name(span: Span) -> str:
    return f"part-{span[0]}-{span[1]}"

"""What a count has finished, kept for a later run: the text as ids, and counts of parts of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wordgeom.corpus.encode import Encoded
from wordgeom.corpus.readers import Source
from wordgeom.corpus.vocabulary import read_vocabulary_bytes, vocabulary_bytes
from wordgeom.counts.partial import Part, Span
from wordgeom.counts.rows import Rows
from wordgeom.errors import FormatError
from wordgeom.kept import Kept
from wordgeom.store import Store
from wordgeom.types import Csr, Int32, Int64

_IDS = "ids"
_STEP = 1 << 22  # ids written at once
_WORTH = 1 << 24  # ids: fewer are read again sooner than they are asked for
# What else is known of a text, and of what type it is.
_FACTS: dict[str, Any] = {
    "tokens": int, "kept": int, "documents": int, "short": int, "notes": list
}  # fmt: skip


class StoredIds:
    """A stream of ids in a store (corpus.spool.Spool as it is read)."""

    def __init__(self, piece: Store, words: int) -> None:
        self._array, self._most = piece.array(_IDS), words + 1
        self.length = self._array.length
        if self._array.dtype != np.int32:
            raise _edited(piece)

    def read(self, start: int, stop: int) -> Int32:
        """Return ids[start:stop]; what lies outside the array is left out."""
        start, stop = max(0, start), min(stop, self.length)
        ids = self._array.read(start, max(start, stop))
        # Kernels take ids for places, so that they are looked at before.
        if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) <= self._most:
            raise FormatError("an id is out of range", where=self._array.path)
        return ids

    def close(self) -> None:
        """Let go of nothing: each read opens the file."""


def find_ids(kept: Kept) -> tuple[Encoded, bytes] | None:
    """Return the text that an earlier run read, and its documents.tsv."""
    piece = kept.find(_IDS)
    if piece is None:
        return None
    at = piece.attributes
    vocabulary = read_vocabulary_bytes(piece.text("vocab"), piece.path / "vocab.tsv")
    try:
        sources = [Source(**source) for source in at["sources"]]
        facts = {name: kind(at[name]) for name, kind in _FACTS.items()}
    except (KeyError, TypeError, ValueError, OverflowError):
        raise _edited(piece) from None
    encoded = Encoded(vocabulary, StoredIds(piece, len(vocabulary)), sources, **facts)
    return encoded, piece.text("documents")


def keep_ids(kept: Kept, encoded: Encoded, documents: bytes) -> None:
    """Keep the text, if it is long."""
    stream = encoded.stream
    if stream.length < _WORTH and not kept.due():
        return
    with kept.writer(_IDS) as writer:
        ids = writer.array(_IDS, np.int32)
        for start in range(0, stream.length, _STEP):
            ids.write(stream.read(start, start + _STEP))
        writer.text("vocab", vocabulary_bytes(encoded.vocabulary))
        writer.text("documents", documents)
        facts = {name: getattr(encoded, name) for name in _FACTS}
        sources = [asdict(source) for source in encoded.sources]
        writer.commit({**facts, "sources": sources}, {})


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
            raise _edited(piece)
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
            raise _edited(part.piece)
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


def _edited(piece: Store) -> FormatError:
    return FormatError("its state was edited", where=piece.path)


def _name(span: Span) -> str:
    return f"part-{span[0]}-{span[1]}"

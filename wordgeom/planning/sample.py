"""Samples of a corpus: blocks from its head, middle and tail, or some of its files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from wordgeom.core.errors import InputError
from wordgeom.corpus.inputs import compression
from wordgeom.corpus.inputs.readers import Source, is_compressed, is_stream, read_pieces

LARGEST = 32 << 20  # bytes of the largest sample
SIZES = (64, 4, 2, 1)  # the largest sample is so many times the others
_BLOCKS = 32  # in a sample
_LARGEST_SHARE = 2  # a sample is at most this part of the corpus
_READ_WHOLE = 1 << 28  # compressed bytes that are read whole; of more, only the head
_REACH = 1 << 16  # bytes in which a record must end, else a word does
_FORMATS = {"text": b"\n", "jsonl": b"\n", "tsv": b"\n", "csv": b"\n", "fasta": b"\n>",
            "conllu": b"\n\n"}  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """Files to count instead of a corpus, and the share of its bytes that they have."""

    names: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class _Length:
    """The bytes of a file without compression; known: how many of them are read."""

    name: str
    total: int
    known: int


def take_samples(names: Sequence[str], form: str, *, of_files: bool, folder: Path) -> list[Sample]:
    """Return nested samples of a corpus, the smallest first, written into a directory.

    form: the format of the files; of_files: a file is a document, so that files are chosen whole.
    Raises InputError for a stream, and for a format that cannot be cut.
    """
    for name in names:
        if is_stream(name):
            do = "plan with a file"
            raise InputError("cannot be sampled: it can be read only once", where=name, do=do)
    if of_files and len(names) > _BLOCKS:
        return _files(names)
    if form not in _FORMATS:
        do = "plan with text, JSON Lines, TSV, CSV, FASTA or CoNLL-U"
        raise InputError(f"files of format {form} cannot be sampled", where=names[0], do=do)
    lengths = [_length(name) for name in names]
    total = sum(one.total for one in lengths)
    if not total:
        raise InputError("is empty", where=names[0], do="name a file with text")
    size = min(LARGEST, total // _LARGEST_SHARE) // _BLOCKS
    blocks = [_cut(raw, size, form, whole=k == 0) for k, raw in enumerate(_blocks(lengths, size))]
    written = []
    for part in SIZES:
        path = folder / f"part-{part}{_suffix(names[0])}"
        texts = [_cut(block, len(block) // part, form, whole=True) for block in blocks]
        path.write_bytes(b"".join(t if t.endswith(b"\n") else t + b"\n" for t in texts))
        written.append(Sample((str(path),), min(1.0, sum(map(len, texts)) / max(1, total))))
    return written


def _files(names: Sequence[str]) -> list[Sample]:
    """Return samples of evenly spaced files, each file once."""
    sizes = [max(1, Path(name).stat().st_size) for name in names]
    total = sum(sizes)
    most = min(LARGEST, total // _LARGEST_SHARE)
    every = -(-total // most)
    chosen = range(0, len(names), every)
    samples = []
    for part in SIZES:
        some = list(chosen)[::part]
        share = sum(sizes[k] for k in some) / total
        samples.append(Sample(tuple(names[k] for k in some), share))
    return samples


def _length(name: str) -> _Length:
    size = Path(name).stat().st_size
    if not is_compressed(name):
        return _Length(name, size, size)
    known = 0
    with closing(read_pieces(Source(name))) as pieces:
        for piece in pieces:
            known += len(piece.text)
            if size > _READ_WHOLE and known >= LARGEST:
                return _Length(name, int(known * size / _position(name, known)), known)
    return _Length(name, known, known)


def _position(name: str, length: int) -> int:
    """Return how many compressed bytes hold the first `length` bytes of a file."""
    with open(name, "rb") as raw:
        how = compression.detect(raw.read(compression.HEAD_BYTES))
        raw.seek(0)
        found = 0
        for piece in compression.decompressed(raw, how, name, 1 << 20):
            found += len(piece)
            if found >= length:
                break
        return max(1, raw.tell())


def _blocks(lengths: Sequence[_Length], size: int) -> list[bytes]:
    """Return the bytes of evenly spaced blocks, with what follows each."""
    total = sum(one.known for one in lengths)
    places = [(total - size) * k // (_BLOCKS - 1) for k in range(_BLOCKS)]
    found, before = [], 0
    for one in lengths:
        spans = [(p - before, p - before + size + 2 * _REACH) for p in places
                 if before <= p < before + one.known]  # fmt: skip
        if spans:
            found += _compressed(one.name, spans) if is_compressed(one.name) else _plain(one, spans)
        before += one.known
    return found


def _plain(file: _Length, spans: Sequence[tuple[int, int]]) -> list[bytes]:
    found = []
    with open(file.name, "rb") as raw:
        for start, stop in spans:
            raw.seek(start)
            found.append(raw.read(stop - start))
    return found


def _compressed(name: str, spans: Sequence[tuple[int, int]]) -> list[bytes]:
    """Return ranges of a file without its compression, in one pass."""
    found = [bytearray() for _ in spans]
    at, last = 0, max(stop for _, stop in spans)
    with closing(read_pieces(Source(name))) as pieces:
        for piece in pieces:
            for kept, (start, stop) in zip(found, spans, strict=True):
                kept += piece.text[max(0, start - at) : max(0, stop - at)]
            at += len(piece.text)
            if at >= last:
                break
    return [bytes(kept) for kept in found]


def _cut(raw: bytes, size: int, form: str, *, whole: bool) -> bytes:
    """Return the records that begin in the first `size` bytes; whole: the first byte begins one."""
    begin = 0 if whole else _boundary(raw, 0, form)
    return raw[begin : max(begin, _boundary(raw, max(begin, size), form))]


def _boundary(raw: bytes, start: int, form: str) -> int:
    """Return where the next record begins, or without one the last; of a long text, the next word.

    Only a line of plain text is cut: part of a record may be malformed.
    """
    end = _FORMATS[form]
    found = raw.find(end, start, start + _REACH if form == "text" else len(raw))
    if found < 0 and form == "text":
        end, found = b" ", raw.find(b" ", start)
        return len(raw) if found < 0 else found + 1
    found = raw.rfind(end) if found < 0 else found
    return found + (1 if end.endswith(b">") else len(end)) if found >= 0 else 0


def _suffix(name: str) -> str:
    """Return the suffix of the format of a file, without that of its compression."""
    path = Path(name.lower())
    path = path.with_suffix("") if path.suffix in compression.SUFFIXES else path
    return path.suffix

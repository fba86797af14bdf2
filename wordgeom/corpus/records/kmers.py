"""Sequences as k-mers: each of the k reading frames is a document of non-overlapping k-mers.

Khalife et al. 2022, §5.1: for k = 3, ADTIVAVET gives ADT IVA VET, DTI VAV and TIV AVE.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.corpus.inputs import readers
from wordgeom.corpus.inputs.readers import Block, Source

SHORT = "sequences shorter than k"
_LONGEST = 1 << 30  # letters of a sequence, which is held in memory
_SPACE = b" \t\r\v\f\0"


def cut_kmers(pieces: Iterator[Block], source: Source, k: int) -> Iterator[Block]:
    """Yield the frames of each sequence, one a line, in blocks that end between k-mers.

    pieces: a sequence a line, cut anywhere; white space in a line is dropped. Sequences shorter
    than k are counted and skipped. If records are listed, the frames of a sequence share a line,
    and every line stays. Raises InputError for text that is not ASCII.
    """
    ready = bytearray()
    separator = b" " if source.listed else b"\n"
    for sequence in _sequences(pieces, source.name):
        source.count(SHORT, 0 < len(sequence) < k)
        for text in _frames(sequence, k, separator):
            ready += text
            if len(ready) >= readers.BLOCK:
                yield Block(bytes(ready), source.name, 0, ascii=True, last=False)
                ready.clear()
        if source.listed:
            ready += b"\n"
    yield Block(bytes(ready), source.name, 0, ascii=True, last=True)


def _sequences(pieces: Iterator[Block], name: str) -> Iterator[bytearray]:
    """Yield each line."""
    line = bytearray()
    for piece in pieces:
        _require_ascii(piece)
        *ended, rest = piece.text.translate(None, _SPACE).split(b"\n")
        for part in ended:
            line += part
            yield line
            line = bytearray()  # the caller may still use the old one
        line += rest
        if len(line) > _LONGEST:
            do = "split it; --tokeniser kmer holds each sequence in memory"
            what = f"the sequence has more than {_LONGEST:,} letters"
            raise InputError(what, where=name, do=do)
    if line:
        yield line


def _frames(sequence: bytearray, k: int, separator: bytes) -> Iterator[bytes]:
    """Yield the k frames, each followed by `separator`, in parts of about a block."""
    letters = np.frombuffer(sequence, np.uint8, len(sequence))
    step = max(1, readers.BLOCK // (k + 1))
    for shift in range(min(k, len(letters) - k + 1)):
        kmers = letters[shift : len(letters) - (len(letters) - shift) % k].reshape(-1, k)
        for start in range(0, len(kmers), step):
            part = kmers[start : start + step]
            spaced = np.full((len(part), k + 1), ord(" "), np.uint8)
            spaced[:, :k] = part
            if start + step >= len(kmers):
                spaced[-1, k] = separator[0]
            yield spaced.tobytes()


def _require_ascii(piece: Block) -> None:
    if piece.ascii:
        return
    at = next(k for k, byte in enumerate(piece.text) if byte >= 128)
    raise InputError(
        f"not ASCII {readers.location(piece, at)}",
        where=piece.source,
        found=f"0x{piece.text[at]:02x}",
        do="--tokeniser kmer reads sequences of ASCII letters",
    )

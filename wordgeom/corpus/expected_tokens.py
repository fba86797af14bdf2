"""How many tokens a text is expected to have, from the size of its files and the head of one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing, suppress

from wordgeom.core.errors import WordgeomError
from wordgeom.corpus.inputs.readers import Source, is_compressed, is_stream, read_pieces
from wordgeom.corpus.options import CorpusOptions

_HEAD = 1 << 16  # bytes of text whose tokens are counted
_SMALL = 1 << 20  # bytes of texts that fit anywhere
_PACKED = 3  # times as large is a compressed file without its compression
_UNREADABLE = ("parquet",)  # formats whose bytes are no text
_BYTES = 6  # of a token in them


def expected_tokens(names: Sequence[str], corpus: CorpusOptions) -> int:
    """Return about how many tokens some files have; 0 for streams, and for less than a megabyte.

    k-mers have one for each letter; other text has as many as the head of its largest file between
    white space. Fields of records besides the text, and markup, are counted too.
    """
    with suppress(WordgeomError, OSError):  # the run itself reports them
        sizes = {name: os.path.getsize(name) for name in names if not is_stream(name)}
        largest = max(sizes, key=lambda name: sizes[name], default="")
        size = sum(sizes.values()) * (_PACKED if largest and is_compressed(largest) else 1)
        return int(size * _density(largest, corpus)) if size >= _SMALL else 0
    return 0


def _density(name: str, corpus: CorpusOptions) -> float:
    """Return the tokens in a byte at the head of a file."""
    if corpus.tokeniser == "kmer" or corpus.input_format == "fasta":
        return 1.0
    if corpus.input_format in _UNREADABLE:
        return 1 / _BYTES
    with closing(read_pieces(Source(name))) as pieces:
        head = next(pieces).text[:_HEAD]
    return len(head.split()) / len(head)

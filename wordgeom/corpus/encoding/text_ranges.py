"""Ranges of a text that the workers of a cluster tokenise, each with a lexicon of its own.

A range begins and ends at separators, so that its ids are those of the same bytes in a text that is
read from its start. The line feeds around its tokens tell whether its first and last document
continue in other ranges, as for blocks (block_joiner.py).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, pairwise

import numpy as np

from wordgeom.core.errors import SchedulerError
from wordgeom.core.types import Array
from wordgeom.corpus.encoding.block_feed import NumberedBlock
from wordgeom.corpus.encoding.obstacles import obstacle, text_of
from wordgeom.corpus.encoding.tokenise_block import BlockTokeniser, TokenisedBlock, tokeniser_of
from wordgeom.corpus.inputs.readers import Source, file_stamp
from wordgeom.corpus.inputs.text_parts import Place, Text, TextRange
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import formats
from wordgeom.corpus.tokens.lexicon import Lexicon
from wordgeom.corpus.tokens.spill import ThreadLexicon
from wordgeom.runtime.scheduler import Result

_RANGE = 1 << 24  # bytes of a range, unless that makes more ranges than a run card should have
_MOST_RANGES = 1 << 12
_FIELDS = ("before", "after", "lines", "broken", "bytes", "file")  # numbers of TokenisedBlock
_Stamp = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class FileRange:
    """Bytes [start:stop) of a file, None for all; stamp: its size and time for the command."""

    name: str
    span: tuple[int, int] | None
    stamp: _Stamp

    @property
    def start(self) -> int:
        """The first byte."""
        return self.span[0] if self.span else 0

    def source(self, longest: int) -> Source:
        """Return what is to be read. Raises SchedulerError where this process sees another file."""
        do = "keep the text in folders that all workers see under the same path"
        if not os.path.isfile(self.name):
            raise SchedulerError("a worker does not see this file", where=self.name, do=do)
        if _stamp(self.name) != self.stamp:
            what = "a worker sees another file there, or it was changed"
            raise SchedulerError(what, where=self.name, do=do)
        source = Source(self.name)
        source.span, source.longest = self.span, longest
        return source


@dataclass(frozen=True)
class Range:
    """Files in sequence; first: the index of the first one; base: bytes of text before."""

    files: tuple[FileRange, ...]
    first: int
    base: int


@dataclass(frozen=True)
class Reading:
    """How ranges are read; longest: bytes of a record's line; ids: whether they are wanted."""

    options: CorpusOptions
    longest: int
    ids: bool


def ranges_of(sources: Sequence[Source], options: CorpusOptions) -> list[Range] | None:
    """Return the ranges of a text, None for one that must be read from its start."""
    names = [source.name for source in sources]
    # Phrases are joined, and tokens are sampled, after the text was read.
    read = options.but(phrases=0, sample=0.0)
    labelled = any(source.span or source.listed or source.every_line for source in sources)
    if labelled or obstacle(names, read):
        return None
    text = text_of(names, options)
    size = max(_RANGE, -(-text.length // _MOST_RANGES))
    before = [0, *accumulate(text.sizes)]
    places = list(dict.fromkeys([Place(0, 0), *_cuts(text, before, size), Place(len(names), 0)]))
    stamps = [_stamp(name) for name in names]

    def made(begin: Place, end: Place) -> Range:
        files = tuple(
            FileRange(os.path.abspath(source.name), source.span, stamps[file])
            for file, source in enumerate(TextRange(text, begin, end).sources(), begin.file)
        )
        return Range(files, begin.file, before[begin.file] + begin.offset)

    return [made(*ends) for ends in pairwise(places)]


def _cuts(text: Text, before: Sequence[int], size: int) -> Iterator[Place]:
    """Yield where ranges of about `size` bytes end; before: the bytes before each file."""
    at = size
    while at < text.length:
        place = text.cut(at)
        yield place
        at = max(at, before[place.file] + place.offset) // size * size + size


def read_range(block: Range, spec: Reading) -> Result:
    """Return the words of a range, its blocks, their ids, and the facts about its files.

    entries (types × 4), arena: of a Lexicon; blocks (· × 7): _FIELDS, and the number of ids; files:
    the fields of each Source, as JSON. Raises what reading raises, and SchedulerError.
    """
    tables, run = tokeniser_of(spec.options), _OneRun()
    tokenise = BlockTokeniser(tables, spec.options, run)
    sources = [one.source(spec.longest) for one in block.files]
    base, ids, rows = block.base, [np.empty(0, np.int32)], []
    for file, source in enumerate(sources, block.first):
        for piece in formats.blocks(source, tables.separators, spec.options):
            tokens = tokenise(NumberedBlock(file, base, piece))
            base += len(piece.text)
            parts = [part for _, part in tokens.ids]
            ids += parts if spec.ids else []
            length = sum(map(len, parts))
            rows.append([*(int(getattr(tokens, name)) for name in _FIELDS), length])
    lexicon = run.current.lexicon
    types, size = lexicon.sizes.tolist()
    return {
        "entries": lexicon.entries[:types], "arena": lexicon.arena[:size],
        "ids": np.concatenate(ids), "blocks": np.array(rows, np.int64).reshape(-1, 7),
        "files": np.frombuffer(json.dumps(list(map(asdict, sources))).encode(), np.uint8),
    }  # fmt: skip


def lexicon_of(result: Result) -> Lexicon:
    """Return the words of a range (no hash table)."""
    return Lexicon.from_arrays(result["entries"], result["arena"])


def blocks_of(result: Result, run: int, ids: Array) -> list[TokenisedBlock]:
    """Return the blocks of a range; ids: of all of them, of a run."""
    made, begin = [], 0
    for *facts, length in result["blocks"].tolist():
        given = dict(zip(_FIELDS, facts, strict=True))
        part = ids[begin : begin + length]
        begin += length
        made.append(TokenisedBlock([(run, part)], **{**given, "broken": bool(given["broken"])}))
    return made


def bytes_of(result: Result) -> int:
    """Return the bytes of text in a range."""
    return int(result["blocks"][:, _FIELDS.index("bytes")].sum())


def sources_of(result: Result) -> list[Source]:
    """Return the files of a range as they were read."""
    return [Source(**fields) for fields in json.loads(result["files"].tobytes())]


class _OneRun:
    """The lexicon of a range, which grows without limit."""

    def __init__(self) -> None:
        self.current = ThreadLexicon(0, Lexicon())

    def mine(self) -> ThreadLexicon:
        """Return the lexicon."""
        return self.current

    def spill(self, current: ThreadLexicon) -> None:
        """Raise MemoryError: only a lexicon with a limit is spilled."""
        raise MemoryError


def _stamp(name: str) -> _Stamp:
    return tuple(sorted(file_stamp(name).items()))

"""Text → one stream of word ids, read once: provisional ids first, mapped when the words are cut.

Every thread tokenises blocks with a lexicon of its own, so that nothing is shared; the ids are
provisional and mean something in that lexicon only. After the last block the lexicons are joined,
the vocabulary is cut, and one pass maps the ids. Documents stand `gap` ids apart, so that a
window that looks that far never reaches across.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.corpus import kernels, vocabulary
from wordgeom.corpus.lexicon import Lexicon
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.readers import Block, Source, file_stamp, is_stream, read_blocks
from wordgeom.corpus.spool import Spool
from wordgeom.corpus.tokenisers import Tokeniser, tokeniser
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.errors import InputError
from wordgeom.pool import Lent, PerThread, Pool
from wordgeom.progress import Progress
from wordgeom.types import Float64, Int32, Int64

_NEVER = 1 << 62
_NEWLINES = {"line": 1, "block": 2, "file": _NEVER}
_MAPPED = 1 << 22  # ids mapped at once where the stream goes to a file
_BLOCK_LIST_SHARE = 4  # of the memory, for each of the two streams of ids


@dataclass
class Encoded:
    """A corpus as ids.

    stream: int32 in [0, V], where V stands for a gap or a token without a row; tokens: all that
    were read; kept: those with an id below V; documents; short: those below `short` tokens.
    """

    vocabulary: Vocabulary
    stream: Spool
    sources: list[Source]
    tokens: int
    kept: int
    documents: int
    short: int


def encode(
    names: list[str],
    options: CorpusOptions,
    *,
    gap: int,
    short: int,
    seed: int,
    memory: int,
    folder: str | None,
    pool: Pool,
    progress: Progress,
) -> Encoded:
    """Read the files `names` (- is standard input) and return them as one stream of ids.

    gap: ids between documents; short: documents below so many tokens are counted; seed: for
    --sample; memory: bytes of ids kept in memory before they go to `folder`.
    Raises MissingInputError, InputError, FormatError.
    """
    limit = memory // _BLOCK_LIST_SHARE
    sources = [Source(name) for name in names]
    with Spool(limit, folder) as provisional:
        lexicons, pieces = _tokenise_all(sources, options, provisional, pool, progress)
        joined, mappings = _join(lexicons)
        if not len(joined):
            found = f"{sum(s.bytes for s in sources):,} bytes"
            where = " ".join(names)
            raise InputError("holds no word", where=where, found=found, do="check the file")
        words, chosen = _choose(joined, options, " ".join(names))
        finals = [_final(m, chosen, len(joined)) for m in mappings]
        keep = _keep_probability(words, int(joined.counts.sum()), options.sample)
        state = np.zeros(6, np.int64)

        def final_ids(piece: _Piece, ids: Int32, out: Int32) -> int:
            written: int = kernels.map_ids(
                ids, finals[piece.lexicon], len(words), options.oov == "drop",
                keep, seed, gap, short, state, out,
            )  # fmt: skip
            return written

        stream = _map_all(pieces, provisional, gap, Spool(limit, folder), final_ids)
    return Encoded(
        words,
        stream,
        sources,
        tokens=int(state[0]),
        kept=int(state[5]),
        documents=int(state[1]),
        short=int(state[4] + (0 < state[2] < short)),
    )


@dataclass(frozen=True)
class _Piece:
    """A block's ids in the provisional stream: whose they are, how many, boundaries in them."""

    lexicon: int
    length: int
    boundaries: int


@dataclass(frozen=True)
class _Tokens:
    lexicon: int
    ids: Int32
    before: int  # newlines before the first token; -1 where there is none
    after: int  # newlines since the last token, or since the start where there is none
    bytes: int
    last: bool  # of its file


def _tokenise_all(
    sources: list[Source],
    options: CorpusOptions,
    out: Spool,
    pool: Pool,
    progress: Progress,
) -> tuple[list[Lexicon], list[_Piece]]:
    tables = tokeniser(options.tokeniser)
    threshold = _NEWLINES[options.document]
    # A thread takes blocks in their order, so that its lexicon meets a type at its first place.
    lexicons = PerThread(Lexicon)
    room = Lent(lambda: [np.empty(0, np.int32)])

    def tokenise(numbered: tuple[int, Block]) -> _Tokens:
        base, block = numbered
        index, lexicon = lexicons.mine()
        buffer = room.take()
        if len(buffer[0]) < len(block.text) + 1:
            buffer[0] = np.empty(len(block.text) + 1, np.int32)
        ids = buffer[0]
        text = np.frombuffer(block.text, np.uint8)
        state, at = lexicon.tokenise(
            text, base, tables.byte_map, tables.lower(block.ascii), threshold, ids
        )
        if state[3] == kernels.TOO_LONG:
            _refuse_token(block, at, tables)
        own = ids[: state[0]].copy()
        room.give_back(buffer)
        return _Tokens(index, own, int(state[2]), int(state[1]), len(text), block.last)

    pieces: list[_Piece] = []
    boundary = np.array([kernels.BOUNDARY], np.int32)
    newlines = 0
    done = pool.map(tokenise, _numbered(sources, options, tables))
    for tokens in progress.follow(done, "reading", _total(sources), "B", lambda t: t.bytes):
        if tokens.before < 0:  # no token in the block
            newlines += tokens.after
        else:
            if newlines + tokens.before >= threshold and pieces:
                out.append(boundary)
                pieces.append(_Piece(tokens.lexicon, 1, 1))
            out.append(tokens.ids)
            inner = int(np.count_nonzero(tokens.ids == kernels.BOUNDARY))
            pieces.append(_Piece(tokens.lexicon, len(tokens.ids), inner + 1))
            newlines = tokens.after
        if tokens.last:  # a file's end ends its last document
            newlines = _NEVER
    return lexicons.all, pieces


def _map_all(
    pieces: list[_Piece],
    provisional: Spool,
    gap: int,
    stream: Spool,
    final_ids: Callable[[_Piece, Int32, Int32], int],
) -> Spool:
    """Fill `stream` with the final ids of all pieces; `final_ids` writes those of some ids."""
    capacity = sum(p.length + p.boundaries * gap for p in pieces)
    # One array for all, where it fits; it is filled from the front and never copied.
    whole = np.empty(capacity, np.int32) if stream.holds(capacity) else None
    most = max(1, _MAPPED // (gap + 1))  # an id becomes at most a gap and itself
    try:
        for piece, ids in zip(pieces, provisional.pieces([p.length for p in pieces]), strict=True):
            for start in range(0, len(ids), most):
                part = ids[start : start + most]
                out = np.empty(_MAPPED, np.int32) if whole is None else whole[stream.length :]
                stream.append(out[: final_ids(piece, part, out)])
    except BaseException:
        stream.close()
        raise
    return stream


def _total(sources: list[Source]) -> int | None:
    """Return the bytes of text to come, where that is known: not of packed files, nor of a pipe."""
    if any(is_stream(s.name) or s.name.endswith(".gz") for s in sources):
        return None
    return sum(file_stamp(s.name)["size"] for s in sources)


def _numbered(
    sources: list[Source], options: CorpusOptions, tables: Tokeniser
) -> Iterator[tuple[int, Block]]:
    """Yield each block with its place in the whole corpus, in bytes of clean text."""
    separators = bytes(k for k in range(128) if tables.byte_map[k] == 0)
    base = 0
    for source in sources:
        for block in read_blocks(source, separators, options.bad_bytes):
            yield base, block
            base += len(block.text)


def _refuse_token(block: Block, at: int, tables: Tokeniser) -> None:
    rest = np.frombuffer(block.text, np.uint8)[at:]
    ends = np.flatnonzero(tables.byte_map[rest] == 0)
    if tables.unicode:
        ends = ends[rest[ends] < 128]
    length = int(ends[0]) if len(ends) else len(rest)
    raise InputError(
        f"a token is too long at byte {block.offset + at:,}",
        where=block.source,
        found=f"{length:,} bytes without a break",
        do=f"check that this is text; a token has less than {kernels.MAX_TOKEN:,} bytes",
    )


def _join(lexicons: list[Lexicon]) -> tuple[Lexicon, list[Int32]]:
    """Join the threads' lexicons into the first; return each one's ids → the joined ids."""
    if not lexicons:
        return Lexicon(), []
    first = lexicons[0]
    same = np.arange(len(first), dtype=np.int32)
    return first, [same, *(first.absorb(other) for other in lexicons[1:])]


def _choose(lexicon: Lexicon, options: CorpusOptions, where: str) -> tuple[Vocabulary, Int64]:
    if options.read_vocab is not None:
        words = vocabulary.read_words(options.read_vocab)
        chosen = vocabulary.given(lexicon, words)
        if not chosen[0].counts.any():
            raise InputError(
                "holds none of the vocabulary's words",
                where=where,
                found=f"{len(words):,} words in {options.read_vocab}",
                do="check --read-vocab and --tokeniser",
            )
        return chosen
    try:
        return vocabulary.cut(lexicon, options.min_count, options.max_vocab)
    except InputError as error:
        raise InputError(error.what, where=where, found=error.found, do=error.do) from None


def _final(mapping: Int32, chosen: Int64, types: int) -> Int32:
    """Return provisional id → final id, or V for a word without a row."""
    final = np.full(max(types, int(chosen.max(initial=-1)) + 1), len(chosen), np.int32)
    final[chosen] = np.arange(len(chosen), dtype=np.int32)
    return final[mapping]


def _keep_probability(words: Vocabulary, tokens: int, threshold: float) -> Float64:
    """(V + 1) probability that a token is kept, word2vec's (√(f/t) + 1) t/f; empty for all."""
    if threshold == 0.0:
        return np.empty(0, np.float64)
    frequency = np.maximum(words.counts, 1) / tokens
    keep = (np.sqrt(frequency / threshold) + 1) * threshold / frequency
    return np.append(np.minimum(keep, 1.0), 1.0)

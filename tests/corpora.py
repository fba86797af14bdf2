"""Small corpora, and reference results in plain Python that follow only the definitions."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import strategies as st
from running import Done, build_cooc, build_dtm

from wordgeom.core.errors import WordgeomError
from wordgeom.corpus.encoding import row_mapping
from wordgeom.corpus.encoding.encode import EncodedCorpus, encode
from wordgeom.corpus.encoding.segments import CorpusCheckpoint
from wordgeom.corpus.inputs import readers
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.options import CorpusOptions, PassageOptions
from wordgeom.corpus.records import formats
from wordgeom.corpus.tokens.normal_tables import Form
from wordgeom.counts import documents as counting
from wordgeom.counts.windows import WindowOptions
from wordgeom.linalg.device import get_ops
from wordgeom.matrices.document_term import Document, StoredDocuments
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.run_options import RunOptions

Token = str | None  # None: a position without a word
Rows = list[tuple[int, int, list[str]]]  # file and line, from 1, and tokens
Pairs = dict[tuple[str, str], Fraction]

_MASK = (1 << 64) - 1

# Few words, so that they repeat and co-occur; scripts of one to four bytes; every separator.
_WORDS = ["a ", "a ", "a ", "b ", "b ", "c ", "D ", "d ", "naïve ", "Мир ", "𐐀x ", "1 ", "a", "ж"]
_BREAKS = [" ", "\n", "\n", "\n\n", "\r\n", "\t", "…", "- ", "\n \n"]
_pieces = st.sampled_from([*_WORDS, *_WORDS, *_BREAKS])

corpus_texts = st.one_of(
    st.lists(_pieces, min_size=20, max_size=60), st.lists(_pieces, max_size=8)
).map("".join)


@st.composite
def window_options(draw: st.DrawFn, widest: int = 6) -> WindowOptions:
    """Any window of up to `widest` tokens on a side."""
    return WindowOptions(
        window=draw(st.integers(1, widest)),
        window_weight=draw(st.sampled_from(["flat", "harmonic", "dynamic"])),
        context=draw(st.sampled_from(["both", "left", "right"])),
    )


@st.composite
def corpus_options(draw: st.DrawFn) -> CorpusOptions:
    """Any way to split text into words."""
    return CorpusOptions(
        tokeniser=draw(st.sampled_from(["words", "whitespace"])),
        document=draw(st.sampled_from(["line", "block", "file"])),
        min_count=draw(st.sampled_from([1, 1, 2, 3])),
        max_vocab=draw(st.sampled_from([0, 0, 1, 3])),
        sample=draw(st.sampled_from([0.0, 0.0, 0.05, 0.5])),
        oov=draw(st.sampled_from(["keep", "drop"])),
    )


def reference_tokens(text: str, tokeniser: str, normalise: str = "NFC") -> list[str]:
    """Tokens by the definition, one code point at a time."""
    text = reference_form(text, normalise)
    if tokeniser == "whitespace":
        return [t.decode() for t in text.encode().replace(b"\0", b" ").split()]
    marked = "".join(c if _in_a_word(c) else " " for c in text)
    lowered = [reference_lower(token, normalise) for token in marked.split(" ") if token]
    return lowered if normalise == "none" else [unicodedata.normalize("NFC", t) for t in lowered]


def reference_form(text: str, normalise: str) -> str:
    """Normalised text without invisible characters; U+200B separates words in some scripts."""
    if normalise == "none":
        return text
    form: Form = "NFKC" if normalise == "NFKC" else "NFC"
    text = re.sub("[\u00ad\u2060\ufe0e\ufe0f\ufeff]", "", text)
    shown = ""
    for at, c in enumerate(text):
        if c != "\u200b":
            shown += c
            continue
        before, after = text[:at].rstrip("\u200b")[-1:], text[at:].lstrip("\u200b")[:1]
        shown += " " if _is_unspaced(before) or _is_unspaced(after) else ""
    return unicodedata.normalize(form, shown)


def _is_unspaced(c: str) -> bool:
    name = unicodedata.name(c, "") if c else ""
    return name.startswith(("THAI ", "LAO ", "KHMER ", "MYANMAR "))


def reference_lower(token: str, normalise: str = "NFC") -> str:
    """Lower case, code point by code point, with ς for a Σ that ends a token and is not all of it.

    This equals str.lower() of the token except for a Σ beside marks, digits or `_`, where Python
    considers letters further away: see test_tokenisers; and for İ, unless it keeps its dot.
    """
    dotless = token if normalise == "none" else token.replace("İ", "i")
    lower = "".join(c.lower() for c in dotless)
    return lower[:-1] + "ς" if len(token) > 1 and token[-1] == "Σ" else lower


def _in_a_word(c: str) -> bool:
    category = unicodedata.category(c)
    return category[0] in "LMN" or category == "Pc" or c in "\u200c\u200d"


def reference_documents(texts: Sequence[str], tokeniser: str, document: str) -> list[list[str]]:
    """Documents with a token; a line without a token is an empty line."""
    documents: list[list[str]] = []
    for text in texts:
        lines = [reference_tokens(line, tokeniser) for line in text.split("\n")]
        if document == "line":
            documents += lines
        elif document == "file":
            documents.append([token for line in lines for token in line])
        else:
            documents.append([])
            for line in lines:
                if line:
                    documents[-1] += line
                else:
                    documents.append([])
    return [d for d in documents if d]


def reference_rows(texts: list[str], tokeniser: str, document: str) -> Rows:
    """Documents by the definition, with the line where each begins."""
    rows: Rows = []
    for file, text in enumerate(texts, 1):
        lines = [reference_tokens(line, tokeniser) for line in text.split("\n")]
        if document == "file":
            rows.append((file, 1, [token for line in lines for token in line]))
            continue
        inside = False
        for number, tokens in enumerate(lines, 1):
            if tokens and inside:
                rows[-1][2].extend(tokens)
            elif tokens:
                rows.append((file, number, list(tokens)))
            inside = bool(tokens) and document == "block"
    return rows


def reference_vocabulary(
    documents: list[list[str]], min_count: int, max_vocab: int
) -> dict[str, int]:
    """Words with counts, by count, then by first occurrence (dict and sorted keep that order)."""
    counts = Counter(token for document in documents for token in document)
    kept = sorted((pair for pair in counts.items() if pair[1] >= min_count), key=lambda p: -p[1])
    return dict(kept[: max_vocab or None])


def reference_stream(
    documents: list[list[str]], vocabulary: dict[str, int], options: CorpusOptions, seed: int
) -> list[list[Token]]:
    """Each document, with tokens that are subsampled or without a row as None or dropped."""
    total = sum(map(len, documents))
    position = 0
    streams = []
    for document in documents:
        stream: list[Token] = []
        for token in document:
            kept = token in vocabulary
            if kept and options.sample:
                probability = _keep(vocabulary[token] / total, options.sample)
                kept = uniform(seed, position) < probability
            if kept or options.oov == "keep":
                stream.append(token if kept else None)
            position += 1
        streams.append(stream)
    return streams


def _keep(frequency: float, threshold: float) -> float:
    return min(1.0, (math.sqrt(frequency / threshold) + 1) * threshold / max(frequency, 1e-300))


def uniform(seed: int, position: int) -> float:
    """splitmix64 of (seed, position), as a number in [0, 1)."""
    x = (seed * 0xD1342543DE82EF95 + position + 1) * 0x9E3779B97F4A7C15 & _MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _MASK
    x ^= x >> 31
    return (x >> 11) / 2**53


def reference_weight(distance: int, options: WindowOptions) -> Fraction:
    """Weight of a pair of tokens `distance` apart."""
    if options.weight == "flat":
        return Fraction(1)
    if options.weight == "harmonic":
        return Fraction(1, distance)
    return Fraction(options.window - distance + 1, options.window)


def reference_pairs(streams: Iterable[Sequence[Token]], options: WindowOptions) -> Pairs:
    """Weight of each (word, context) over all pairs of positions."""
    pairs: Pairs = {}
    for stream in streams:
        for here, word in enumerate(stream):
            for there, context in enumerate(stream):
                if word is None or context is None or not _in_window(here, there, options):
                    continue
                weight = reference_weight(abs(there - here), options)
                pairs[word, context] = pairs.get((word, context), Fraction(0)) + weight
    return pairs


def _in_window(here: int, there: int, options: WindowOptions) -> bool:
    side = {"both": there != here, "left": there < here, "right": there > here}
    return side[options.context] and abs(there - here) <= options.window


@dataclass(frozen=True)
class Read:
    """The result of encode(): words with counts, the stream (None: no row or a gap), totals."""

    vocabulary: dict[str, int]
    stream: list[Token]
    tokens: int
    kept: int
    documents: int
    short: int
    sources: list[Source]


def record_text(path: Path, block: int = 1 << 21, **options: Any) -> tuple[str, Source]:
    """The text that a reader makes of a file, a record a line, in blocks of about `block` bytes."""
    asked = formats.resolve([str(path)], CorpusOptions(**options))
    source = Source(str(path))
    with patch.object(readers, "BLOCK", block):
        made = list(formats.blocks(source, b" \n", asked))
    assert all(b.ascii == b.text.isascii() for b in made)
    assert all(b.last for b in made[-1:])
    return b"".join(b.text for b in made).decode(), source


def read(names: Sequence[str | Path], options: CorpusOptions | None = None, **how: Any) -> Read:
    """Encode files with a gap of 2 between documents; documents below 2 tokens are short."""
    encoded = encode_files(names, options or CorpusOptions(min_count=1), gap=2, **how)
    words = encoded.vocabulary.words
    with closing(encoded.stream):
        ids = encoded.stream.read(0, encoded.stream.length).tolist()
    return Read(
        dict(zip(words, encoded.vocabulary.counts.tolist(), strict=True)),
        [None if i == len(words) else words[i] for i in ids],
        encoded.tokens,
        encoded.kept,
        encoded.documents,
        encoded.short,
        encoded.sources,
    )


def with_gaps(streams: Iterable[Sequence[Token]]) -> list[Token]:
    """Concatenate documents with gaps, as read() does."""
    joined = [token for stream in streams for token in [None, None, *stream]]
    return joined[2:]


def encode_files(
    names: Sequence[str | Path],
    options: CorpusOptions,
    *,
    gap: int,
    threads: int = 1,
    memory: int = 1 << 30,
    seed: int = 1,
    directory: str | None = None,
    checkpoint: CorpusCheckpoint | None = None,
) -> EncodedCorpus:
    """encode() with a pool of its own."""
    with Pool(threads) as pool:
        context = Context(pool, partial(get_ops, "cpu", pool), memory, seed, directory)
        sources = [Source(str(name)) for name in names]
        return encode(sources, options, context, gap=gap, short=2, checkpoint=checkpoint)


def build(names: Path | list[Path], out: Path, **options: Any) -> Done:
    """build_cooc() with options by name; --min-count 1 and two threads by default."""
    names = [names] if isinstance(names, Path) else names
    how = {k: options.pop(k) for k in ("shard", "save_vocab") if k in options}
    values = {"min_count": 1, "threads": 2, **options}
    corpus, window = CorpusOptions.take(values), WindowOptions.take(values)
    return build_cooc([str(n) for n in names], out, corpus, window, RunOptions.take(values), **how)


def build_documents(names: Path | list[Path], out: Path, **options: Any) -> Done:
    """build_dtm() with options by name; --min-count 1 and two threads by default."""
    names = [names] if isinstance(names, Path) else names
    how: dict[str, Any] = {k: options.pop(k) for k in ("save_vocab", "resume") if k in options}
    values = {"min_count": 1, "threads": 2, **options}
    corpus, how["splitting"] = CorpusOptions.take(values), PassageOptions.take(values)
    return build_dtm([str(n) for n in names], out, corpus, RunOptions.take(values), **how)


@contextmanager
def small(block: int, ids: int = 1 << 20, mapped: int = 1 << 22) -> Iterator[None]:
    """Let blocks of text be so many bytes, and blocks of ids so many."""
    with (
        patch.object(readers, "BLOCK", block),
        patch.object(counting, "BLOCK", ids),
        patch.object(row_mapping, "_MAPPED", mapped),
    ):
        yield


def held(out: Path) -> tuple[list[Document], list[dict[str, int]]]:
    """The documents of a store, and the words of each with their counts."""
    stored = StoredDocuments.open(out)
    words, rows = stored.vocabulary.words, []
    whole = stored.full()
    for start, stop in zip(whole.indptr[:-1], whole.indptr[1:], strict=True):
        columns = whole.indices[start:stop]
        assert (np.diff(columns) > 0).all()
        rows.append(
            {words[j]: int(x) for j, x in zip(columns, whole.data[start:stop], strict=True)}
        )
    dense = stored.to_scipy().toarray()
    assert (dense.sum(0) == stored.column_sums).all()
    assert ((dense > 0).sum(0) == stored.document_frequencies).all()
    return stored.documents(), rows


def put(folder: Path, *contents: str | bytes) -> list[Path]:
    """Write files 0.txt, 1.txt … and return their paths."""
    paths = [folder / f"{k}.txt" for k in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return paths


def assert_one_line(caught: pytest.ExceptionInfo[BaseException], *parts: object) -> None:
    """Assert that the error is the package's own, one line that contains every part."""
    assert isinstance(caught.value, WordgeomError)
    line = str(caught.value)
    assert len(line.splitlines()) == 1
    for part in parts:
        assert str(part) in line, line

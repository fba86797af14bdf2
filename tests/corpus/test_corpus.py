"""The same words and documents for any compression, block size, thread count and memory."""

from __future__ import annotations

import gzip
import io
import random
import sys
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from corpora import (
    Read,
    assert_one_line,
    corpus_options,
    corpus_texts,
    put,
    read,
    reference_documents,
    reference_stream,
    reference_vocabulary,
    with_gaps,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wordgeom.core.errors import FormatError, InputError, MissingInputError, WriteError
from wordgeom.corpus.inputs import readers
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens.lexicon_kernels import MAX_TOKEN
from wordgeom.corpus.vocabulary import Vocabulary, read_words, save_vocabulary
from wordgeom.runtime.pool import Pool
from wordgeom.storage.id_stream import Spool
from wordgeom.storage.scratch import Scratch

ALL = CorpusOptions(min_count=1)
TINY = 4  # bytes of memory: every id goes to the disk


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("corpus")


def content(made: Read) -> tuple[object, ...]:
    return made.vocabulary, made.stream, made.tokens, made.kept, made.documents, made.short


@settings(max_examples=120)
@given(
    st.lists(corpus_texts, min_size=1, max_size=3),
    corpus_options(),
    st.integers(1, 12),
    st.integers(1, 3),
    st.sampled_from([TINY, 400, 1 << 30]),
    st.integers(0, 2**63 - 1),
)
def test_documents_words_and_positions_follow_the_definition(
    folder: Path,
    texts: list[str],
    options: CorpusOptions,
    block: int,
    threads: int,
    memory: int,
    seed: int,
):
    documents = reference_documents(texts, options.tokeniser, options.document)
    vocabulary = reference_vocabulary(documents, options.min_count, options.max_vocab)
    streams = reference_stream(documents, vocabulary, options, seed)
    how = {"threads": threads, "memory": memory, "seed": seed}
    with patch.object(readers, "BLOCK", block):
        if not vocabulary:
            with pytest.raises(InputError):
                read(put(folder, *texts), options, **how)
            return
        made = read(put(folder, *texts), options, **how)
    assert list(made.vocabulary.items()) == list(vocabulary.items())
    assert made.stream == with_gaps(streams)
    assert made.kept == sum(token is not None for token in made.stream)
    assert made.tokens == sum(map(len, documents))
    assert (made.documents, made.short) == (len(documents), sum(len(d) < 2 for d in documents))


@given(
    st.lists(st.sampled_from([b"a ", b"b\n", b"\xff", b"\xe6\x9d", b"\xe6\x9d\xb1", b" ", b"c"])),
    st.integers(1, 9),
)
@example([b"\xff\xff\xff\xff x y\n"], 2)  # replacements are longer: x must stay before y
def test_invalid_utf8_is_rejected_replaced_or_skipped(
    folder: Path, pieces: list[bytes], block: int
):
    raw = b"\xef\xbb\xbfa " + b"".join(pieces)
    (path,) = put(folder, raw)
    skipped = raw.decode("utf-8", "ignore")
    with patch.object(readers, "BLOCK", block):
        for mode, wanted in (("replace", raw.decode("utf-8", "replace")), ("skip", skipped)):
            for tokeniser in ("words", "whitespace"):
                options = CorpusOptions(tokeniser=tokeniser, bad_bytes=mode, min_count=1)
                documents = reference_documents([wanted.removeprefix("\ufeff")], tokeniser, "line")
                made = read([path], options)
                expected = reference_vocabulary(documents, 1, 0)
                assert list(made.vocabulary.items()) == list(expected.items())
                assert made.sources[0].repaired == len(raw) - len(skipped.encode())
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            where = f"not UTF-8 at byte {error.start:,}"
            with pytest.raises(InputError) as caught:
                read([path])
            found = f"found 0x{raw[error.start]:02x}"
            assert_one_line(
                caught, path, where, found, "; convert the file, or pass --bad-bytes replace"
            )


def test_lines_blocks_and_files_are_documents(folder: Path):
    paths = put(folder, "a b\n\nc\r\n \t\r\nd", "e f\ng")
    streams = {
        "line": ["a b", "c", "d", "e f", "g"],
        "block": ["a b", "c", "d", "e f g"],
        "file": ["a b c d", "e f g"],
    }
    for document, expected in streams.items():
        options = CorpusOptions(document=document, min_count=1)
        assert read(paths, options).stream == with_gaps([d.split() for d in expected])


def test_the_end_of_a_file_ends_its_last_line(folder: Path):
    assert read(put(folder, "a b", "c")).stream == read(put(folder, "a b\n", "c\n")).stream


def test_a_given_vocabulary_keeps_its_order_and_its_absent_words(folder: Path):
    (text,) = put(folder, "b a b c\nzz a b")
    (words,) = (folder / "words",)
    words.write_text("c\nabsent\t7\r\nb\na", encoding="utf-8")
    made = read([text], CorpusOptions(read_vocab=str(words), min_count=9, max_vocab=1), threads=2)
    assert list(made.vocabulary.items()) == [("c", 1), ("absent", 0), ("b", 3), ("a", 2)]
    assert made.stream == ["b", "a", "b", "c", None, None, None, "a", "b"]


def test_a_saved_vocabulary_is_read_back_with_any_word(folder: Path):
    words = ["b", "a\u2028b", "\x85", "\x1c", "İ", "x\ry", "w" * (MAX_TOKEN - 1)]
    path = folder / "vocab.tsv"
    save_vocabulary(path, Vocabulary(words, np.arange(len(words))))
    assert read_words(path) == words
    (text,) = put(folder, " ".join(["b", "İ", words[-1]]))
    options = CorpusOptions(read_vocab=str(path), tokeniser="whitespace")
    assert list(read([text], options).vocabulary.values()) == [1, 0, 0, 0, 1, 0, 1]


@pytest.mark.parametrize(
    ("raw", "parts"),
    [
        (b"a\n\n\t2", ["line 3: empty word; remove the line"]),
        (b"a\t1\n\nb\na \t2", ["line 4: the word 'a' is repeated; remove one"]),
        (b"a\n\xff", ["not UTF-8 at byte 2"]),
        (b"a\n" + 70_000 * b"x", ["line 2: the word has 70,000 characters"]),
        (b"a\n" + MAX_TOKEN // 2 * "é".encode(), ["line 2: the word has 2,048"]),
    ],
)
def test_an_invalid_vocabulary_file_is_rejected_with_the_line(
    folder: Path, raw: bytes, parts: list[str]
):
    (text,) = put(folder, "a b")
    words = folder / "words"
    words.write_bytes(raw)
    with pytest.raises(FormatError) as caught:
        read([text], CorpusOptions(read_vocab=str(words)))
    assert_one_line(caught, words, *parts)


def test_a_vocabulary_without_a_word_of_the_text_is_rejected(folder: Path):
    (text,) = put(folder, "a b")
    words = folder / "words"
    words.write_text("king\nqueen\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read([text], CorpusOptions(read_vocab=str(words)))
    assert_one_line(caught, text, f"contains none of the 2 words in {words}; check")
    words.write_text("\n", encoding="utf-8")
    with pytest.raises(InputError) as empty:
        read([text], CorpusOptions(read_vocab=str(words)))
    assert_one_line(empty, words, "contains no words; check --read-vocab")


@given(
    st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=8),
    st.integers(0, 60),
    st.integers(-3, 45),
    st.integers(-3, 45),
)
def test_a_spool_returns_its_content(pieces: list[list[int]], limit: int, start: int, stop: int):
    whole = [i for piece in pieces for i in piece]
    arrays = [np.array(piece, np.int32) for piece in pieces]
    with Spool(limit, Scratch(None)) as spool, Spool(limit, Scratch(None)) as one_by_one:
        for array in arrays:
            spool.append(array)
            one_by_one.append(array)
        assert spool.read(start, stop).tolist() == whole[max(start, 0) : max(stop, 0)]
        assert spool.read(0, spool.length).tolist() == whole
        assert [p.tolist() for p in one_by_one.pieces([len(p) for p in pieces])] == pieces


def test_an_unusable_scratch_directory_is_an_error_of_one_line(folder: Path):
    with pytest.raises(WriteError) as caught, Spool(0, Scratch(str(folder / "gone"))) as spool:
        spool.append(np.zeros(1, np.int32))
    assert_one_line(caught, folder / "gone", "scratch space: no such file", "; free ", "--tmp-dir")


@pytest.mark.parametrize("block", [7, 1 << 21])
def test_gzip_is_decompressed_exactly(folder: Path, block: int):
    text = "a b\nc dé\n\nb a b\n" * 50
    raw = text.encode()
    members = gzip.compress(raw[:301]) + gzip.compress(b"") + gzip.compress(raw[301:])
    paths = put(folder, raw, gzip.compress(raw), members, members + b"\0" * 9)
    with patch.object(readers, "BLOCK", block):
        plain, *packed = [read([path]) for path in paths]
        assert all(content(p) == content(plain) for p in packed)
    for made, path in zip(packed, paths[1:], strict=True):
        assert made.sources[0].bytes == path.stat().st_size
        assert made.sources[0].digest == readers.file_digest(str(path))


def test_a_broken_gzip_file_is_not_read_as_a_short_text(folder: Path):
    whole = gzip.compress(bytes(range(97, 123)) * 999 + b" end")
    cases = {
        "ended before the end": whole[:-9],
        "crc check failed": whole[:-8] + bytes(8),
        "other data after its end": whole + b"junk",
        "error -3 while decompressing": whole[:12] + b"\xff\xff\xff" + whole[15:],
    }
    for found, raw in cases.items():
        (path,) = put(folder, raw)
        with pytest.raises(FormatError) as caught:
            read([path])
        assert_one_line(caught, path, "broken gzip file", found, "; check it with gzip -t")


@pytest.mark.parametrize("tokeniser", ["words", "whitespace"])
@pytest.mark.parametrize("letter", ["x", "ж", "東"])
def test_the_longest_token_is_read_and_a_longer_one_rejected(
    folder: Path, tokeniser: str, letter: str
):
    options = CorpusOptions(tokeniser=tokeniser, min_count=1)
    most = (MAX_TOKEN - 1) // len(letter.encode())
    before = "a b\n" * 9
    path, *refused = put(
        folder,
        before + letter * most + " c",
        before + letter * (most + 1) + " c",
        before + letter * 2**20 + "\n",
    )
    assert letter * most in read([path], options).vocabulary
    for name, count, block in zip(refused, (most + 1, 2**20), (1000, 1 << 21), strict=True):
        length = count * len(letter.encode())
        with patch.object(readers, "BLOCK", block), pytest.raises(InputError) as caught:
            read([name], options)
        found = f"{length:,} bytes without a separator"
        assert_one_line(
            caught, name, "the token at byte 36 has", found, "; check that this is text"
        )


def test_a_file_without_separators_is_rejected_before_it_fills_memory(folder: Path):
    (path,) = put(folder, "a " + "x" * 1000)
    with (
        patch.object(readers, "BLOCK", 16),
        patch.object(readers, "_UNBROKEN", 100),
        pytest.raises(InputError) as caught,
    ):
        read([path])
    assert_one_line(caught, path, "at byte 2 has more than 1", "; check that this is text")


@pytest.mark.parametrize(
    "raw", [b"", b" \n\n", "\ufeff…\u2028".encode(), gzip.compress(b"", mtime=0)]
)
def test_a_corpus_without_words_is_rejected(folder: Path, raw: bytes):
    (path,) = put(folder, raw)
    with pytest.raises(InputError) as caught:
        read([path])
    assert_one_line(caught, path, f"contains no words in {len(raw)} bytes", "; check the file")


def test_an_unreachable_min_count_is_reported_with_the_largest_count(folder: Path):
    (path,) = put(folder, "a b a c")
    with pytest.raises(InputError) as caught:
        read([path], CorpusOptions(min_count=3))
    assert_one_line(
        caught, path, "no word occurs 3 times", "(the most frequent of 3 occurs 2 times)"
    )
    assert_one_line(caught, "; lower --min-count")


def test_a_missing_file_and_a_directory_are_named(folder: Path):
    with pytest.raises(MissingInputError) as caught:
        read([folder / "none.txt"])
    assert_one_line(caught, folder / "none.txt", "no such file")
    with pytest.raises(MissingInputError) as caught:
        read([folder])
    assert_one_line(caught, folder, "is a directory; name the files in it")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_is_read_like_a_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, pack: type[bytes]
):
    raw = b"a b\nc a\n\nd"
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(pack(raw))))
    monkeypatch.setattr(sys, "stdin", stdin)
    made = read(["-"])
    assert content(made) == content(read(put(folder, raw)))
    assert not stdin.buffer.closed


def test_delayed_threads_do_not_change_the_order_of_words(folder: Path):
    # All words are equally frequent, so the first occurrence decides. A block has two words, and
    # the next block has them in reverse order.
    words = [chr(97 + k // 10) + str(k % 10) for k in range(40)]
    text = " ".join(f"{a} {b} {b} {a}" for a, b in zip(words[::2], words[1::2], strict=True))
    draw = random.Random(1)
    inner = Pool.map

    def late(pool: Pool, function, items, ahead=None, **how):
        def after_a_while(item):
            time.sleep(draw.random() / 1000)
            return function(item)

        return inner(pool, after_a_while, items, ahead, **how)

    with patch.object(readers, "BLOCK", 6), patch.object(Pool, "map", late):
        for _ in range(8):
            assert list(read(put(folder, text), ALL, threads=3).vocabulary) == words

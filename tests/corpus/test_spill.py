"""Lexicons that are spilled and merged give the same result as those that fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from corpora import assert_one_line, corpus_options, corpus_texts, put, read
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wordgeom.core.errors import InputError, WriteError
from wordgeom.corpus.inputs import readers
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import candidate_types, lexicon, spill
from wordgeom.corpus.tokens.candidate_types import CandidateTypes
from wordgeom.corpus.tokens.lexicon import Lexicon
from wordgeom.storage.scratch import Scratch

HOW = {"memory": 1 << 20}


@contextmanager
def spilling_after(types: int, share: int = 1 << 12) -> Iterator[None]:
    """Fill a lexicon after `types` types, a power of two, and make ranges of buckets small."""
    with ExitStack() as patched:
        patched.enter_context(patch.object(lexicon, "_INITIAL_TYPES", types))
        patched.enter_context(patch.object(spill, "_SHARE", share))
        patched.enter_context(patch.object(candidate_types, "_SPARE", 0))
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spilling")


@given(
    st.lists(corpus_texts, min_size=1, max_size=3),
    corpus_options(),
    st.integers(1, 30),
    st.integers(1, 3),
    st.sampled_from([1, 2, 4]),
)
def test_spilling_does_not_change_the_result(
    folder: Path, texts: list[str], options: CorpusOptions, block: int, threads: int, types: int
):
    paths = put(folder, *texts)
    with patch.object(readers, "BLOCK", block):
        held = outcome(paths, options)
        with spilling_after(types):
            assert outcome(paths, options, threads) == held


def outcome(paths: list[Path], options: CorpusOptions, threads: int = 1) -> tuple[object, ...]:
    """The result, with the order of the words, or the error."""
    try:
        made = read(paths, options, threads=threads, **HOW)
    except InputError as error:
        return (str(error),)
    return list(made.vocabulary), made


def test_many_runs_count_every_word(folder: Path):
    words = [f"w{k * 7919 % 5000}" for k in range(5000)]
    (path,) = put(folder, " ".join(words + words[::-1] + words[:100]))
    runs = []
    write_run = spill.write_run

    def watched(full: Lexicon, *shelves: Scratch) -> object:
        runs.append(len(full))
        return write_run(full, *shelves)

    with (
        patch.object(readers, "BLOCK", 4096),
        patch.object(spill, "write_run", watched),
        spilling_after(256, share=64),
    ):
        made = read([path], CorpusOptions(min_count=1), threads=2, memory=1 << 22)
        assert len(runs) > 30
        assert max(runs) <= 256
        top = read([path], CorpusOptions(min_count=1, max_vocab=150), **HOW)
    assert list(made.vocabulary) == words
    assert list(made.vocabulary.values()) == [3] * 100 + [2] * 4900
    assert list(top.vocabulary) == words[:150]


def test_a_fixed_vocabulary_is_found_in_spilled_text(folder: Path):
    text, given_words = put(folder, "b a b c\nzz a b " + "x y z " * 5, "c\nabsent\nb\na")
    options = CorpusOptions(read_vocab=str(given_words))
    with spilling_after(2):
        made = read([text], options, **HOW)
    assert list(made.vocabulary.items()) == [("c", 1), ("absent", 0), ("b", 3), ("a", 2)]
    assert made.stream[:9] == ["b", "a", "b", "c", None, None, None, "a", "b"]


def test_a_vocabulary_that_exceeds_the_memory_is_rejected_with_the_figure(folder: Path):
    (path,) = put(folder, " ".join(f"w{k}" for k in range(6000)))
    with spilling_after(64, share=16):
        with pytest.raises(InputError) as caught:
            read([path], CorpusOptions(min_count=1), **HOW)
        assert_one_line(
            caught, path, "does not fit in memory: ", "words or more need 370 KB, more than 315 KB"
        )
        assert_one_line(caught, "; raise --min-count, pass --max-vocab, or raise --memory")
        assert len(read([path], CorpusOptions(min_count=1, max_vocab=9), **HOW).vocabulary) == 9


def test_a_full_disk_is_an_error_of_one_line(folder: Path):
    (path,) = put(folder, "a b c d e")
    with spilling_after(2), pytest.raises(WriteError) as caught:
        read([path], CorpusOptions(min_count=1), directory=str(folder / "gone"), **HOW)
    assert_one_line(caught, folder / "gone", "scratch space: no such file", "--tmp-dir")
    with spilling_after(2), patch("os.pwrite", side_effect=OSError(28, "No space left on device")):
        with pytest.raises(WriteError) as caught:
            read([path], CorpusOptions(min_count=1), directory=str(folder), **HOW)
        assert_one_line(
            caught, folder, "scratch space: no space left on device; free ", "--tmp-dir"
        )


def test_a_lexicon_stays_within_its_limit_and_keeps_its_types():
    limit = 8 << 20
    full = Lexicon(limit)
    text = np.frombuffer(" ".join(f"word{k}" for k in range(200_000)).encode(), np.uint8)
    byte_map = np.arange(256, dtype=np.uint8)
    byte_map[32] = 0
    ids, state = np.empty(200_000, np.int32), np.array([0, 0, -1, 0, 0, 0], np.int64)
    at = full.tokenise(text, 0, 0, byte_map, np.empty(0, np.int64), 0, 1, ids, state)
    assert full.slots.nbytes + full.entries.nbytes + full.arena.nbytes <= limit
    assert 0 < len(full) < 200_000
    assert text[at:].tobytes().startswith(f"word{len(full)} ".encode())
    assert [full.word(k) for k in range(3)] == [b"word0", b"word1", b"word2"]


@given(
    st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=30),
    st.integers(0, 6),
    st.integers(1, 5),
)
def test_candidate_types_that_may_be_needed_are_kept(
    types: list[tuple[int, bool]], at_most: int, size: int
):
    held = CandidateTypes(at_most, 1 << 30)
    everyone = Lexicon.of([b"w%d" % k for k in range(len(types))])
    everyone.counts[:] = [count for count, _ in types]
    everyone.firsts[:] = np.arange(len(types)) * 7 % 31  # all different
    numbers = np.arange(len(types), dtype=np.int64) * 3
    listed = np.array([k for k, (_, is_listed) in enumerate(types) if is_listed], np.int64)
    with patch.object(candidate_types, "_SPARE", 0):
        for start in range(0, len(types), size):
            ids = np.arange(start, min(start + size, len(types)), dtype=np.int32)
            here = listed[(listed >= start) & (listed < start + size)] - start
            held.add(everyone.select(ids), numbers[ids], here)
    held.finish()
    places = held.ids(numbers)
    best = np.lexsort((everyone.firsts, -everyone.counts))[: at_most or None]
    for k in {*best.tolist(), *listed.tolist()}:
        assert held.table.word(int(places[k])) == everyone.word(k)
        assert held.table.counts[places[k]] == everyone.counts[k]
    assert (held.ids(numbers + 1) == -1).all()


@settings(max_examples=20)
@given(st.lists(arrays(np.int64, st.integers(0, 5)), max_size=6))
def test_scratch_returns_what_was_written(parts: list[np.ndarray]):
    with Scratch(None) as scratch:
        places = [scratch.put(part) for part in parts]
        for place, part in zip(places, parts, strict=True):
            out = np.empty_like(part)
            scratch.read(place, out)
            assert out.tolist() == part.tolist()


def test_a_closed_scratch_file_raises(folder: Path):
    scratch = Scratch(str(folder))
    place = scratch.put(np.arange(3))
    scratch.close()
    scratch.close()
    for late in (scratch.put, partial(scratch.read, place)):
        with pytest.raises(ValueError, match="closed"):
            late(np.arange(3))

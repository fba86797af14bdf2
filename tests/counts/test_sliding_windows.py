"""`--count windows` against explicit enumeration of the windows of each document."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from corpora import assert_one_line, build, put
from hypothesis import given
from hypothesis import strategies as st
from running import merge_cooc

from wordgeom.core.errors import OptionError
from wordgeom.core.types import Int64
from wordgeom.counts import cooccurrence, sliding_windows
from wordgeom.counts.partial_counts import ScratchParts
from wordgeom.counts.plan import Plan
from wordgeom.counts.windows import WINDOWS, WindowOptions, denominator, reach, weights
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.shard import Shard
from wordgeom.storage.id_stream import read_around

SCRATCH = ScratchParts(None)
Document = list[int]  # words below V; V: a token without a row


def sliding(window: int) -> WindowOptions:
    return WindowOptions(window=window, window_weight="flat", count=WINDOWS)


class Stream:
    """Documents as ids (storage.id_stream.Ids), `gap` ids V + 1 between them."""

    def __init__(self, documents: list[Document], words: int, gap: int) -> None:
        between = [words + 1] * gap
        ids = [id for document in documents for id in [*between, *document]][gap:]
        self._ids = np.array(ids, np.int32)
        self._ids.flags.writeable = False
        self.length, self.in_place = len(ids), False

    def read(self, start: int, stop: int) -> np.ndarray:
        return self._ids[max(0, start) : min(stop, self.length)]

    def around(self, begin: int, end: int, reach: int, nowhere: int) -> tuple[np.ndarray, int]:
        return read_around(self, begin, end, reach, nowhere)

    def close(self) -> None:
        pass


def windows_of(document: Document, window: int) -> list[Document]:
    """Every window of consecutive tokens; a shorter document is one window."""
    last = max(len(document) - window, 0)
    return [document[start : start + window] for start in range(last + 1)]


def reference(documents: list[Document], words: int, window: int) -> Int64:
    """The number of windows with both words, on the diagonal with a word at least twice."""
    counts = np.zeros((words, words), np.int64)
    for document in documents:
        for tokens in windows_of(document, window):
            present = Counter(token for token in tokens if token < words)
            for a, b in combinations(present, 2):
                counts[a, b] += 1
                counts[b, a] += 1
            for a, often in present.items():
                counts[a, a] += often > 1
    return counts


def counted(
    stream: Stream, words: int, window: int, span: tuple[int, int] | None = None, *,
    chunk: int = 1 << 20, threads: int = 1,
) -> tuple[Int64, Int64]:  # fmt: skip
    """The counts (V, V), both triangles, and the sums (V) of the rows."""
    options = sliding(window)
    plan = Plan(words, weights(options), True, np.dtype(np.int64), sliding=True)
    begin, end = span or (0, stream.length)
    upper = np.zeros((words, words), np.int64)
    with Pool(threads) as pool:
        blocks, workspace = cooccurrence.count(stream, begin, end, plan, chunk, SCRATCH, pool)
        for block in blocks:
            bounds = np.cumsum([0, *block.lengths])
            for k in range(len(block.lengths)):
                entries = slice(bounds[k], bounds[k + 1])
                assert (np.diff(block.indices[entries]) > 0).all()
                assert (block.values[entries] > 0).all()
                upper[block.start + k, block.indices[entries]] = block.values[entries]
    return upper + np.triu(upper, 1).T, workspace.sums()[0]


@st.composite
def documents_of(draw: st.DrawFn) -> tuple[list[Document], int]:
    """Few words, so that they repeat within a window; tokens without a row; short documents."""
    words = draw(st.integers(1, 5))
    document = st.lists(st.integers(0, words), min_size=1, max_size=14)
    return draw(st.lists(document, min_size=1, max_size=4)), words


@given(st.data())
def test_counts_equal_the_enumeration_of_windows(data: st.DataObject):
    documents, words = data.draw(documents_of())
    window, gap = data.draw(st.integers(2, 7)), data.draw(st.integers(0, 3))
    stream = Stream(documents, words, window + gap)
    expected = reference(documents, words, window)
    chunk, threads = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 3))
    cut = data.draw(st.integers(0, stream.length))
    at_once = data.draw(st.integers(1, 30))
    with (
        patch.object(cooccurrence, "_BLOCK_WORK", 50),
        patch.object(sliding_windows, "_AT_ONCE", at_once),
    ):
        whole, sums = counted(stream, words, window)
        parts = [
            counted(stream, words, window, span, chunk=chunk, threads=threads)
            for span in ((0, cut), (cut, stream.length))
        ]
    np.testing.assert_array_equal(whole, expected)
    np.testing.assert_array_equal(parts[0][0] + parts[1][0], expected)
    np.testing.assert_array_equal(sums, expected.sum(axis=1))
    np.testing.assert_array_equal(parts[0][1] + parts[1][1], sums)


def test_chunks_and_threads_do_not_change_the_counts():
    ids = np.minimum(np.random.default_rng(0).zipf(1.3, 3000) - 1, 150).tolist()
    documents = [ids[:7], ids[7:2000], ids[2000:]]
    for window in (2, 10, 300):
        stream = Stream(documents, 150, window)
        whole, _ = counted(stream, 150, window)
        parts, _ = counted(stream, 150, window, chunk=700, threads=3)
        np.testing.assert_array_equal(whole, reference(documents, 150, window))
        np.testing.assert_array_equal(parts, whole)


@pytest.mark.parametrize("oov", ["keep", "drop"])
def test_windows_of_a_corpus_stay_within_documents(tmp_path: Path, oov: str):
    text = "a b c a d\nb\n\nc a x y z a b b\na c"
    options: dict[str, Any] = {
        "count": WINDOWS, "window": 3, "window_weight": "flat", "min_count": 2, "oov": oov,
    }  # fmt: skip
    made = build(put(tmp_path, text), tmp_path / "one", **options).store
    matrix = StoredMatrix.open(made.path)
    words = matrix.vocabulary.words
    rows = {word: row for row, word in enumerate(words)}
    documents = [[rows.get(t, len(words)) for t in line.split()] for line in text.split("\n")]
    kept = [[t for t in d if oov == "keep" or t < len(words)] for d in documents if d]
    np.testing.assert_array_equal(matrix.to_scipy().toarray(), reference(kept, len(words), 3))
    shards = [tmp_path / str(k) for k in (1, 2, 3)]
    for k, path in enumerate(shards, 1):
        build(put(tmp_path, text), path, shard=Shard(k, 3), memory=1e-6, **options)
    merged = merge_cooc(shards, tmp_path / "merged", RunOptions(threads=2)).store
    assert merged.digest == made.digest


def test_windows_of_two_tokens_are_adjacent_pairs():
    ids = np.random.default_rng(1).integers(0, 6, 500)
    expected = np.zeros((6, 6), np.int64)
    np.add.at(expected, (ids[:-1], ids[1:]), 1)
    expected = expected + expected.T
    expected[np.diag_indices(6)] //= 2  # a pair of one word is one window, not two pairs
    found, _ = counted(Stream([ids.tolist()], 6, 2), 6, 2)
    np.testing.assert_array_equal(found, expected)


def test_counts_of_distinct_words_fall_by_one_per_position_of_distance():
    window, words = 5, 60
    found, _ = counted(Stream([list(range(words))], words, window), words, window)
    for distance in range(1, words):
        inner = np.diagonal(found, distance)[window - 1 : words - distance - window + 1]
        assert (inner == max(window - distance, 0)).all()
    assert not np.diagonal(found).any()


def test_a_document_shorter_than_the_window_is_one_window():
    found, _ = counted(Stream([[0, 1, 0, 2]], 3, 9), 3, 9)
    np.testing.assert_array_equal(found, [[1, 1, 1], [1, 0, 1], [1, 1, 0]])


def test_tokens_without_a_row_keep_their_place_and_end_no_document():
    inside, _ = counted(Stream([[0, 2, 2, 2, 1]], 2, 5), 2, 5)
    beyond, _ = counted(Stream([[0, 2, 2, 2, 2, 1]], 2, 5), 2, 5)
    apart, _ = counted(Stream([[0], [1]], 2, 5), 2, 5)
    assert inside[0, 1] == 1
    assert not beyond.any()
    assert not apart.any()


def test_the_reach_is_one_less_than_the_window_and_counts_are_integers():
    options = sliding(10)
    assert reach(options) == 9
    assert len(weights(options)) == 2 * 9 + 1
    assert denominator(options) == 1
    assert reach(WindowOptions(window=10)) == 10


def test_the_default_weight_equals_the_explicit_one():
    asked = WindowOptions(count=WINDOWS, window_weight="flat")
    assert WindowOptions(count=WINDOWS).result_options() == asked.result_options()
    assert np.array_equal(weights(WindowOptions(count=WINDOWS)), weights(asked))
    asked = WindowOptions(window_weight="harmonic")
    assert WindowOptions().result_options() == asked.result_options()


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ({"window_weight": "harmonic"}, ("--window-weight harmonic", "pass --window-weight flat")),
        ({"window_weight": "dynamic"}, ("--window-weight dynamic",)),
        ({"context": "left"}, ("--context left", "--context both")),
        ({"context": "right"}, ("--context right",)),
        ({"window": 1}, ("--window 1", "pass --window 2")),
    ],
)
def test_options_that_contradict_windows_are_rejected(values, parts):
    with pytest.raises(OptionError) as caught:
        WindowOptions(count=WINDOWS, **values)
    assert_one_line(caught, *parts)

"""Counts equal a plain count of pairs for any chunks, threads, shards and block sizes."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from corpora import (
    Pairs,
    build,
    corpus_options,
    corpus_texts,
    encode_files,
    put,
    reference_documents,
    reference_pairs,
    reference_stream,
    reference_vocabulary,
    reference_weight,
    window_options,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from running import merge_cooc

from wordgeom.corpus.encoding.encode import EncodedCorpus
from wordgeom.corpus.options import CorpusOptions
from wordgeom.counts import cooccurrence, count_rows, merge
from wordgeom.counts.partial_counts import ScratchParts
from wordgeom.counts.plan import Plan
from wordgeom.counts.windows import WindowOptions, denominator, weights
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.runtime.pool import Pool, Reusable
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.shard import Shard
from wordgeom.storage.store import Store

CORPUS = CorpusOptions(min_count=1)
INT64: np.dtype[Any] = np.dtype(np.int64)
SCRATCH = ScratchParts(None)
UINT32: np.dtype[Any] = np.dtype(np.uint32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("counts")


class Counted:
    """A dense count (V, V) in units, and the sums from the workspace."""

    def __init__(
        self,
        encoded: EncodedCorpus,
        options: WindowOptions,
        span: tuple[int, int] | None = None,
        *,
        chunk: int = 1 << 20,
        threads: int = 1,
        dtype: np.dtype[Any] = INT64,
    ) -> None:
        words = len(encoded.vocabulary)
        both = options.context == "both"
        plan = Plan(words, weights(options), both, dtype)
        self.stored = np.zeros((words, words), np.int64)
        begin, end = span or (0, encoded.stream.length)
        following = 0
        with Pool(threads) as pool:
            stream = encoded.stream
            blocks, workspace = cooccurrence.count(stream, begin, end, plan, chunk, SCRATCH, pool)
            for block in blocks:
                assert block.start == following
                assert block.values.dtype == dtype
                following += len(block.lengths)
                self._take(block)
        assert following == words
        self.row_sums, self.column_sums = workspace.sums()
        upper = np.triu(self.stored, 1)
        self.whole = self.stored + upper.T if both else self.stored

    def _take(self, block: count_rows.Rows) -> None:
        bounds = np.cumsum([0, *block.lengths])
        assert len(block.indices) == len(block.values) == bounds[-1]
        for k, (a, b) in enumerate(pairwise(bounds)):
            assert (np.diff(block.indices[a:b]) > 0).all()  # ascending, none twice
            assert (block.values[a:b] > 0).all()
            self.stored[block.start + k, block.indices[a:b]] = block.values[a:b]


def expected_counts(pairs: Pairs, words: list[str], options: WindowOptions) -> np.ndarray:
    unit = denominator(options)
    whole = np.zeros((len(words), len(words)), np.int64)
    for (word, context), weight in pairs.items():
        units = weight * unit
        assert units.denominator == 1
        whole[words.index(word), words.index(context)] = int(units)
    return whole


def small_blocks(entries: int, work: int) -> ExitStack:
    """Cut rows into many blocks, so that mistakes with threads and buffers show."""
    stack = ExitStack()
    stack.enter_context(patch.object(count_rows, "ENTRIES", entries))
    stack.enter_context(patch.object(merge, "ENTRIES", entries))
    stack.enter_context(patch.object(cooccurrence, "_BLOCK_WORK", work))
    return stack


@settings(max_examples=150)
@given(st.data())
def test_counts_and_their_sums_follow_the_definition(folder: Path, data: st.DataObject):
    texts = data.draw(st.lists(corpus_texts, min_size=1, max_size=2))
    corpus, options = data.draw(corpus_options()), data.draw(window_options())
    documents = reference_documents(texts, corpus.tokeniser, corpus.document)
    vocabulary = reference_vocabulary(documents, corpus.min_count, corpus.max_vocab)
    if not vocabulary:
        return
    pairs = reference_pairs(reference_stream(documents, vocabulary, corpus, seed=5), options)
    expected = expected_counts(pairs, list(vocabulary), options)

    memory, threads = data.draw(st.sampled_from([4, 1 << 30])), data.draw(st.integers(1, 3))
    chunk = data.draw(st.integers(1, 40))  # bounds lie within documents and within gaps
    shards, entries = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 30))
    dtype = data.draw(st.sampled_from([INT64, UINT32]))
    encoded = encode_files(
        put(folder, *texts), corpus, gap=options.window, seed=5, memory=memory, threads=threads
    )
    with closing(encoded.stream), small_blocks(entries, 50):
        spans = [Shard(k, shards).span(encoded.stream.length) for k in range(1, shards + 1)]
        parts = [
            Counted(encoded, options, span, chunk=chunk, threads=threads, dtype=dtype)
            for span in spans
        ]
        whole = Counted(encoded, options, dtype=dtype)
    for made in (sum(p.whole for p in parts), whole.whole):
        np.testing.assert_array_equal(made, expected)
    for sums in (
        (sum(p.row_sums for p in parts), sum(p.column_sums for p in parts)),
        (whole.row_sums, whole.column_sums),
    ):
        np.testing.assert_array_equal(sums[0], expected.sum(axis=1))
        np.testing.assert_array_equal(sums[1], expected.sum(axis=0))


@given(window_options(widest=1000))
def test_weights_are_exact_up_to_20_and_within_half_a_unit_beyond(options: WindowOptions):
    unit, made = denominator(options), weights(options)
    exact = options.weight != "harmonic" or options.window <= 20
    assert len(made) == 2 * options.window + 1
    assert made[options.window] == 0
    for distance in range(1, options.window + 1):
        wanted = reference_weight(distance, options)
        right = Fraction(int(made[options.window + distance]), unit)
        left = Fraction(int(made[options.window - distance]), unit)
        assert left == (0 if options.context == "right" else right or left)
        for weight, side in ((left, "right"), (right, "left")):
            if options.context != side:
                assert abs(weight - wanted) <= (0 if exact else Fraction(1, 2**33))


def test_a_fixed_point_count_is_within_half_a_unit_for_each_pair(folder: Path):
    rng = np.random.default_rng(3)
    text = " ".join(f"w{k}" for k in rng.integers(0, 5, 300))
    options = WindowOptions(window=40, window_weight="harmonic")
    pairs = reference_pairs([list(text.split())], options)
    flat = reference_pairs([list(text.split())], replace(options, window_weight="flat"))
    encoded = encode_files(put(folder, text), CORPUS, gap=40)
    words = encoded.vocabulary.words
    made = Counted(encoded, options, chunk=100).whole
    for (word, context), weight in pairs.items():
        counted = Fraction(int(made[words.index(word), words.index(context)]), 2**32)
        assert abs(counted - weight) <= flat[word, context] * Fraction(1, 2**33)


@given(corpus_texts, window_options())
def test_left_is_right_transposed_and_both_is_their_sum(
    folder: Path, text: str, options: WindowOptions
):
    encoded = encode_files(put(folder, "a " + text), CORPUS, gap=options.window)
    left, right, both = (
        Counted(encoded, replace(options, context=side)) for side in ("left", "right", "both")
    )
    np.testing.assert_array_equal(left.whole, right.whole.T)
    np.testing.assert_array_equal(both.whole, left.whole + right.whole)
    np.testing.assert_array_equal(left.row_sums, right.column_sums)
    assert not np.tril(both.stored, -1).any()


def test_many_words_and_threads_give_the_same_counts(folder: Path):
    # Several groups of cells and several eights of groups; rows of every density.
    rng = np.random.default_rng(0)
    ids = np.minimum(rng.zipf(1.3, 4000), 700)
    text = " ".join(f"w{k}" for k in ids)
    encoded = encode_files(put(folder, text), CORPUS, gap=3)
    words = {word: k for k, word in enumerate(encoded.vocabulary.words)}
    for context in ("both", "right"):
        options = WindowOptions(window=3, window_weight="flat", context=context)
        expected = np.zeros((len(words), len(words)), np.int64)
        stream = np.array([words[w] for w in text.split()])
        for distance in (1, 2, 3):
            np.add.at(expected, (stream[:-distance], stream[distance:]), 1)
        if context == "both":
            expected += expected.T
        with small_blocks(500, 2000):
            for threads, chunk in ((1, 1 << 20), (3, 1 << 20), (3, 999)):
                made = Counted(encoded, options, threads=threads, chunk=chunk, dtype=UINT32)
                np.testing.assert_array_equal(made.whole, expected)
                np.testing.assert_array_equal(made.row_sums, expected.sum(axis=1))
                np.testing.assert_array_equal(made.column_sums, expected.sum(axis=0))


def test_lent_objects_are_made_by_one_thread_at_a_time():
    made: list[int] = []

    def make() -> int:
        made.append(len(made))
        time.sleep(0.01)  # a second thread here would get the same object
        return made[-1]

    lent = Reusable(make)
    with Pool(4) as pool:
        assert sorted(pool.map(lambda _: lent.take(), range(4))) == [0, 1, 2, 3]


TEXT = ("the cat sat on the mat " * 3 + "\nthe dog\n\n" + "a cat and a dog and the mat\n") * 4


def parts_of(store: Store) -> dict[str, bytes]:
    """The bytes of each part on disk."""
    return {n: (store.path / e["file"]).read_bytes() for n, e in store.parts().items()}


def dense(path: Path) -> np.ndarray:
    return StoredMatrix.open(path).to_scipy().toarray()


@pytest.mark.parametrize(
    "options",
    [
        {"window": 4},
        {"window": 20},  # counts need an int64
        {"window": 3, "window_weight": "flat", "context": "left", "oov": "drop", "min_count": 13},
    ],
)
@pytest.mark.parametrize("of", [2, 3, 7])
def test_merged_shards_equal_one_run_bit_for_bit(tmp_path: Path, options: dict[str, Any], of: int):
    names = put(tmp_path, TEXT, TEXT[::-1])
    one = build(names, tmp_path / "one", **options).store
    shards = [tmp_path / f"shard{k}" for k in range(1, of + 1)]
    for k, path in enumerate(shards, 1):
        build(names, path, shard=Shard(k, of), threads=k % 3 + 1, **{"memory": 1e-6, **options})
    with small_blocks(5, 50):
        merged = merge_cooc(shards[::-1], tmp_path / "merged", RunOptions(threads=3)).store
    assert merged.digest == one.digest
    assert parts_of(merged) == parts_of(one)
    assert merged.card["request"] == one.card["request"]


def test_a_wide_window_is_counted_in_64_bits(tmp_path: Path):
    (name,) = put(tmp_path, TEXT)
    store = build(name, tmp_path / "wide", window=20).store
    documents = reference_documents([TEXT], "words", "line")
    options = WindowOptions(window=20)
    pairs = reference_pairs([list(d) for d in documents], options)
    assert store.array("data").dtype == np.int64
    words = StoredMatrix.open(store.path).vocabulary.words
    expected = np.zeros((len(words), len(words)))
    for (word, context), weight in pairs.items():
        expected[words.index(word), words.index(context)] = float(weight)
    np.testing.assert_array_equal(dense(store.path), expected)


@pytest.mark.parametrize("context", ["both", "right"])
def test_merged_texts_equal_their_joint_count(tmp_path: Path, context: str):
    names = put(tmp_path, TEXT, "cat dog\n\ncat zebra the")
    words = tmp_path / "words"
    words.write_text("the\ncat\nnever\ndog\nzebra\n", encoding="utf-8")
    options: dict[str, Any] = {"read_vocab": str(words), "context": context, "document": "block"}
    each = [build(name, tmp_path / name.stem, **options).store.path for name in names]
    both = build(names, tmp_path / "both", **options).store
    merged = merge_cooc(each, tmp_path / "merged", RunOptions()).store
    assert (merged.digest, parts_of(merged)) == (both.digest, parts_of(both))
    matrix = StoredMatrix.open(merged.path)
    whole = np.rint(dense(merged.path) * matrix.denominator)
    np.testing.assert_array_equal(matrix.sums("row"), whole.sum(axis=1))
    np.testing.assert_array_equal(matrix.sums("column"), whole.sum(axis=0))


@given(st.integers(0, 99), st.integers(1, 9))
def test_shards_partition_a_stream(length: int, of: int):
    spans = [Shard(k, of).span(length) for k in range(1, of + 1)]
    assert [i for a, b in spans for i in range(a, b)] == list(range(length))

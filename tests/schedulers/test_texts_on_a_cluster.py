"""Texts that the workers of a cluster read have the ids and words of a local run."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from contexts import context_of
from corpora import corpus_texts, put
from hypothesis import given, settings
from hypothesis import strategies as st
from pickled import PickledScheduler

import wordgeom as wg
from wordgeom.core.errors import InputError, SchedulerError
from wordgeom.corpus.encoding import cluster_reader, text_ranges
from wordgeom.corpus.encoding.encode import encode
from wordgeom.corpus.encoding.text_ranges import FileRange
from wordgeom.corpus.encoding.word_counts import count_words
from wordgeom.corpus.inputs.readers import Source, file_stamp, has_digest
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import spill
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool
from wordgeom.storage.store import Store

_WAYS = st.fixed_dictionaries(
    {
        "tokeniser": st.sampled_from(["words", "whitespace"]),
        "document": st.sampled_from(["line", "block", "file"]),
        "oov": st.sampled_from(["keep", "drop"]),
        "phrases": st.sampled_from([0, 2]),
        "sample": st.sampled_from([0.0, 0.1]),
        "bad_bytes": st.just("replace"),
    }
)
_BYTES = ("é", "\u0301 ", "Σ ", "\r\n", "\n\n\n", "_a_ ")
_MARKS = st.lists(st.sampled_from(_BYTES)).map("".join)
_MIXED = st.tuples(corpus_texts, _MARKS, corpus_texts).map("".join)


def _encoded(names: list[str], options: CorpusOptions, context: Context) -> tuple[Any, ...]:
    sources = [Source(name) for name in names]
    try:
        text = encode(sources, options, context, gap=3, short=2)
    except InputError as error:
        return (str(error),)
    with closing(text.stream) as ids:
        stream = ids.read(0, ids.length).tolist()
    words = text.vocabulary.words, text.vocabulary.counts.tolist()
    facts = text.tokens, text.kept, text.documents, text.short, text.notes
    return stream, words, facts, [{**asdict(one), "digest": ""} for one in sources]


def _small(size: int, *, spills: bool = False) -> ExitStack:
    """Let a cluster read any text, in ranges of so many bytes."""
    stack = ExitStack()
    stack.enter_context(patch.object(cluster_reader, "WORTH", 0))
    stack.enter_context(patch.object(text_ranges, "_RANGE", size))
    if spills:
        stack.enter_context(patch.object(spill, "_MOST", 1))
    return stack


@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(st.one_of(_MIXED, st.just("")), min_size=1, max_size=4),
    size=st.integers(30, 300),
    ways=_WAYS,
    spills=st.booleans(),
)
def test_ranges_of_any_text_give_its_ids_and_facts(texts, size, ways, spills):
    options = CorpusOptions(**{"min_count": 1, "input_format": "text", **ways})
    with tempfile.TemporaryDirectory() as folder, Pool(2) as pool:
        names = list(map(str, put(Path(folder), *texts)))
        context, cluster = context_of(pool), PickledScheduler()
        with _small(size, spills=spills):
            found = _encoded(names, options, replace(context, cluster=cluster))
        assert found == _encoded(names, options, context)
        assert cluster.number > 0


@settings(max_examples=20, deadline=None)
@given(texts=st.lists(_MIXED, min_size=1, max_size=3), size=st.integers(30, 300))
def test_ranges_of_any_text_give_its_words(texts, size):
    options = CorpusOptions(tokeniser="words", input_format="text", bad_bytes="replace")
    with tempfile.TemporaryDirectory() as folder, Pool(2) as pool:
        names = list(map(str, put(Path(folder), *texts)))
        context, cluster = context_of(pool), PickledScheduler()
        alone = count_words([Source(name) for name in names], options, context)
        with _small(size):
            sources = [Source(name) for name in names]
            found = count_words(sources, options, replace(context, cluster=cluster))
    assert found.words.words == alone.words.words
    assert found.words.counts.tolist() == alone.words.counts.tolist()
    assert found.tokens == alone.tokens


@pytest.mark.parametrize("suffix", ["txt", "jsonl"])
def test_counts_of_a_text_that_workers_read_are_those_of_a_local_run(cluster, tmp_path, suffix):
    pytest.importorskip("distributed", reason="needs Dask: pip install 'wordgeom[cluster]'")
    rng = np.random.default_rng(7)
    lines = [" ".join(f"w{k}" for k in rng.zipf(1.3, 40) % 300) for _ in range(200)]
    text = tmp_path / f"text.{suffix}"
    written = [json.dumps({"text": line}) if suffix == "jsonl" else line for line in lines]
    text.write_text("\n".join(written))
    wg.count(text, out=tmp_path / "alone", threads=1)
    with _small(5000):
        wg.count(text, out=tmp_path / "made", scheduler=cluster.address)
    alone, made = (Store.open(tmp_path / name) for name in ("alone", "made"))
    assert made.digest == alone.digest
    digest = made.request["inputs"][0]["digest"]
    assert digest != alone.request["inputs"][0]["digest"]  # of the ranges
    assert has_digest(str(text), digest)
    assert "up to date" in wg.count(text, out=tmp_path / "made").summary


@pytest.mark.parametrize("change", ["missing", "longer"])
def test_a_worker_that_sees_another_text_says_so(tmp_path, change):
    (path,) = put(tmp_path, "a b c")
    stamp = tuple(sorted(file_stamp(str(path)).items()))
    path.unlink() if change == "missing" else path.write_text("a b c d")
    what = "does not see this file" if change == "missing" else "sees another file there"
    with pytest.raises(SchedulerError, match=rf"^{path}: a worker {what}.*; keep the text in"):
        FileRange(str(path), None, stamp).source(1 << 20)


def test_an_error_of_a_worker_names_the_file_and_the_byte(cluster, tmp_path):
    pytest.importorskip("distributed", reason="needs Dask: pip install 'wordgeom[cluster]'")
    path = tmp_path / "text.txt"
    path.write_bytes(b"some words\n" * 1000 + b"bad \xff byte\n")
    with (
        _small(5000),
        pytest.raises(InputError, match=rf"^{path}: not UTF-8 at byte 11,004, found 0xff"),
    ):
        wg.count(path, out=tmp_path / "made", scheduler=cluster.address)
    assert sorted(os.listdir(tmp_path)) == ["text.txt"]

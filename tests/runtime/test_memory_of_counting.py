"""--memory: what is held while text is read and counted stays below the limit, at any threads."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from corpora import assert_one_line, put, read

from wordgeom.core.errors import InputError
from wordgeom.corpus.encoding.memory_limits import blocks_ahead, ids_limit, longest_record
from wordgeom.corpus.inputs import readers
from wordgeom.corpus.options import CorpusOptions
from wordgeom.counts.cooccurrence import chunk_tokens
from wordgeom.counts.documents import ids_at_once
from wordgeom.linalg.device import get_ops
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import PROGRAM, data_room
from wordgeom.runtime.pool import LOOKAHEAD, Pool
from wordgeom.stages.count_matrix import counting_room, rows_at_once

LEAST = 300_000_000
STATUS = Path("/proc/self/status")
WORDS = 20_000


def context_of(threads: int, memory: int) -> Context:
    pool = Pool(threads)
    return Context(pool, partial(get_ops, "cpu", pool), memory)


@pytest.mark.parametrize("memory", [LEAST, 10**9, 10**11])
@pytest.mark.parametrize("threads", [1, 2, 4, 16])
@pytest.mark.parametrize("dtype", [np.uint32, np.int64])
def test_what_is_held_at_once_adds_up_to_less_than_the_limit(threads, memory, dtype):
    context = context_of(threads, memory)
    waiting = LOOKAHEAD * threads + 2
    blocks = (blocks_ahead(context) + 1) * 4 * readers.BLOCK  # text, normal form, ids twice
    assert PROGRAM + ids_limit(context) + blocks + memory // 8 <= memory
    room = counting_room(WORDS, context)
    words = data_room(memory) - room
    entry = 4 + np.dtype(dtype).itemsize
    buffers = waiting * entry * rows_at_once(room, np.dtype(dtype), context)
    chunk = 4 * chunk_tokens(room, 4)
    assert PROGRAM + words + ids_limit(context) + chunk + buffers <= memory
    assert PROGRAM + waiting * 20 * ids_at_once(room // 2, threads) <= memory
    assert PROGRAM + 5 * longest_record(context) <= memory


def test_a_large_item_waits_for_those_before_it_and_none_is_taken_beside_it():
    begun, held = [], threading.Lock()

    def work(size: int) -> int:
        with held:
            begun.append(size)
        return size

    def items():
        for size in (1, 1, 9, 1, 1):
            taken.append((size, len(done)))
            yield size

    taken: list[tuple[int, int]] = []
    done: list[int] = []
    with Pool(2) as pool:
        for size in pool.map(work, items(), 4, size=lambda size: size):
            done.append(size)
    assert done == [1, 1, 9, 1, 1]
    assert taken[3] == (1, 3)  # the item after the large one is read when that one is done
    assert sorted(begun) == sorted(done)


def test_a_record_that_does_not_fit_is_rejected_in_one_line(tmp_path: Path):
    (path,) = put(tmp_path, json.dumps({"text": "a b c"}) + "\n" + json.dumps({"text": "d " * 400}))
    options = CorpusOptions(min_count=1, input_format="jsonl", tokeniser="words", text_field="text")
    with patch.object(readers, "BLOCK", 100), pytest.raises(InputError) as caught:
        read([path], options, memory=5500)
    assert_one_line(caught, f"{path} line 2: the line has more than 600 bytes", "raise --memory")
    with patch.object(readers, "BLOCK", 100):
        assert read([path], options, memory=11_000).tokens == 403


def test_a_cell_of_many_lines_that_does_not_fit_is_rejected_in_one_line(tmp_path: Path):
    (path,) = put(tmp_path, 'id,text\n1,a\n2,"' + "d e\n" * 400 + '"\n')
    options = CorpusOptions(min_count=1, input_format="csv", tokeniser="words", text_field="text")
    with patch.object(readers, "BLOCK", 100), pytest.raises(InputError) as caught:
        read([path], options, memory=5500)
    assert_one_line(caught, f"{path} line 3: a quoted cell has more than", "raise --memory")


@pytest.mark.parametrize(
    ("text", "fitting"), [("a b " * 60, None), ("á b " * 50, 250), ("𝄞 " * 50, 136)]
)
def test_a_record_of_wide_characters_may_have_fewer_bytes(tmp_path: Path, text, fitting):
    (path,) = put(tmp_path, json.dumps({"text": text}, ensure_ascii=False) + "\n")
    options = CorpusOptions(min_count=1, input_format="jsonl", tokeniser="words", text_field="text")
    with patch.object(readers, "BLOCK", 50):
        if fitting is None:
            assert read([path], options, memory=2750).tokens == 120
            return
        with pytest.raises(InputError) as caught:
            read([path], options, memory=2750)
    assert_one_line(
        caught, f"{path} line 1: the line has", f"more than {fitting}", "raise --memory"
    )


@pytest.mark.skipif(not STATUS.exists(), reason="/proc/self/status is needed for private memory")
@pytest.mark.parametrize("threads", [1, 4])
def test_records_of_30_mb_are_counted_within_the_least_memory(tmp_path: Path, threads: int):
    draw = np.random.default_rng(1)
    words = [f"word{k}" for k in range(5000)]
    text = " ".join(words[k] for k in draw.integers(0, 5000, 30_000_000 // 9))
    with (tmp_path / "speeches.jsonl").open("w", encoding="utf-8") as file:
        for year in (1950, 1951, 1952):
            file.write(json.dumps({"year": year, "text": text}) + "\n")
    where = [str(tmp_path / "speeches.jsonl"), "--out", str(tmp_path / "cooc"), "--quiet"]
    run = [sys.executable, "-m", "wordgeom", "build-cooc", *where, "--memory", "0.3"]
    peak = 0
    with subprocess.Popen([*run, "--threads", str(threads)]) as made:
        while made.poll() is None:
            peak = max(peak, private(made.pid))
            time.sleep(0.002)
    assert made.returncode == 0
    assert 0 < peak < LEAST


def private(process: int) -> int:
    """The bytes that a process holds for itself: page cache is not counted."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    held = (line.split() for line in lines if line.startswith(("RssAnon", "RssShmem")))
    return sum(1024 * int(size) for _, size, _ in held)

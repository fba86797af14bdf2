"""Reading that was interrupted, at any block, goes on to what it makes in one go, or is refused."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from corpora import Read, corpus_options, corpus_texts, put, read
from hypothesis import given, settings
from hypothesis import strategies as st
from interruptions import HARMS, damage

from wordgeom.checkpoint import corpus_writer
from wordgeom.checkpoint.corpus_writer import CorpusWriter
from wordgeom.checkpoint.state import STATE, State
from wordgeom.cli import main
from wordgeom.core.errors import InputError, StaleError
from wordgeom.corpus.encoding import tokenise_block
from wordgeom.corpus.encoding.block_feed import BlockFeed, NumberedBlock
from wordgeom.corpus.inputs import readers
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import formats
from wordgeom.corpus.tokens import lexicon, spill
from wordgeom.runtime.run_options import ResumeOptions
from wordgeom.storage.store import Store, StoreWriter

REQUEST: dict[str, Any] = {"command": "build-cooc", "options": {}, "inputs": []}
NEVER = 1e6  # minutes
AGAIN = 75  # the exit status of what can be gone on with


@contextmanager
def stopped(at: int, *, inside: bool) -> Iterator[None]:
    """Ctrl-C when the block `at`, from 1, is asked for: before the reader is, or inside of it."""
    calls = [0]

    def count() -> None:
        calls[0] += 1
        if calls[0] == at:
            os.kill(os.getpid(), signal.SIGINT)

    def take(feed: BlockFeed) -> Any:
        count()
        return whole_take(feed)

    def blocks(*given: Any) -> Iterator[Any]:
        for block in whole_blocks(*given):
            count()
            yield block

    whole_take, whole_blocks = BlockFeed.take, formats.blocks
    owner, name, wrapper = (formats, "blocks", blocks) if inside else (BlockFeed, "take", take)
    with patch.object(owner, name, wrapper):
        yield


@contextmanager
def small(block: int, types: int = 1 << 10) -> Iterator[None]:
    """Let blocks be so many bytes, lexicons so many types, and every text be worth keeping."""
    with ExitStack() as patched:
        patched.enter_context(patch.object(readers, "BLOCK", block))
        patched.enter_context(patch.object(corpus_writer, "WORTH", 0))
        patched.enter_context(patch.object(lexicon, "_INITIAL_TYPES", types))
        patched.enter_context(patch.object(spill, "_SHARE", 1 << 12))
        yield


def go_on(
    folder: Path,
    paths: list[Path],
    options: CorpusOptions,
    *,
    checkpoint: float = NEVER,
    **how: Any,
) -> Read:
    """Read with what is kept in a folder."""
    state = folder / ".state"
    kept = State(state, REQUEST, ResumeOptions(resume=True, checkpoint=checkpoint))
    return read(paths, options, checkpoint=CorpusWriter(kept), **how)


def outcome(run: Any) -> tuple[object, ...]:
    """What was read, with the order of the words, or the error."""
    try:
        made = run()
    except InputError as error:
        return (str(error),)
    return list(made.vocabulary), made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reading")


@given(
    st.lists(corpus_texts, min_size=1, max_size=3),
    corpus_options(),
    st.tuples(st.integers(8, 40), st.sampled_from([2, 1 << 10])),
    st.lists(st.tuples(st.integers(1, 8), st.booleans()), min_size=1, max_size=2),
    st.booleans(),
    st.integers(1, 3),
)
@settings(max_examples=25)
def test_reading_goes_on_from_any_block_to_what_it_makes_in_one_go(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    options: CorpusOptions,
    sizes: tuple[int, int],
    stops: list[tuple[int, bool]],
    often: bool,
    threads: int,
):
    folder = tmp_path_factory.mktemp("any")
    paths = put(folder, *texts)
    how = {"memory": 1 << 20, "threads": threads, "checkpoint": 0.0 if often else NEVER}
    with small(*sizes):
        expected = outcome(lambda: read(paths, options, memory=1 << 20))
        for at, inside in stops:
            with stopped(at, inside=inside):
                try:
                    found = outcome(lambda: go_on(folder, paths, options, **how))
                except KeyboardInterrupt:
                    continue
            assert found == expected
        assert outcome(lambda: go_on(folder, paths, options, **how)) == expected


@pytest.mark.parametrize("inside", [False, True])
def test_what_was_read_is_not_read_again(folder: Path, inside: bool):
    (path,) = put(folder, "one two three four five six seven eight nine ten\n" * 20)
    tokenised = []
    tokenise = tokenise_block._tokenise

    def noted(numbered: NumberedBlock, *rest: Any) -> Any:
        tokenised.append(numbered.base)
        return tokenise(numbered, *rest)

    with small(50), patch.object(tokenise_block, "_tokenise", noted):
        expected = read([path])
        every = sorted(tokenised)
        tokenised.clear()
        (folder / str(inside)).mkdir()
        for at in (4, 9):
            with stopped(at, inside=inside), pytest.raises(KeyboardInterrupt):
                go_on(folder / str(inside), [path], CorpusOptions(min_count=1), threads=2)
        assert go_on(folder / str(inside), [path], CorpusOptions(min_count=1)) == expected
    assert sorted(tokenised) == every  # each block once
    pieces = [piece.name for piece in (folder / str(inside) / ".state").glob("text-*")]
    assert sorted(pieces) == ["text-0", "text-1", "text-2"]


def test_short_texts_are_kept_when_it_is_time_alone(tmp_path: Path):
    paths = put(tmp_path, "a b c\n" * 20)
    for checkpoint, kept in ((NEVER, 0), (0.0, 1)):
        with patch.object(readers, "BLOCK", 20):
            with stopped(3, inside=False), pytest.raises(KeyboardInterrupt):
                go_on(tmp_path, paths, CorpusOptions(min_count=1), checkpoint=checkpoint)
            assert len([*tmp_path.glob(".state/text-*")]) == kept * 2


def test_a_text_is_kept_at_its_end_where_something_long_comes_after(tmp_path: Path):
    paths = put(tmp_path, "a b c\n" * 20)  # 79 ids
    for worth, phrases, kept in ((80, 1, 0), (79, 1, 1), (79, 0, 0), (39, 0, 1)):
        folder = tmp_path / f"{worth}-{phrases}"
        folder.mkdir()
        with patch.object(corpus_writer, "WORTH", worth):
            go_on(folder, paths, CorpusOptions(min_count=1, phrases=phrases))
        assert len([*folder.glob(".state/text-0/meta.json")]) == kept


def test_a_second_ctrl_c_is_not_put_off(tmp_path: Path):
    paths = put(tmp_path, "a b c\n" * 20)
    commit = corpus_writer.SegmentWriter.commit

    def impatient(*given: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        commit(*given)

    with (
        small(20),
        patch.object(corpus_writer.SegmentWriter, "commit", impatient),
        stopped(3, inside=False),
        pytest.raises(KeyboardInterrupt),
    ):
        go_on(tmp_path, paths, CorpusOptions(min_count=1))
    assert not [*tmp_path.glob(".state/*/meta.json")]
    assert not [*tmp_path.glob(".state/text-*")]


@pytest.fixture
def interrupted(tmp_path: Path) -> Path:
    """A folder with a text whose reading was stopped after three blocks."""
    paths = put(tmp_path, "a b c d e f\n" * 20)
    with small(30), stopped(4, inside=False), pytest.raises(KeyboardInterrupt):
        go_on(tmp_path, paths, CorpusOptions(min_count=1))
    return tmp_path


@pytest.mark.parametrize("text", ["a b c d e g\n" * 20, "a b c d e f\n" * 6, "a b c d e f\n", ""])
def test_segments_of_another_text_are_refused(interrupted: Path, text: str):
    paths = put(interrupted, text)
    with small(30), pytest.raises(StaleError, match="over a different text; start over"):
        go_on(interrupted, paths, CorpusOptions(min_count=1))


def edit(folder: Path, attributes: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write the first segment anew, right digests and all, with other contents."""
    path = folder / ".state" / "text-0"
    old = Store.open(path)
    held = {part: old.array(part).read().copy() for part in old.parts()}
    for name, change in arrays.items():
        held[name] = change(held[name])
    with StoreWriter(path, STATE) as writer:
        for part, values in held.items():
            writer.array(part, values.dtype).write(values)
        writer.commit({**old.attributes, **attributes}, {})


def at(place: int, value: int) -> Any:
    """A change of one number."""

    def change(values: np.ndarray) -> np.ndarray:
        values[place] = value
        return values

    return change


def in_runs(column: int, offset: int, value: int) -> Any:
    """A change of a number (int64) in the part of the first run that a column of its row tells."""

    def change(runs: np.ndarray) -> np.ndarray:
        start = TABLE[column] + offset
        runs[start : start + 8] = np.frombuffer(np.int64(value).tobytes(), np.uint8)
        return runs

    return change


TABLE = (6, 0, 24, 24 + 16 * (spill.BUCKETS + 1), 24 + 16 * (spill.BUCKETS + 1) + 6 * 32)
ORDER, EDGES, ENTRIES = 1, 2, 3


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files of records, one packed, in many blocks."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    for name in ("one.jsonl", "two.jsonl"):
        lines = [
            json.dumps({"text": "new york " + " ".join(f"w{k}" for k in rng.zipf(1.4, 20) % 50),
                        "id": f"{name}{n}", "year": 1990 + n}) for n in range(60)
        ]  # fmt: skip
        Path(name).write_text("\n".join(lines))
    Path("two.jsonl.gz").write_bytes(gzip.compress(Path("two.jsonl").read_bytes()))
    Path("stop.txt").write_text("w3\n")
    monkeypatch.setattr(readers, "BLOCK", 1 << 10)
    monkeypatch.setattr(corpus_writer, "WORTH", 0)
    return tmp_path


COUNT = ["build-cooc", "one.jsonl", "two.jsonl.gz", "--id-field", "id", "--time-field", "year",
         "--min-count", "2", "--window", "3", "--phrases", "1", "--stop-words", "stop.txt",
         "--oov", "drop", "--quiet"]  # fmt: skip


def digest(path: str) -> str:
    store = Store.open(path)
    store.check()
    return store.digest


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("checkpoint", ["0", "5"])
def test_a_count_of_records_goes_on_with_its_documents(
    records: Path, threads: str, checkpoint: str
):
    assert main([*COUNT, "-o", "whole"]) == 0
    assert Store.open("whole").text("documents").count(b"\n") == 120
    for block in (3, 9, 14):
        with stopped(block, inside=False):
            more = ["--threads", threads, "--checkpoint", checkpoint]
            assert main([*COUNT, *more, *(["--resume"] if block > 3 else [])]) == AGAIN
        assert not Path("cooc").exists()
        assert [*Path(".cooc.state").glob("text-*/meta.json")]
    assert main([*COUNT, "--resume"]) == 0
    assert digest("cooc") == digest("whole")
    assert Store.open("cooc").request["inputs"] == Store.open("whole").request["inputs"]
    assert not Path(".cooc.state").exists()


def test_a_stop_behind_the_reading_leaves_all_of_the_text(
    records: Path, monkeypatch: pytest.MonkeyPatch
):
    assert main([*COUNT, "-o", "whole"]) == 0
    with monkeypatch.context() as patched:
        patched.setattr("wordgeom.corpus.encoding.encode.with_phrases", _interrupt)
        assert main(COUNT) == AGAIN
    with monkeypatch.context() as patched:
        patched.setattr(tokenise_block.BlockTokeniser, "__call__", None)  # would fail
        assert main([*COUNT, "--resume"]) == 0
    assert digest("cooc") == digest("whole")


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def test_segments_go_when_the_whole_text_is_kept(records: Path, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patched:
        patched.setattr("wordgeom.stages.build_cooc.BuildCooc._count", _interrupt)
        assert main([*COUNT, "--checkpoint", "0"]) == AGAIN
    assert {path.name for path in Path(".cooc.state").iterdir()} == {"request.json", "ids"}


def complaint(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    """Run a command that must fail; return its one line."""
    capsys.readouterr()
    assert main([*args]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    return told


def test_other_text_is_refused_under_the_same_stamp_and_from_a_pipe(
    records: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    with stopped(6, inside=False):
        assert main(COUNT) == AGAIN
    path = Path("one.jsonl")
    stamp, text = path.stat(), path.read_bytes()
    path.write_bytes(text.replace(b"york", b"yolk"))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert ".cooc.state: is the checkpoint of a run over a different text" in complaint(
        capsys, *COUNT, "--resume"
    )
    assert main([*COUNT, "--force"]) == 0

    def piped(content: bytes) -> list[str]:
        raw = io.BufferedReader(io.BytesIO(content))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw))
        return ["build-cooc", "-", "-o", "piped", "--min-count", "1", "--quiet"]

    with stopped(5, inside=True):
        assert main(piped(text)) == AGAIN
    assert "over a different text" in complaint(capsys, *piped(text[::-1]), "--resume")
    assert main([*piped(text), "--resume"]) == 0
    assert main([*piped(text)[:3], "whole", *piped(text)[4:]]) == 0
    assert digest("piped") == digest("whole")


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("which", ["ids", "runs", "pieces", "table"])
def test_a_damaged_segment_is_refused_in_a_line(
    records: Path, capsys: pytest.CaptureFixture[str], harm: str, which: str
):
    with stopped(6, inside=False):
        assert main(COUNT) == AGAIN
    path = Path(f".cooc.state/text-0/{which}.1.npy")
    damage(path, harm, 130)
    assert str(path) in complaint(capsys, *COUNT, "--resume")
    assert not Path("cooc").exists()

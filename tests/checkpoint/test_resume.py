"""Counts, sums and weights that were interrupted: gone on with, to the same bytes, or refused."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interruptions import HARMS, damage

from wordgeom.checkpoint import corpus_writer
from wordgeom.checkpoint.matrix_rows import MatrixRows
from wordgeom.checkpoint.token_ids import PartialCounts
from wordgeom.cli import main
from wordgeom.core import row_blocks
from wordgeom.counts import cooccurrence, count_rows, merge
from wordgeom.matrices.cooccurrence import MatrixWriter, StoredMatrix
from wordgeom.runtime.signals import deferred_signals, stop_requests
from wordgeom.stages import build_cooc
from wordgeom.storage import files
from wordgeom.storage.store import Store

COUNT = ["build-cooc", "corpus.txt", "--min-count", "2", "--window", "3"]
AGAIN = 75  # the exit status of what can be gone on with


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A text of 30,000 tokens that is written in many blocks of rows."""
    monkeypatch.chdir(tmp_path)
    ids = np.random.default_rng(8).zipf(1.3, (1500, 20)) % 400
    Path("corpus.txt").write_text("\n".join(" ".join(f"w{k}" for k in line) for line in ids))
    for module in (count_rows, merge):
        monkeypatch.setattr(module, "ENTRIES", 2000)
    monkeypatch.setattr(cooccurrence, "_BLOCK_WORK", 20_000)
    monkeypatch.setattr(row_blocks, "BLOCK_ENTRIES", 2000)
    monkeypatch.setattr(corpus_writer, "WORTH", 0)
    return tmp_path


@pytest.fixture
def in_parts(monkeypatch):
    """Chunks of 10,000 tokens."""
    monkeypatch.setattr(cooccurrence, "_SMALLEST_CHUNK", 10_000)
    monkeypatch.setattr(cooccurrence, "_LARGEST_CHUNK", 10_000)


@contextlib.contextmanager
def stopped(monkeypatch, number: int) -> Iterator[None]:
    """Ctrl-C while the block of rows `number` is written."""
    write, calls = MatrixWriter.write, [0]

    def interrupted(self, *block):
        calls[0] += 1
        if calls[0] == number:
            os.kill(os.getpid(), signal.SIGINT)
        write(self, *block)

    with monkeypatch.context() as patch:
        patch.setattr(MatrixWriter, "write", interrupted)
        yield


@contextlib.contextmanager
def written(monkeypatch) -> Iterator[list[int]]:
    """A list of the number of rows of each block that is written."""
    lengths: list[int] = []
    write = MatrixWriter.write

    def noted(self, *block):
        lengths.append(len(block[0]))
        write(self, *block)

    with monkeypatch.context() as patch:
        patch.setattr(MatrixWriter, "write", noted)
        yield lengths


REPLACED = re.compile(
    r"note: replacing the checkpoint of an interrupted run, \.cooc\.state \([\d.]+ KB\)\n"
)


def run(*args: str) -> int:
    return main([*args, "--quiet"])


def digest(path: str) -> str:
    store = Store.open(path)
    store.check()
    return store.digest


def names() -> set[str]:
    return {path.name for path in Path().iterdir()}


def assert_alone(path: str) -> None:
    """Fail where a store's folder holds more than the store."""
    named = {part["file"] for part in Store.open(path).parts().values()}
    assert {file.name for file in Path(path).iterdir()} == {"meta.json", *named}


def assert_goes_on(monkeypatch, command: list[str], out: str, number: int) -> None:
    """Fail where a command, stopped at a block, does not go on to what it makes in one go."""
    assert run(*command, "-o", "whole") == 0
    before = names()
    with stopped(monkeypatch, number):
        assert run(*command, "-o", out) == AGAIN
    assert not Path(out, "meta.json").exists()
    with written(monkeypatch) as lengths:
        assert run(*command, "-o", out, "--resume", "--threads", "2") == 0
    assert digest(out) == digest("whole")
    assert 0 < sum(lengths) < len(StoredMatrix.open(out).vocabulary)
    assert names() == {*before, out}
    assert_alone(out)


@pytest.mark.parametrize("context", ["both", "left"])
@pytest.mark.parametrize("number", [1, 2, 5])
def test_a_count_goes_on_to_the_bytes_of_one_that_was_not_interrupted(
    folder, monkeypatch, number, context
):
    assert_goes_on(monkeypatch, [*COUNT, "--context", context], "cooc", number)


def test_a_count_in_parts_goes_on(folder, monkeypatch, in_parts):
    assert_goes_on(monkeypatch, COUNT, "cooc", 3)


def test_a_sum_and_weights_go_on(folder, monkeypatch):
    for part in ("1", "2"):
        assert run(*COUNT, "--shard", f"{part}/2", "-o", "p") == 0
    assert_goes_on(monkeypatch, ["merge", "p.shard-1-of-2", "p.shard-2-of-2"], "cooc", 2)
    assert run(*COUNT, "-o", "whole", "--force") == 0
    assert digest("cooc") == digest("whole")
    Path("whole").rename("counts")
    assert_goes_on(monkeypatch, ["build-pmi", "counts"], "pmi", 2)


def test_finished_parts_are_not_counted_again_with_another_memory_or_not(
    folder, monkeypatch, in_parts
):
    assert run(*COUNT, "-o", "whole") == 0
    spill, spans = PartialCounts.spill, []

    def third(self, span, *rest):
        spans.append(span)
        if len(spans) == 3:
            raise KeyboardInterrupt
        return spill(self, span, *rest)

    monkeypatch.setattr(PartialCounts, "spill", third)
    assert run(*COUNT) == AGAIN
    assert run(*COUNT, "--resume") == 0
    assert len(set(spans)) == len(spans) - 1  # the third alone was counted again
    assert digest("cooc") == digest("whole")
    spans.clear()
    assert run(*COUNT, "-o", "other") == AGAIN
    monkeypatch.setattr(cooccurrence, "_LARGEST_CHUNK", 20_000)
    monkeypatch.setattr(cooccurrence, "_SMALLEST_CHUNK", 20_000)
    assert run(*COUNT, "-o", "other", "--resume") == 0
    assert digest("other") == digest("whole")


def test_a_text_that_was_read_is_not_read_again(folder, monkeypatch):
    text = Path("corpus.txt").read_bytes()
    assert run(*COUNT, "-o", "whole") == 0
    command = ["build-cooc", "-", *COUNT[2:]]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text))))
    with stopped(monkeypatch, 2):
        assert run(*command) == AGAIN
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"x"))))
    monkeypatch.setattr(build_cooc, "encode", None)  # would fail
    assert run(*command, "--resume") == 0
    assert digest("cooc") == digest("whole")
    inputs = Store.open("cooc").request["inputs"]
    assert [i["digest"] for i in inputs] == [
        i["digest"] for i in Store.open("whole").request["inputs"]
    ]


@pytest.fixture
def interrupted(folder, monkeypatch):
    """What is there when a count was stopped at its second block."""
    with stopped(monkeypatch, 2):
        assert run(*COUNT) == AGAIN
    return folder


def complaint(capsys, *args: str) -> str:
    """Run a command that must fail; return its one line."""
    capsys.readouterr()
    assert run(*args) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    return str(told)


def test_the_state_of_other_requests_is_refused(interrupted, capsys):
    state = {path: path.read_bytes() for path in Path(".cooc.state").rglob("*.*") if path.is_file()}
    told = complaint(capsys, *COUNT, "--resume", "--window-weight", "flat")
    assert "with --window-weight harmonic, not flat" in told
    with Path("corpus.txt").open("a") as text:
        text.write("more\n")
    assert "other inputs" in complaint(capsys, *COUNT, "--resume")
    assert state == {path: path.read_bytes() for path in state}


def test_a_forgotten_resume_loses_nothing_and_force_begins_anew(interrupted, capsys):
    assert "resume it with --resume, or start over with --force" in complaint(capsys, *COUNT)
    assert "is unfinished" in complaint(capsys, "train", "cooc", "--method", "gbu")
    assert run(*COUNT, "--force") == 0
    assert names() == {"corpus.txt", "cooc"}
    assert_alone("cooc")


def test_commands_say_that_an_output_is_unfinished(interrupted, capsys):
    assert not Path("cooc").exists()
    for args in (["build-pmi", "cooc", "-o", "p"], ["merge", "cooc", "cooc", "-o", "m"]):
        assert "cooc: is unfinished; run its command again" in complaint(capsys, *args)
    assert main(["info", "cooc"]) == 1
    assert "cooc: is unfinished; run its command again" in capsys.readouterr().err


def test_a_replaced_checkpoint_is_named_with_its_size(interrupted, capsys):
    assert main([*COUNT, "--window", "2", "--force"]) == 0
    assert REPLACED.search(capsys.readouterr().err)
    assert names() == {"corpus.txt", "cooc"}


def test_a_conversion_replaces_the_checkpoint_of_its_output_with_force_only(
    folder, monkeypatch, capsys
):
    assert run(*COUNT, "-o", "other") == 0
    assert run("convert", "other", "other.npz") == 0
    with stopped(monkeypatch, 2):
        assert run(*COUNT) == AGAIN
    there = names()
    told = complaint(capsys, "convert", "other.npz", "cooc")
    assert ".cooc.state: contains the checkpoint of an interrupted run" in told
    assert names() == there
    assert main(["convert", "other.npz", "cooc", "--force"]) == 0
    assert REPLACED.search(capsys.readouterr().err)
    assert names() == {name for name in there if not name.startswith(".")} | {"cooc"}
    assert_alone("cooc")


def test_a_run_stopped_before_its_checkpoint_does_not_offer_that_of_another(
    interrupted, monkeypatch, capsys
):
    capsys.readouterr()
    with monkeypatch.context() as patch:

        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr("wordgeom.stages.build_cooc.BuildCooc.work", stop)
        assert run(*COUNT, "--window", "2", "--force") == AGAIN
    said = capsys.readouterr().err
    assert "no checkpoint was saved yet: repeat the command; existing output is unch" in said
    assert run(*COUNT, "--resume") == 0


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("which", [".cooc.unfinished/indices.1.npy", ".cooc.state/ids/ids.1.npy"])
def test_what_is_damaged_is_refused_in_a_line(interrupted, capsys, harm, which):
    path = Path(which)
    damage(path, harm, 200)
    assert str(path) in complaint(capsys, *COUNT, "--resume")
    assert not Path("cooc/meta.json").exists()
    assert run(*COUNT, "--force") == 0


def test_an_old_output_stays_until_the_new_one_is_whole(folder, monkeypatch):
    assert run(*COUNT) == 0
    old, other = digest("cooc"), [*COUNT, "--window-weight", "flat"]
    assert run(*other, "-o", "whole") == 0
    with stopped(monkeypatch, 2):
        assert run(*other, "--force") == AGAIN
    assert digest("cooc") == old
    assert run(*other, "--force", "--resume") == 0
    assert digest("cooc") == digest("whole")
    assert_alone("cooc")


def test_an_output_that_is_there_needs_no_state(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(
            "wordgeom.checkpoint.state._remove", lambda _: None
        )  # killed before it removes
        with stopped(monkeypatch, 2):
            assert run(*COUNT) == AGAIN
        assert run(*COUNT, "--resume") == 0
    assert Path(".cooc.state").exists()
    assert run(*COUNT) == 0
    assert names() == {"corpus.txt", "cooc"}


def test_the_steps_of_a_configuration_go_on(folder, monkeypatch, capsys):
    Path("x.toml").write_text(
        '[build-cooc]\ncorpus = "corpus.txt"\n[build-pmi]\n'
        '[train]\nmethod = "gbu"\nmatrix = "pmi"\ndim = 3\n'
    )
    with stopped(monkeypatch, 2):
        assert main(["run", "x.toml"]) == AGAIN
    assert "continue with --resume" in capsys.readouterr().err
    assert main(["run", "x.toml"]) == 1
    assert main(["run", "x.toml", "--resume"]) == 0
    assert names() == {"corpus.txt", "x.toml", "cooc", "pmi", "vectors.bin", "vectors.bin.json"}


def test_short_counts_keep_nothing(folder, monkeypatch):
    monkeypatch.setattr(corpus_writer, "WORTH", 1 << 24)
    monkeypatch.setattr("wordgeom.checkpoint.state.StoreWriter", None)  # would fail
    assert run(*COUNT) == 0


def test_rows_are_kept_now_and_then(folder, monkeypatch):
    """A run that is killed, and can do nothing any more, goes on from its last state."""
    assert run(*COUNT, "-o", "whole") == 0
    write, calls = MatrixWriter.write, [0]

    def killed(self, *block):
        calls[0] += 1
        if calls[0] == 4:
            os._exit(9)
        write(self, *block)

    process = os.fork()
    if not process:
        MatrixWriter.write = killed  # type: ignore[method-assign]
        os._exit(run(*COUNT, "--checkpoint", "0", "--threads", "1"))
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 9
    with written(monkeypatch) as lengths:
        assert run(*COUNT, "--resume") == 0
    assert digest("cooc") == digest("whole")
    assert 0 < sum(lengths) < len(StoredMatrix.open("cooc").vocabulary)


def test_a_block_that_must_not_be_broken_is_not(monkeypatch):
    stops: list[str] = []

    def stop(*_: Any) -> None:
        stops.append("stopped")
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    done = []

    def work() -> None:
        with deferred_signals():
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGTERM)
            done.append("block")

    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        assert signal.getsignal(signal.SIGTERM) is stop
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (done, stops) == (["block"], ["stopped"])


def test_threads_may_use_blocks_that_must_not_be_broken():
    done = []

    def work() -> None:
        with deferred_signals(), stop_requests() as stop, stop.immediate():
            done.append(stop.requested)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [False]


def test_a_loop_ends_by_itself_where_it_looks_and_at_once_where_it_waits():
    def interrupt() -> None:
        os.kill(os.getpid(), signal.SIGINT)

    rounds: list[str] = []

    def looks() -> None:
        with stop_requests() as stop:
            while not stop.requested and len(rounds) < 3:
                interrupt()
                rounds.append("whole")

    def waits(before: int) -> None:
        with stop_requests() as stop:
            for _ in range(before):
                interrupt()
            with stop.immediate():
                interrupt()
                rounds.append("never")

    found = signal.getsignal(signal.SIGINT)
    for work in (looks, partial(waits, 0), partial(waits, 2)):
        with pytest.raises(KeyboardInterrupt):
            work()
    assert rounds == ["whole"]
    assert signal.getsignal(signal.SIGINT) is found


@pytest.mark.parametrize("there", ["nothing", "an empty folder", "what a killed run left"])
def test_a_stopped_run_leaves_no_empty_folder_of_its_own(folder, monkeypatch, there):
    if there != "nothing":
        Path("cooc").mkdir()
    if there == "what a killed run left":
        Path("cooc/.lock").write_text('{"host": "", "pid": 0, "start": ""}')
        Path("cooc/indices.1.npy").write_bytes(b"part")

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(build_cooc.BuildCooc, "_count", interrupt)
    assert run(*COUNT) == AGAIN
    assert Path("cooc").exists() == (there == "an empty folder")


def test_a_sum_that_was_stopped_before_its_first_row_keeps_nothing(folder, monkeypatch, capsys):
    for part in ("1", "2"):
        assert run(*COUNT, "--shard", f"{part}/2", "-o", "p") == 0
    before = names()

    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    write = MatrixRows.write
    monkeypatch.setattr(MatrixRows, "write", lambda self, _: write(self, map(interrupt, [1])))
    assert run("merge", "p.shard-1-of-2", "p.shard-2-of-2") == AGAIN
    assert "no checkpoint was saved yet" in capsys.readouterr().err
    assert names() == before


def test_a_state_that_cannot_be_kept_leaves_nothing_of_its_rows(folder, monkeypatch, capsys):
    def full(step: str, path: Path) -> None:
        if step == "write" and "rows" in path.parts:
            raise OSError(errno.ENOSPC, "no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files, "boundary", full)
        said = complaint(capsys, *COUNT, "--checkpoint", "0")
    assert "no space left" in said
    assert said.rstrip().endswith("left, and the checkpoint stays for --resume")
    assert names() == {"corpus.txt", ".cooc.state"}  # the text is kept
    assert run(*COUNT, "--resume") == 0
    assert names() == {"corpus.txt", "cooc"}
    assert_alone("cooc")

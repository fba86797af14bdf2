"""A home that cannot be written to, a second writer, a folder that goes, a clock that goes back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from faults.products import products
from faults.workshop import Workshop, command, environment

pytestmark = pytest.mark.faults

COUNT = command("build-cooc")
KEPT = command("build-cooc, kept")
HIDDEN = ".out.unfinished"  # where it builds `out`
PIPED = [*COUNT.line.replace("../inputs/corpus.txt", "-").split(), "--quiet"]


@contextmanager
def writer(place: Path) -> Iterator[subprocess.Popen[str]]:
    """A count that holds the lock of `out` and waits for its text."""
    with subprocess.Popen(
        [sys.executable, "-m", "wordgeom", *PIPED], cwd=place, env=environment(),
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        end = time.monotonic() + 30
        while not (place / HIDDEN / ".lock").exists() and time.monotonic() < end:
            time.sleep(0.005)
        try:
            yield process
        finally:
            process.kill()


def test_a_second_writer_is_refused_and_the_first_ends_well(shop: Workshop) -> None:
    place = shop.place(COUNT, old=False)
    with writer(place) as first:
        second = shop.run(place, COUNT.line.split())
        _, said = first.communicate((shop.inputs / "corpus.txt").read_text())
    assert (second.status, len(second.said.splitlines())) == (1, 1)
    assert "is being written" in second.said
    assert (first.returncode, said) == (0, "")
    assert products(place) == shop.known(COUNT)[2]


def test_an_output_whose_folder_goes_is_an_error_of_one_line(shop: Workshop) -> None:
    place = shop.place(COUNT, old=False)
    with writer(place) as process:
        shutil.rmtree(place / HIDDEN)
        _, said = process.communicate((shop.inputs / "corpus.txt").read_text())
    assert process.returncode == 1
    assert len(said.splitlines()) == 1, said
    assert not list(place.iterdir())


@pytest.mark.parametrize("name", ["build-cooc", "train gbu, binary", "convert"])
def test_the_lock_of_a_process_that_died_stops_nobody(shop: Workshop, name: str) -> None:
    one = command(name)
    place = shop.place(one, old=True)
    lock = {"host": os.uname().nodename, "pid": 2**22 - 1, "start": "1"}
    folder = place / "out"
    path = folder / ".lock" if folder.is_dir() else next(place.glob("out.*"))
    path = path if folder.is_dir() else place / f".{path.name}.lock"
    path.write_text(json.dumps(lock))
    assert shop.run(place, [*one.line.split(), "--force"]).status == 0
    assert products(place).keys() - {path.name} == shop.known(one)[2].keys()


@pytest.mark.parametrize("home", [None, "/dev/null/nowhere"], ids=["none", "cannot be written to"])
def test_without_a_home_all_is_made_as_with_one(shop: Workshop, home: str | None) -> None:
    one = command("convert")
    line = one.line.replace("out.txt", "out.bin").split()  # needs no kernel: they take minutes
    place = shop.place(one, old=False)
    found = environment(WORDGEOM_CACHE="", XDG_CACHE_HOME="", HOME=home or "")
    if home is None:
        del found["HOME"]
    done = subprocess.run(
        [sys.executable, "-m", "wordgeom", *line], cwd=place, env=found, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert (place / "out.bin").read_bytes() == (shop.inputs / "vectors.bin").read_bytes()


def test_a_clock_that_goes_back_makes_nothing_stale(shop: Workshop) -> None:
    place = shop.place(COUNT, old=False)
    shop.succeed(place, COUNT.line.split())
    try:
        os.utime(shop.inputs / "corpus.txt", (0, 0))
        again = shop.run(place, COUNT.line.split())
    finally:
        os.utime(shop.inputs / "corpus.txt")
    assert (again.status, again.said) == (0, "out: up to date\n")


def test_a_state_of_a_text_with_another_time_is_not_gone_on_from(shop: Workshop) -> None:
    place = shop.place(KEPT, old=False)
    shop.known(KEPT)
    killed = shop.run(place, KEPT.line.split(), kill=100)
    assert killed.status < 0
    os.utime(shop.inputs / "corpus.txt", (0, 0))
    try:
        resumed = shop.run(place, [*KEPT.line.split(), "--resume"])
        assert (resumed.status, len(resumed.said.splitlines())) == (1, 1)
        assert "other inputs" in resumed.said
        assert shop.run(place, [*KEPT.line.split(), "--force"]).status == 0
    finally:
        os.utime(shop.inputs / "corpus.txt")
    assert products(place) == shop.known(KEPT)[2]

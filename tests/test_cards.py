"""Vectors, what lies beside them and their card: all of them old or all of them new."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wordgeom import _files, cards
from wordgeom._files import part_path, whole_file
from wordgeom.errors import LockedError
from wordgeom.vectors import Vectors

OLD = Vectors(["a", "b"], np.eye(2, dtype=np.float32))
NEW = Vectors(["c", "d", "e"], np.ones((3, 2), np.float32))
OUT, TABLE = Path("v.bin"), Path("v.tsv")


class Killed(BaseException):
    """The end of a process, as far as a test can have it."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with old vectors and their table."""
    monkeypatch.chdir(tmp_path)
    write(OLD, b"old\n")
    return tmp_path


def write(vectors: Vectors, table: bytes) -> None:
    cards.write(OUT, vectors, {"request": {"of": table.decode()}}, {TABLE: [table, table]})


def state() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path().iterdir()}


def killed_at(number: int, monkeypatch) -> bool:
    """Write new vectors, stopped for good at a step; tell whether there were so many steps."""
    steps = [0]

    def watch(step: str, path: Path) -> None:
        steps[0] += 1
        if steps[0] >= number:  # a process that was killed removes nothing either
            raise Killed(step)

    with monkeypatch.context() as patch:
        patch.setattr(_files, "boundary", watch)
        patch.setattr(Path, "unlink", lambda *_, **__: None)
        try:
            write(NEW, b"new\n")
        except Killed:
            return True
    return False


def test_a_write_that_is_killed_leaves_old_or_new(folder, monkeypatch):
    old = state()
    write(NEW, b"new\n")
    new = state()
    assert set(old) == set(new) == {"v.bin", "v.tsv", "v.bin.json"}
    number, seen = 1, set()
    while True:
        for name, content in old.items():
            Path(name).write_bytes(content)
        if not killed_at(number, monkeypatch):
            break
        cards.settle(OUT)
        now = {name: Path(name).read_bytes() for name in old}
        assert now in (old, new)
        seen.add("old" if now == old else "new")
        number += 1
    assert seen == {"old", "new"}
    assert number > 8
    assert state() == new


def test_a_card_that_lies_ready_beside_other_vectors_changes_nothing(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(cards, "settle", lambda _: None)
        write(NEW, b"new\n")
    for damaged in (OUT, TABLE):
        kept = part_path(damaged).read_bytes()
        part_path(damaged).write_bytes(kept[:-1])
        before = state()
        cards.settle(OUT)
        assert state() == before
        part_path(damaged).write_bytes(kept)
    cards.settle(OUT)
    assert TABLE.read_bytes() == b"new\nnew\n"


@pytest.mark.parametrize("card", [b"", b"[]", b'{"content": 3}', b'{"beside": 3}', b"[" * 9999])
def test_a_card_that_is_none_changes_nothing(folder, card):
    part_path(cards.card_path(OUT)).write_bytes(card)
    before = state()
    cards.settle(OUT)
    assert state() == before


def test_two_writers_of_one_file_do_not_meet(folder):
    with whole_file(Path("x")) as out:
        out.write(b"first")
        with pytest.raises(LockedError, match="x: is being written"), whole_file(Path("x")):
            pass
        assert part_path(Path("x")).exists()
    assert Path("x").read_bytes() == b"first"


def test_the_part_of_a_dead_writer_is_written_over(folder):
    part_path(Path("x")).write_bytes(b"much longer than what comes")
    with whole_file(Path("x")) as out:
        out.write(b"new")
    assert Path("x").read_bytes() == b"new"
    assert not part_path(Path("x")).exists()


def test_a_block_that_fails_leaves_no_part(folder):
    before = state()

    def fail() -> None:
        with whole_file(OUT) as out:
            out.write(b"new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert state() == before

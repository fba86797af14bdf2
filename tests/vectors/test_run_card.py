"""Vectors, the files beside them and their card: all old or all new."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from wordgeom.core.errors import LockedError, OutputExistsError, WriteError
from wordgeom.storage import files
from wordgeom.storage.files import atomic_file, part_path, staged_file
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors

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
    run_card.write(OUT, vectors, {"request": {"of": table.decode()}}, {TABLE: [table, table]})


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
        patch.setattr(files, "boundary", watch)
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
        run_card.finish_write(OUT, [TABLE])
        now = {name: Path(name).read_bytes() for name in old}
        assert now in (old, new)
        seen.add("old" if now == old else "new")
        number += 1
    assert seen == {"old", "new"}
    assert number > 8
    assert state() == new


def test_a_staged_card_of_other_vectors_changes_nothing(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(run_card, "finish_write", lambda *_: None)
        write(NEW, b"new\n")
    for damaged in (OUT, TABLE):
        kept = part_path(damaged).read_bytes()
        part_path(damaged).write_bytes(kept[:-1])
        before = state()
        run_card.finish_write(OUT, [TABLE])
        assert state() == before
        part_path(damaged).write_bytes(kept)
    run_card.finish_write(OUT, [TABLE])
    assert TABLE.read_bytes() == b"new\nnew\n"


NO_CARDS = [b"", b"[]", b'{"content": 3}', b'{"beside": 3}', b'{"notes": 3}', b"[" * 9999]


@pytest.mark.parametrize("card", NO_CARDS)
def test_an_invalid_card_changes_nothing(folder, card):
    part_path(run_card.card_path(OUT)).write_bytes(card)
    before = state()
    run_card.finish_write(OUT)
    assert state() == before


@pytest.mark.parametrize("name", ["../theirs.txt", "theirs.txt", "{folder}/theirs.txt"])
def test_a_forged_card_renames_no_other_file(folder, name):
    inner = folder / "inner"
    inner.mkdir()
    for place in (folder, inner):
        (place / "theirs.txt").write_text("theirs")
        part_path(place / "theirs.txt").write_text("half")
    out = inner / "v.bin"
    part_path(out).write_bytes(b"new")
    half = run_card.content(b"half")
    card = {"content": run_card.content(b"new"), "beside": {name.format(folder=folder): half}}
    part_path(run_card.card_path(out)).write_text(json.dumps(card))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    run_card.finish_write(out)
    run_card.finish_write(out, [inner / "v.tsv"])
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("part", ["request", "statistics", "notes"])
def test_a_card_with_values_of_other_types_is_ignored(folder, part):
    held = run_card.read_card(OUT)
    assert held is not None
    run_card.card_path(OUT).write_text(json.dumps({**held, part: 3}))
    assert run_card.read_card(OUT) is None
    run_card.write(OUT, NEW, {"request": {"command": "train", "options": 3}})
    request = {"command": "train", "options": {"dim": 3}, "inputs": []}
    with pytest.raises(OutputExistsError, match="made before --dim existed"):
        run_card.up_to_date(OUT, request, force=False)


def test_output_is_not_up_to_date_with_other_files_beside_it(folder):
    request = {"command": "train", "options": {}, "inputs": []}
    run_card.write(OUT, NEW, {"request": request}, {TABLE: [b"new"]})
    assert run_card.up_to_date(OUT, request, force=False, beside=[TABLE])
    with pytest.raises(OutputExistsError, match="was written together with other files"):
        run_card.up_to_date(OUT, request, force=False)
    TABLE.write_bytes(b"changed")
    with pytest.raises(
        OutputExistsError, match=r"v\.tsv, which was written with it, is missing or has changed"
    ):
        run_card.up_to_date(OUT, request, force=False, beside=[TABLE])


def test_a_link_in_place_of_a_part_is_not_followed(folder):
    theirs = folder / "theirs.txt"
    theirs.write_text("theirs")
    part_path(Path("x")).symlink_to(theirs)
    say = "x: cannot be written: too many levels of symbolic links"
    with pytest.raises(WriteError, match=say), atomic_file(Path("x")):
        pass
    assert theirs.read_text() == "theirs"


def test_two_writers_of_one_file_exclude_each_other(folder):
    with atomic_file(Path("x")) as out:
        out.write(b"first")
        with pytest.raises(LockedError, match="x: is being written"), atomic_file(Path("x")):
            pass
        assert part_path(Path("x")).exists()
    assert Path("x").read_bytes() == b"first"


def test_a_writer_that_is_rejected_leaves_the_other_s_part(folder):
    with staged_file(TABLE) as theirs:
        theirs.write(b"theirs")
        with pytest.raises(LockedError, match=r"v\.tsv: is being written"):
            write(NEW, b"new")
        assert part_path(TABLE).exists()
        assert not part_path(OUT).exists()
    assert part_path(TABLE).read_bytes() == b"theirs"


def test_the_part_of_a_dead_writer_is_overwritten(folder):
    part_path(Path("x")).write_bytes(b"much longer than what comes")
    with atomic_file(Path("x")) as out:
        out.write(b"new")
    assert Path("x").read_bytes() == b"new"
    assert not part_path(Path("x")).exists()


def test_a_block_that_fails_leaves_no_part(folder):
    before = state()

    def fail() -> None:
        with atomic_file(OUT) as out:
            out.write(b"new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert state() == before


@pytest.mark.parametrize("refused", ["v.bin.json", "v.tsv"])
def test_a_refused_rename_leaves_no_part_and_the_old_output(folder, refused):
    write(OLD, b"old\n")
    before = state()
    Path(refused).unlink()
    (Path(refused) / "kept").mkdir(parents=True)
    with pytest.raises(WriteError, match=f"{refused}: cannot be written: is a directory; choose"):
        write(NEW, b"new\n")
    Path(refused, "kept").rmdir()
    Path(refused).rmdir()
    assert state() == {name: content for name, content in before.items() if name != refused}


def test_a_rename_that_the_system_refuses_leaves_no_part(folder, monkeypatch):
    before = state()

    def refuse(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(WriteError, match="cannot be written: read-only file system; choose"):
        write(NEW, b"new\n")
    assert state() == before

"""Stores: the old content or the new, and only checked bytes are read."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from corpora import assert_one_line, build, put
from hypothesis import given, settings
from hypothesis import strategies as st

from wordgeom.core.errors import (
    FormatError,
    LockedError,
    MissingInputError,
    OutputExistsError,
    WriteError,
)
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.storage import arrays, files, store
from wordgeom.storage import meta as _store_meta
from wordgeom.storage.files import Lock
from wordgeom.storage.meta import CRC_BLOCK, LOCK, META, unfinished_folder
from wordgeom.storage.store import Store, StoreWriter

DTYPES = ["<i4", "<i8", "<u4", "<u8", "<f4", "<f8", "|u1"]
PARTS = ["indices", "data", "indptr", "rowsums", "columnsums", "vocab"]


def write(path: Path, *values: int, **attributes: Any) -> Store:
    with StoreWriter(path, "thing") as writer:
        writer.array("numbers", np.int32).write(np.array(values, np.int32))
        writer.text("notes", b"a\tb\n")
        return writer.commit(attributes, {"seconds": len(values)})


def tree(path: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in path.iterdir()}


def read_all(path: Path) -> list[Any]:
    """Everything that a user of a matrix reads."""
    matrix = StoredMatrix.open(path)
    sums = [matrix.sums(axis).tolist() for axis in ("row", "column")]
    return [matrix.vocabulary.words, matrix.to_scipy().toarray().tolist(), sums]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A count that has every kind of part; tests take copies."""
    folder = tmp_path_factory.mktemp("made")
    (text,) = put(folder, "the cat and the dog and the mouse\n" * 3)
    return build(text, folder / "cooc", window=2, context="right").store.path


@pytest.fixture
def cooc(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "cooc"))


def part(path: Path, name: str) -> Path:
    return path / Store.open(path).parts()[name]["file"]


@settings(max_examples=30)
@given(
    st.sampled_from(DTYPES),
    st.lists(st.sampled_from([0, 1, 5, 20_000]), max_size=4),
    st.sampled_from([1 << 10, CRC_BLOCK]),
    st.data(),
)
def test_every_type_comes_back_in_whole_and_in_part(
    tmp_path_factory: pytest.TempPathFactory,
    dtype: str,
    lengths: list[int],
    crc_block: int,
    data: st.DataObject,
):
    path = tmp_path_factory.getbasetemp() / "round"  # one generation after the other
    rng = np.random.default_rng(len(lengths))
    width = np.dtype(dtype).itemsize
    pieces = [rng.bytes(width * n) for n in lengths]
    whole = b"".join(pieces)
    start, stop = sorted(data.draw(st.integers(0, sum(lengths))) for _ in range(2))
    with (
        patch.object(arrays, "CRC_BLOCK", crc_block),
        patch.object(_store_meta, "CRC_BLOCK", crc_block),
        patch.object(np, "memmap", None),
    ):
        with StoreWriter(path, "thing") as writer:
            array = writer.array("numbers", dtype)
            for piece in pieces:
                array.write(np.frombuffer(piece, dtype))
            made = writer.commit({}, {})
        stored = Store.open(path).array("numbers")
        assert (stored.dtype.str, stored.length) == (dtype, sum(lengths))
        assert stored.read().tobytes() == whole
        assert stored.read(start, stop).tobytes() == whole[width * start : width * stop]
        assert made.digest == Store.open(path).digest
    loaded = np.load(stored.path)
    assert (loaded.dtype.str, loaded.tobytes()) == (dtype, whole)


def test_texts_attributes_and_card_come_back(tmp_path: Path):
    attributes = {"words": "naïve 東", "shape": [1, 2], "none": None, "real": 0.1}
    with StoreWriter(tmp_path / "s", "kind") as writer:
        writer.text("vocab", "東\t1\n".encode())
        writer.text("empty", b"")
        writer.commit(attributes, {"input": "caf\udce9.txt"})  # a path need not be UTF-8
    made = Store.open(tmp_path / "s")
    assert (made.kind, made.attributes) == ("kind", attributes)
    assert made.card == {"input": "caf\udce9.txt"}
    assert (made.text("vocab"), made.text("empty")) == ("東\t1\n".encode(), b"")


def test_equal_content_has_an_equal_digest_and_other_content_another(tmp_path: Path):
    first = write(tmp_path / "a", 1, 2, shape=[2])
    assert write(tmp_path / "b", 0, shape=[9]).path != first.path
    assert write(tmp_path / "b", 1, 2, shape=[2]).digest == first.digest  # a second generation
    others = [
        write(tmp_path / "c", 2, 1, shape=[2]),
        write(tmp_path / "d", 1, 2, shape=[3]),
        write(tmp_path / "e", 1, 2, 0, shape=[2]),
    ]
    with StoreWriter(tmp_path / "f", "thing") as writer:  # the same bytes under another type
        writer.array("numbers", np.uint32).write(np.array([1, 2]))
        writer.text("notes", b"a\tb\n")
        others.append(writer.commit({"shape": [2]}, {}))
    assert len({first.digest, *(o.digest for o in others)}) == 5


def test_a_new_generation_leaves_only_its_own_files(tmp_path: Path):
    path = tmp_path / "s"
    for length in (3, 1, 2):
        made = write(path, *range(length))
        named = {entry["file"] for entry in made.parts().values()}
        assert set(tree(path)) == {META, *named}
        assert made.array("numbers").read().tolist() == list(range(length))


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_store_unchanged(tmp_path: Path, error: type[BaseException]):
    write(tmp_path / "s", 1, 2, 3)
    before = tree(tmp_path / "s")
    for fail in _failures(tmp_path / "s", error):
        with pytest.raises(error):
            fail()
        assert tree(tmp_path / "s") == before


def _failures(path: Path, error: type[BaseException]) -> Iterator[Callable[[], object]]:
    """Ways to fail: between parts, at the file that commits, at the folder before it."""

    def midway() -> None:
        with StoreWriter(path, "thing") as writer:
            writer.array("numbers", np.int32).write(np.zeros(9, np.int32))
            raise error

    yield midway
    for module, name in (
        (store, "atomic_file"),
        (store, "sync_folder"),
        (arrays, "npy_header"),
    ):
        with patch.object(module, name, side_effect=error):
            yield lambda: write(path, 7)
    with patch.object(os, "replace", side_effect=error):
        yield lambda: write(path, 7)


def test_a_failure_leaves_no_new_folder(tmp_path: Path):
    for fail in _failures(tmp_path / "new", RuntimeError):
        with pytest.raises(RuntimeError):
            fail()
        assert list(tmp_path.iterdir()) == []


def test_a_writer_that_cannot_clean_up_leaves_no_lock(tmp_path: Path):
    write(tmp_path / "s", 1)
    broken = patch.object(store, "_remove_unnamed", side_effect=OSError(5, "Input/output error"))
    with broken, pytest.raises(OSError, match="Input/output"):
        write(tmp_path / "s", 2)
    write(tmp_path / "s", 3)
    assert Store.open(tmp_path / "s").array("numbers").read().tolist() == [3]


def test_a_full_disk_is_an_error_of_one_line_that_keeps_the_old(tmp_path: Path):
    write(tmp_path / "s", 1)
    before = tree(tmp_path / "s")
    full = OSError(28, "No space left on device")
    for name in ("fsync", "replace"):
        with patch.object(os, name, side_effect=full), pytest.raises(WriteError) as caught:
            write(tmp_path / "s", 2)
        assert_one_line(caught, tmp_path / "s", "cannot be written: no space left", "; free ")
        assert tree(tmp_path / "s") == before


def test_a_disk_too_full_for_the_lock_leaves_no_directory(tmp_path: Path):
    full = OSError(28, "No space left on device")
    with patch.object(files.Lock, "_take", side_effect=full), pytest.raises(WriteError) as caught:
        StoreWriter(tmp_path / "s", "thing").__enter__()
    assert_one_line(caught, tmp_path / "s", "no space left", "no partial output is left")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", range(4))
def test_signals_are_deferred_during_cleanup(tmp_path: Path, step: int):
    """Before each file that is removed, the lock, and the folder."""
    steps: list[str] = []

    def interrupt(name: str, _: Path) -> None:
        if len(steps) == step:
            os.kill(os.getpid(), signal.SIGINT)
        steps.append(name)

    writer = StoreWriter(tmp_path / "s", "thing").__enter__()
    for name in ("numbers", "others"):
        writer.array(name, np.int32).write(np.zeros(9, np.int32))
    with patch.object(files, "boundary", interrupt), pytest.raises(KeyboardInterrupt):
        writer.__exit__(RuntimeError, RuntimeError(), None)
    assert steps == ["unlink", "unlink", "unlink", "rmdir"]
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
import numpy as np
from wordgeom.storage.store import StoreWriter
with StoreWriter(sys.argv[1], "thing") as old, StoreWriter(sys.argv[2], "thing") as new:
    for writer in (old, new):
        writer.array("numbers", np.int32).write(np.zeros(9, np.int32))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_next_writer_removes_the_parts_of_a_killed_one(tmp_path: Path):
    old, new = write(tmp_path / "old", 1).path, tmp_path / "new"
    ended = subprocess.run([sys.executable, "-c", KILLED, old, new], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not new.exists()
    assert set(tree(unfinished_folder(new))) == {LOCK, "numbers.1.npy"}
    with pytest.raises(FormatError, match=r"new: is unfinished; run its command again"):
        Store.open(new)
    assert set(tree(old)) == {LOCK, META, "numbers.1.npy", "notes.1.tsv", "numbers.2.npy"}
    assert Store.open(old).array("numbers").read().tolist() == [1]
    for path in (old, new):
        made = write(path, 2)
        assert made.array("numbers").read().tolist() == [2]
        assert set(tree(path)) == {META, *(e["file"] for e in made.parts().values())}
        assert not unfinished_folder(path).exists()


def test_a_new_store_takes_its_name_only_complete(tmp_path: Path):
    path, hidden = tmp_path / "s", unfinished_folder(tmp_path / "s")
    seen: list[tuple[str, bool, bool]] = []
    with patch.object(
        files, "boundary", lambda step, at: seen.append((step, path.exists(), hidden.exists()))
    ):
        write(path, 1)
    renamed = seen.index(next(one for one in seen if one[1]))
    assert seen[renamed - 1] == ("replace", False, True)
    assert not any(there for _, there, _ in seen[:renamed])
    assert [step for step, *_ in seen[renamed:]] == ["fsync", "unlink"]
    assert set(tree(tmp_path.joinpath("s"))) == {META, "numbers.1.npy", "notes.1.tsv"}
    assert not hidden.exists()


@pytest.mark.parametrize("finished", [False, True])
def test_what_a_dead_writer_left_beside_is_replaced_and_removed(tmp_path: Path, finished: bool):
    path, hidden = tmp_path / "s", unfinished_folder(tmp_path / "s")
    left = write(tmp_path / "other", 7).path.rename(hidden)
    lock = {"host": socket.gethostname(), "pid": 2**22 + 1, "start": "1"}
    (hidden / LOCK).write_text(json.dumps(lock), encoding="utf-8")
    if not finished:
        (left / META).unlink()
    assert write(path, 1).array("numbers").read().tolist() == [1]
    assert [p.name for p in tmp_path.iterdir()] == ["s"]
    assert LOCK not in tree(path)
    shutil.copytree(path, hidden)
    assert write(path, 2).array("numbers").read().tolist() == [2]
    assert [p.name for p in tmp_path.iterdir()] == ["s"]


def test_a_hidden_directory_of_the_user_is_left_alone(tmp_path: Path):
    hidden = unfinished_folder(tmp_path / "s")
    hidden.mkdir()
    (hidden / "letter.txt").write_bytes(b"mine")
    with pytest.raises(OutputExistsError) as caught:
        write(tmp_path / "s", 1)
    assert_one_line(caught, hidden, "a directory with other files, such as letter.txt")
    assert tree(hidden) == {"letter.txt": b"mine"}
    assert not (tmp_path / "s").exists()


def test_an_output_that_appears_while_a_store_is_built_is_left_alone(tmp_path: Path):
    with StoreWriter(tmp_path / "s", "thing") as writer:
        (tmp_path / "s").mkdir()
        (tmp_path / "s" / "letter.txt").write_bytes(b"mine")
        with pytest.raises(WriteError) as caught:
            writer.commit({}, {})
    assert_one_line(caught, tmp_path / "s", "cannot be written: directory not empty; choose")
    assert [p.name for p in tmp_path.iterdir()] == ["s"]
    assert tree(tmp_path / "s") == {"letter.txt": b"mine"}


def test_a_second_writer_is_rejected_and_the_first_continues(tmp_path: Path):
    path = tmp_path / "s"
    with StoreWriter(path, "thing") as first:
        numbers = first.array("numbers", np.int32)
        with pytest.raises(LockedError) as caught:
            write(path, 9)
        assert_one_line(caught, path, f"is being written by process {os.getpid()}", "; wait for it")
        numbers.write(np.array([1], np.int32))
        first.commit({}, {})
    assert Store.open(path).array("numbers").read().tolist() == [1]
    assert LOCK not in tree(path)


@pytest.mark.parametrize(
    ("pid", "start"),
    # A number that no process has (with a start that could not be told, too), and this process's
    # number with the start of another.
    [(2**22 + 1, "1"), (2**22 + 1, "?"), (os.getpid(), "1")],
    ids=["gone", "gone, start unknown", "number taken again"],
)
def test_the_lock_of_a_dead_process_is_taken_over(tmp_path: Path, pid: int, start: str):
    write(tmp_path / "s", 1)
    lock = {"host": socket.gethostname(), "pid": pid, "start": start}
    (tmp_path / "s" / LOCK).write_text(json.dumps(lock), encoding="utf-8")
    assert write(tmp_path / "s", 2).array("numbers").read().tolist() == [2]
    assert LOCK not in tree(tmp_path / "s")


@pytest.mark.parametrize(
    ("lock", "parts"),
    [
        (
            {"host": "elsewhere", "pid": 1, "start": "1"},
            ["written by process 1 on elsewhere", "; wait"],
        ),
        ({"pid": 1}, ["has an unreadable lock", "; remove"]),
        ([], ["has an unreadable lock", "; remove"]),
    ],
)
def test_an_unreadable_lock_is_respected(tmp_path: Path, lock: object, parts: list[str]):
    write(tmp_path / "s", 1)
    (tmp_path / "s" / LOCK).write_text(json.dumps(lock), encoding="utf-8")
    before = tree(tmp_path / "s")
    with pytest.raises(LockedError) as caught:
        write(tmp_path / "s", 2)
    assert_one_line(caught, tmp_path / "s", *parts)
    assert tree(tmp_path / "s") == before


def test_a_lock_holds_as_long_as_its_block_runs(tmp_path: Path):
    with (
        Lock(tmp_path / LOCK, tmp_path),
        pytest.raises(LockedError),
        Lock(tmp_path / LOCK, tmp_path),
    ):
        pass
    with Lock(tmp_path / LOCK, tmp_path):
        assert (tmp_path / LOCK).exists()
    assert not (tmp_path / LOCK).exists()


@pytest.mark.parametrize("name", ["letter.txt", "meta.json.old", "scores.1.npy", "vocab.2.tsv"])
def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, name: str):
    (tmp_path / name).write_bytes(b"mine")
    with pytest.raises(OutputExistsError) as caught:
        write(tmp_path, 1)
    assert_one_line(
        caught, tmp_path, f"a directory with other files, such as {name}", "; choose another"
    )
    assert tree(tmp_path) == {name: b"mine"}


@pytest.mark.parametrize("meta", ["{}", '{"format": "zarr"}', "[]", "not JSON", "[" * 100_000])
def test_another_program_s_meta_json_is_left_alone(tmp_path: Path, meta: str):
    (tmp_path / META).write_text(meta, encoding="utf-8")
    (tmp_path / "data.1.npy").write_bytes(b"theirs")
    before = tree(tmp_path)
    with pytest.raises(OutputExistsError) as caught:
        write(tmp_path, 1)
    assert_one_line(
        caught,
        tmp_path,
        "meta.json that is damaged or another program's",
        "; choose another output",
    )
    assert tree(tmp_path) == before


def test_a_file_where_the_folder_should_be_is_left_alone(tmp_path: Path):
    (path,) = put(tmp_path, "mine")
    with pytest.raises(OutputExistsError) as caught:
        write(path, 1)
    assert_one_line(caught, path, "is a file", "; pass a directory with -o")
    assert path.read_text(encoding="utf-8") == "mine"


def test_a_store_in_a_missing_directory_is_rejected(tmp_path: Path):
    with pytest.raises(MissingInputError) as caught:
        write(tmp_path / "no" / "s", 1)
    assert_one_line(caught, tmp_path / "no", "no such directory", "; create it")


def test_a_store_with_a_user_s_file_in_it_keeps_that_file(tmp_path: Path):
    write(tmp_path / "s", 1)
    (tmp_path / "s" / "letter.txt").write_bytes(b"mine")
    write(tmp_path / "s", 2)
    assert tree(tmp_path / "s")["letter.txt"] == b"mine"


def test_a_path_that_is_not_a_store_is_rejected(tmp_path: Path):
    (file,) = put(tmp_path, "text")
    odd = tmp_path / "odd"
    (odd / META).mkdir(parents=True)
    for path, kind, parts in (
        (tmp_path / "none", MissingInputError, ["no such matrix directory", "; create one"]),
        (file, MissingInputError, ["a file, not a matrix directory", "; create one"]),
        (odd, FormatError, ["meta.json: cannot be read: Is a directory"]),
        (tmp_path, FormatError, ["has no meta.json", "; pass a directory that wordgeom created"]),
    ):
        with pytest.raises(kind) as caught:
            Store.open(path)
        assert_one_line(caught, path, *parts)


@pytest.mark.parametrize("name", PARTS)
def test_a_missing_part_is_named(cooc: Path, name: str):
    path = part(cooc, name)
    path.unlink()
    with pytest.raises(FormatError) as caught:
        StoredMatrix.open(cooc)
    assert_one_line(caught, path, "missing", "; rebuild it")


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("change", [-1, 1])
def test_a_part_of_another_size_is_named(cooc: Path, name: str, change: int):
    path = part(cooc, name)
    size = path.stat().st_size
    os.truncate(path, size + change)
    with pytest.raises(FormatError) as caught:
        StoredMatrix.open(cooc)
    found = f"{size + change:,} bytes instead of {size:,}"
    assert_one_line(caught, path, "has the wrong size", found, "; rebuild it")


@pytest.mark.parametrize("name", PARTS)
def test_a_flipped_bit_anywhere_in_a_part_is_seen(cooc: Path, name: str):
    path = part(cooc, name)
    raw = path.read_bytes()
    whole = read_all(cooc)
    for place in range(len(raw)):
        for bit in (place % 8, 7 - place % 8):
            damaged = bytearray(raw)
            damaged[place] ^= 1 << bit
            path.write_bytes(damaged)
            with pytest.raises(FormatError) as caught:
                read_all(cooc)
            header = path.suffix == ".npy" and place < 128
            assert_one_line(
                caught, path, "header does not match" if header else "edited or damaged"
            )
            assert_one_line(caught, "; rebuild it")
    path.write_bytes(raw)
    assert read_all(cooc) == whole


@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_another_store_is_seen(cooc: Path, tmp_path: Path, name: str):
    (text,) = put(tmp_path, "the mouse and the dog and the cat\n" * 4)
    other = build(text, tmp_path / "other", window=2, context="right")
    theirs, ours = part(other.store.path, name), part(cooc, name)
    if theirs.read_bytes() == ours.read_bytes():
        theirs.write_bytes(ours.read_bytes()[::-1])
    shutil.copy(theirs, ours)
    with pytest.raises(FormatError) as caught:
        read_all(cooc)
    assert_one_line(caught, ours, "; rebuild it")


def test_an_unread_block_may_be_damaged(tmp_path: Path):
    length = 3 * CRC_BLOCK // 8
    with StoreWriter(tmp_path / "s", "thing") as writer:
        writer.array("numbers", np.int64).write(np.arange(length))
        made = writer.commit({}, {})
    stored = made.array("numbers")
    with open(stored.path, "r+b") as file:
        file.seek(128 + CRC_BLOCK + 5)
        file.write(b"\xff")
    assert stored.read(0, 9).tolist() == list(range(9))
    assert stored.read(length - 9).tolist() == list(range(length - 9, length))
    for start, stop in ((0, length), (CRC_BLOCK // 8 - 1, CRC_BLOCK // 8 + 1)):
        with pytest.raises(FormatError) as caught:
            stored.read(start, stop)
        assert_one_line(caught, stored.path, "edited or damaged: the checksum of MiB 1 differs")


def test_a_part_that_goes_while_it_is_read_is_named(cooc: Path):
    matrix = StoredMatrix.open(cooc)
    path = part(cooc, "data")
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(FormatError) as caught:
        matrix.rows(0, 1)
    assert_one_line(caught, path, "shorter than meta.json says", "; rebuild it")
    path.unlink()
    with pytest.raises(FormatError) as caught:
        matrix.rows(0, 1)
    assert_one_line(caught, path, "cannot be read: No such file")


HUGE = 10**15


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (["attributes", "shape"], [HUGE, HUGE]),
        (["attributes", "shape"], "\ud800"),
        (["attributes", "denominator"], 3),
        (["attributes", "triangle"], "upper"),
        (["kind"], "pmi"),
        (["kind"], None),
        (["digest"], "0" * 64),
        (["digest"], 7),
        (["run"], []),
        (["files"], []),
        (["files"], {}),
        (["files", "data"], None),
        (["files", "data", "length"], HUGE),
        (["files", "data", "length"], -1),
        (["files", "data", "length"], True),
        (["files", "data", "length"], 1.0),
        (["files", "data", "dtype"], "|O"),
        (["files", "data", "dtype"], "<i4"),
        (["files", "data", "dtype"], ["<i4"]),
        (["files", "data", "crc32"], []),
        (["files", "data", "crc32"], [None]),
        (["files", "data", "file"], "../data.1.npy"),
        (["files", "data", "file"], ".lock"),
        (["files", "data", "file"], "data.1.npy\n"),
    ],
)
def test_an_edited_meta_json_is_seen_before_anything_is_allocated(
    cooc: Path, where: list[str], value: object
):
    _edit(cooc, where, value)
    check_rejected_cheaply(cooc, "edited or damaged", "; rebuild it")


@pytest.mark.parametrize(
    ("where", "value", "parts"),
    [
        (["files", "data", "length"], HUGE, ["edited or damaged"]),  # checksums are too few
        (["files", "data", "length"], 2, ["data.1.npy", "has the wrong size"]),
        (["attributes", "shape"], [HUGE, HUGE], ["its parts are inconsistent"]),
        (["attributes", "shape"], None, ["its parts are inconsistent"]),
        (["files", "indptr"], ["indices"], ["its parts are inconsistent"]),
        (["files", "data"], ["vocab"], ["its parts are inconsistent"]),
        (["kind"], "vectors", ["is of kind 'vectors', not a co-occurrence matrix or a PMI matrix"]),
    ],
)
def test_an_inconsistent_meta_json_with_a_right_digest_is_rejected(
    cooc: Path, where: list[str], value: Any, parts: list[str]
):
    if where[0] == "files" and isinstance(value, list):
        value = json.loads((cooc / META).read_bytes())["files"][value[0]]
    meta = _edit(cooc, where, value)
    (cooc / META).write_text(
        json.dumps(meta | {"digest": _store_meta.content_digest(meta)}), encoding="utf-8"
    )
    check_rejected_cheaply(cooc, *parts)


def test_a_store_without_a_part_that_a_matrix_has_is_rejected(tmp_path: Path):
    write(tmp_path / "s", 1)
    with pytest.raises(FormatError) as caught:
        Store.open(tmp_path / "s").array("data")
    assert_one_line(caught, tmp_path / "s", "has no part data", "; rebuild it")


def _edit(path: Path, where: list[str], value: object) -> dict[str, Any]:
    meta: dict[str, Any] = json.loads((path / META).read_bytes())
    inner = meta
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    (path / META).write_text(json.dumps(meta), encoding="utf-8")
    return meta


def check_rejected_cheaply(path: Path, *parts: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises((FormatError, MissingInputError)) as caught:
            StoredMatrix.open(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
    assert_one_line(caught, path, *parts)


@pytest.mark.parametrize("version", [2, 0, None, "1", [[1]]])
def test_a_store_of_another_version_is_distinguished_from_damage(cooc: Path, version: object):
    _edit(cooc, ["version"], version)
    found = f"version {version!r}, not 1"
    check_rejected_cheaply(cooc, META, "unsupported format version", found, "; upgrade wordgeom")


@pytest.mark.parametrize("depth", [*range(300, 1100, 50), 100_000])
@pytest.mark.parametrize("where", ["whole", "attributes", "files", "version"])
def test_nested_json_is_rejected_at_any_depth(cooc: Path, depth: int, where: str):
    raw = (cooc / META).read_text(encoding="utf-8")
    nested = "[" * depth + "]" * depth
    if where != "whole":
        meta = json.loads(raw)
        meta[where] = {"shape": "NEST"} if where != "version" else "NEST"
        nested = json.dumps(meta).replace('"NEST"', nested)
    (cooc / META).write_text(nested, encoding="utf-8")
    check_rejected_cheaply(cooc, META)


@pytest.mark.parametrize("meta", ["", "{", "\x00", "[]", "3", '{"format": "zarr"}'])
def test_a_meta_json_that_is_not_ours_is_named(cooc: Path, meta: str):
    (cooc / META).write_text(meta, encoding="utf-8")
    known = meta in ("[]", "3", '{"format": "zarr"}')
    check_rejected_cheaply(cooc, META, "not written by wordgeom" if known else "not JSON", ";")


@settings(max_examples=60)
@given(st.data())
def test_no_flipped_bit_of_meta_json_passes_for_other_content(made: Path, data: st.DataObject):
    raw = (made / META).read_bytes()
    before = read_all(made)
    damaged = bytearray(raw)
    damaged[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    (made / META).write_bytes(damaged)
    try:
        after = read_all(made)  # white space, or the run card, which proves nothing
    except (FormatError, MissingInputError) as error:
        after, line = before, str(error)
        told = len(line.splitlines()) == 1 and str(made) in line
    else:
        told = True
    finally:
        (made / META).write_bytes(raw)
    assert told
    assert after == before


def test_a_damaged_store_of_ours_can_be_replaced(cooc: Path):
    part(cooc, "data").unlink()
    _edit(cooc, ["files"], [])
    assert write(cooc, 4).array("numbers").read().tolist() == [4]
    assert len(tree(cooc)) == 3


def test_a_column_out_of_range_never_reaches_a_kernel(tmp_path: Path, cooc: Path):
    matrix = StoredMatrix.open(cooc)
    words = len(matrix.vocabulary)
    for bad in (-1, words):
        indices = matrix.store.array("indices").read().copy()
        indices[0] = bad
        with StoreWriter(tmp_path / "bad", "cooc") as writer:
            writer.array("indices", np.int32).write(indices)
            for name in ("data", "indptr", "rowsums", "columnsums"):
                array = matrix.store.array(name)
                writer.array(name, array.dtype).write(array.read())
            writer.text("vocab", matrix.store.text("vocab"))
            writer.commit(matrix.store.attributes, {})
        with pytest.raises(FormatError) as caught:
            StoredMatrix.open(tmp_path / "bad").rows(0, words)
        assert_one_line(caught, tmp_path / "bad", "a column is out of range", "; rebuild it")


def test_the_lock_of_an_unreaped_process_is_taken_over(tmp_path: Path):
    code = (
        "import os, sys; from pathlib import Path; from wordgeom.storage.files import Lock\n"
        "Lock(Path(sys.argv[1]), Path('x')).__enter__(); os._exit(9)"
    )
    lock = tmp_path / ".lock"
    with subprocess.Popen([sys.executable, "-c", code, str(lock)]) as child:
        state = Path(f"/proc/{child.pid}/stat")
        while state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] != "Z":
            time.sleep(0.01)  # not waited for: it stays in the table of processes
        assert lock.exists()
        with Lock(lock, tmp_path):
            assert json.loads(lock.read_text())["pid"] == os.getpid()
    assert not lock.exists()

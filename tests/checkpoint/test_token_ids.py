"""State texts and parts of counts: whole again as they were, or refused where they were edited."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from corpora import encode_files

from wordgeom.checkpoint import token_ids
from wordgeom.checkpoint.state import STATE, State
from wordgeom.checkpoint.token_ids import PartialCounts, TokenIds, find_ids, save_ids
from wordgeom.core.errors import WriteError
from wordgeom.corpus.options import CorpusOptions
from wordgeom.counts.count_rows import Rows
from wordgeom.runtime.run_options import ResumeOptions
from wordgeom.storage import files
from wordgeom.storage.meta import META
from wordgeom.storage.store import Store, StoreWriter

REQUEST = {"command": "build-cooc", "options": {}, "inputs": []}
TEXT = "a b c a\nb b a\n"
SPAN = (0, 9)


def kept(folder: Path, *, resume: bool = True) -> State:
    return State(folder / "state", REQUEST, ResumeOptions(resume=resume, checkpoint=0.0))


@pytest.fixture
def folder(tmp_path):
    """A folder with a kept text, and a kept part of its counts."""
    begun = kept(tmp_path, resume=False)
    (tmp_path / "t.txt").write_text(TEXT)
    encoded = encode_files([tmp_path / "t.txt"], CorpusOptions(min_count=1), gap=2)
    save_ids(begun, encoded, b"1\t1\tid\t\n", len(encoded.vocabulary))
    rows = Rows(0, np.array([2, 1, 0]), np.array([0, 2, 1], np.int32), np.arange(3, dtype="u4"))
    PartialCounts(begun).spill(SPAN, [rows], 3, np.dtype(np.uint32))
    return tmp_path


def test_a_piece_is_none_as_soon_as_its_removal_began_and_gives_way_to_the_next(folder):
    def killed(step: str, _: Path) -> None:
        if step == "rmtree":
            raise SystemExit

    with patch.object(files, "boundary", killed), pytest.raises(SystemExit):
        kept(folder).remove()
    left = [piece for piece in (folder / "state").iterdir() if not (piece / META).exists()]
    assert len(left) == 2  # one piece, and the request
    (half,) = [piece for piece in left if piece.is_dir()]
    again = kept(folder)
    assert again.find(half.name) is None
    with again.writer(half.name) as writer:
        writer.commit({}, {})
    assert [path.name for path in half.iterdir()] == [META]
    assert again.find(half.name) is not None


def test_a_text_comes_back_as_it_was(folder):
    fresh = encode_files([folder / "t.txt"], CorpusOptions(min_count=1), gap=2)
    found = find_ids(kept(folder))
    assert found is not None
    encoded, documents = found
    assert documents == b"1\t1\tid\t\n"
    assert encoded.vocabulary.words == fresh.vocabulary.words
    length = fresh.stream.length
    whole = fresh.stream.read(0, length)
    for start, stop in ((0, length), (-3, 2), (length - 1, length + 5), (4, 2)):
        expected = fresh.stream.read(start, stop) if stop > start else whole[:0]
        assert np.array_equal(encoded.stream.read(start, stop), expected)
    for reach in (1, 2, 3000):  # the last is wider than the edge that is kept
        mine = encoded.stream.around(0, length, reach, len(encoded.vocabulary))
        theirs = fresh.stream.around(0, length, reach, len(encoded.vocabulary))
        assert np.array_equal(mine[0], theirs[0])
        assert mine[1] == theirs[1]


def test_a_part_comes_back_as_it_was(folder):
    part = PartialCounts(kept(folder)).find(SPAN, 3)
    assert part is not None
    rows = part.rows(0, 2)
    assert (rows.indptr.tolist(), rows.indices.tolist(), rows.data.tolist()) == (
        [0, 2, 3], [0, 2, 1], [0, 1, 2]
    )  # fmt: skip
    assert PartialCounts(kept(folder)).find((0, 8), 3) is None
    part.close()


def edit(folder: Path, name: str, attributes: dict[str, Any], **arrays: Any) -> None:
    """Write a piece anew, right digests and all, with other arrays or attributes."""
    path = folder / "state" / name
    old = Store.open(path)
    held = {part: old.array(part).read() for part in old.parts()}
    texts = {part: old.text(part) for part in ("vocab", "documents") if part in held}
    with StoreWriter(path, STATE) as writer:
        for part, values in {**held, **arrays}.items():
            if part in texts:
                writer.text(part, texts[part])
            else:
                writer.array(part, values.dtype).write(values)
        writer.commit({**old.attributes, **attributes}, {})


EDGE = np.zeros(token_ids._EDGE, np.int32)


def test_a_text_without_room_leaves_no_piece(tmp_path, monkeypatch):
    begun = kept(tmp_path, resume=False)
    (tmp_path / "t.txt").write_text(TEXT)

    def full(self: StoreWriter, *_: Any) -> None:
        raise WriteError("cannot be written: no space left on device", where=self.path)

    for name in ("array", "commit"):
        encoded = encode_files([tmp_path / "t.txt"], CorpusOptions(min_count=1), gap=2)
        with monkeypatch.context() as patch:
            patch.setattr(StoreWriter, name, full)
            with pytest.raises(WriteError):
                save_ids(begun, encoded, b"", len(encoded.vocabulary))
        assert {path.name for path in (tmp_path / "state").iterdir()} == {"request.json"}


def test_a_stream_that_is_given_up_leaves_no_piece(tmp_path):
    begun = kept(tmp_path, resume=False)
    stream = TokenIds(begun, 7)
    stream.append(np.arange(5, dtype=np.int32))
    stream.close()
    assert {path.name for path in (tmp_path / "state").iterdir()} == {"request.json"}

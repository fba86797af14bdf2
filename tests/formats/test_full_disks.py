"""A full disk: a conversion leaves no files, and the error names the path that the user gave."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from corpora import assert_one_line, build, put
from running import convert

from wordgeom.core.errors import WriteError
from wordgeom.vectors.keyed import write_vectors

FULL = "cannot be written: file too large"


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Limit the size of files to `size` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("counts")
    words = np.random.default_rng(2).integers(0, 50, 3000)
    build(put(folder, " ".join(f"w{word}" for word in words)), folder / "cooc")
    return folder / "cooc"


@pytest.mark.parametrize("name", ["m.npz", "m.mtx", "m.mtx.gz", "m.glove"])
def test_no_matrix_or_words_file_is_left(counts, tmp_path, name):
    convert(counts, tmp_path / name)
    size = (tmp_path / name).stat().st_size
    (tmp_path / "to").mkdir()
    with pytest.raises(WriteError) as caught, room_for(size - 100):
        convert(counts, tmp_path / "to" / name)
    assert_one_line(caught, f"{tmp_path / 'to' / name}: {FULL}")
    assert not list((tmp_path / "to").iterdir())


@pytest.mark.parametrize("name", ["w.npy", "w.npz", "w"])
def test_no_vectors_or_words_file_is_left(tmp_path, name):
    form = None if "." in name else "projector"
    rows = np.ones((40, 3000), np.float32)
    write_vectors(tmp_path / "v.bin", [f"w{row}" for row in range(len(rows))], rows)
    convert(tmp_path / "v.bin", tmp_path / name, target_format=form)
    (tmp_path / "to").mkdir()
    with pytest.raises(WriteError) as caught, room_for(100_000):
        convert(tmp_path / "v.bin", tmp_path / "to" / name, target_format=form)
    assert_one_line(caught, f"{tmp_path / 'to' / name}: {FULL}")
    assert not list((tmp_path / "to").iterdir())

"""Small files that cannot be read, or are no text, are one line of error in every command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matrices import random_counts, store_matrix

from wordgeom.vectors.keyed import write_vectors

COUNT = ("build-cooc", "corpus.txt", "-o", "o")
COMMANDS = [
    (*COUNT, "--stop-words"),
    (*COUNT, "--keep-words"),
    (*COUNT, "--read-vocab"),
    (*COUNT, "--config"),
    ("run",),
    ("convert", "vectors.bin", "o.bin", "--only"),
    ("convert", "v.npy", "o.bin", "--words"),
    ("eval", "vectors.bin"),
    ("eval", "vectors.bin", "--categories"),
    ("impute", "--domain", "table.csv", "-o", "o.bin", "--name-map"),
    ("impute", "--domain", "v.npy", "-o", "o.bin", "--names"),
    ("info",),
    ("plot", "drift", "-o", "o.png"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with inputs, and with paths that cannot be read."""
    monkeypatch.chdir(tmp_path)
    store_matrix(Path("cooc"), random_counts(np.random.default_rng(0), 30))
    Path("corpus.txt").write_text("a b c\n" * 20)
    Path("table.csv").write_text("name,x\n" + "".join(f"w{k},{k}\n" for k in range(12)))
    vectors = np.random.default_rng(1).standard_normal((8, 3)).astype(np.float32)
    write_vectors("vectors.bin", [f"w{k}" for k in range(8)], vectors)
    np.save("v.npy", vectors)
    Path("loop").symlink_to("loop")
    Path("folder").mkdir()
    Path("binary").write_bytes(bytes(range(256)) * 4)
    Path("utf16").write_bytes("w1\nw2\n".encode("utf-16"))
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: f"{command[0]} {command[-1]}")
@pytest.mark.parametrize("name", ["loop", "corpus.txt/x", "none", "folder", "binary", "utf16"])
def test_the_error_is_one_line_that_names_the_file(ask, folder, command, name):
    answer = ask(*command, name)
    assert answer.status in (1, 2), answer
    assert len(answer.err.splitlines()) == 1, answer
    assert name in answer.err
    assert not Path("o").exists()


@pytest.mark.parametrize(
    ("name", "say"),
    [
        ("loop", "loop: cannot be read: too many levels of symbolic links"),
        ("folder", "folder: is a directory; pass a file to --stop-words"),
        ("none", "none: no such file; check --stop-words"),
        ("binary", "binary: not UTF-8 at byte 128"),
        (
            "utf16",
            "utf16: looks like UTF-16, found a UTF-16 byte order mark; convert it with iconv",
        ),
    ],
)
def test_a_list_of_words_says_what_is_wrong(ask, folder, name, say):
    assert say in ask(*COUNT, "--stop-words", name).err

"""Values of options that are out of range: one line, before any input is read."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("similar v.bin king --top 0", "--top must be at least 1, found 0"),
        ("similar v.bin - --top -3", "--top must be at least 1, found -3"),
        ("analogy v.bin a b c --top 0", "--top must be at least 1, found 0"),
        ("jobs x.toml --shards x", "--shards must be an integer, found 'x'; see wordgeom jobs -"),
        ("jobs x.toml --shards 0", "--shards must be between 1 and 1000000, found 0"),
        ("jobs x.toml --cpus 4097", "--cpus must be between 1 and 4096, found 4097"),
        ("jobs x.toml --memory 0.1", "--memory must be between 0.3 and 1000000, found 0.1"),
        ("jobs x.toml --memory nan", "--memory must be between 0.3 and 1000000, found nan"),
        ("plan --shards x x.toml", "--shards must be an integer, found 'x'; see wordgeom plan -"),
        ("plan --shards 0 x.toml", "--shards must be between 1 and 1000000, found 0"),
    ],
)
def test_a_wrong_number_is_one_line(ask, tmp_path, monkeypatch, line, said):
    monkeypatch.chdir(tmp_path)
    answer = ask(*line.split())
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"wordgeom: error: {said}")
    assert answer.err.count("\n") == 1

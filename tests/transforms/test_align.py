"""--align: a known rotation is recovered, and spaces that cannot be aligned are errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from wordgeom.vectors.keyed import read_vectors, write_vectors

N, K = 5000, 8


@pytest.fixture
def rotated(tmp_path, monkeypatch):
    """Vectors, the same rotated, in another order, with words of their own on both sides."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(1)
    x = draw.standard_normal((N, K)) + 0.5
    Q, _ = np.linalg.qr(draw.standard_normal((K, K)))
    names = [f"ä{k}" for k in range(N)]
    order = draw.permutation(N)[: N - 100]
    own = draw.standard_normal((50, K))
    write_vectors("own.bin", [*names, "only"], np.vstack((x, x[:1])).astype(np.float32))
    others = [names[k] for k in order] + [f"other{k}" for k in range(50)]
    write_vectors("other.bin", others, np.vstack((x[order] @ Q, own)).astype(np.float32))
    return x, Q


def test_a_known_rotation_is_recovered(rotated, ask):
    x, Q = rotated
    done = ask("transform", "own.bin", "-o", "out.bin", "--align", "other.bin")
    assert done.status == 0, done.err
    made = read_vectors("out.bin").matrix
    np.testing.assert_allclose(made[:N], x @ Q, atol=1e-6)
    np.testing.assert_allclose(made[N], x[0] @ Q, atol=1e-6)  # a word that only one side has
    facts = json.loads(Path("out.bin.json").read_text(encoding="utf-8"))["statistics"]
    step = facts["steps"]["align"]
    assert (step["words"], step["rank"]) == (N - 100, K)
    assert step["mean_cosine"] == pytest.approx(1)
    assert step["mean_cosine_before"] < 0.9
    assert step["neighbour_recall"] == 1


def test_noise_and_zero_vectors_do_not_move_the_rotation_far(rotated, ask):
    x, Q = rotated
    read = read_vectors("other.bin")
    noisy = read.matrix + np.float32(0.1) * np.random.default_rng(2).standard_normal(
        read.matrix.shape
    ).astype(np.float32)
    noisy[7] = 0
    write_vectors("other.bin", read.words, noisy)
    assert ask("transform", "own.bin", "-o", "out.bin", "--align", "other.bin").status == 0
    R = np.linalg.lstsq(x, read_vectors("out.bin").matrix[:N], rcond=None)[0]
    np.testing.assert_allclose(R, Q, atol=0.01)
    np.testing.assert_allclose(R @ R.T, np.eye(K), atol=1e-5)


@pytest.mark.parametrize("columns", [5, 9])
def test_another_dimension_is_an_error(rotated, ask, columns):
    write_vectors("other.bin", [f"ä{k}" for k in range(20)], np.ones((20, columns), np.float32))
    done = ask("transform", "own.bin", "-o", "out.bin", "--align", "other.bin")
    assert done.status == 1
    assert done.err.count("\n") == 1
    assert f"other.bin: --align needs vectors of 8 numbers, found {columns}" in done.err


def test_dim_makes_the_dimensions_agree(rotated, ask):
    x, _ = rotated
    write_vectors("other.bin", [f"ä{k}" for k in range(N)], x[:, :5].astype(np.float32))
    done = ask("transform", "own.bin", "-o", "out.bin", "--align", "other.bin", "--dim", "5")
    assert done.status == 0, done.err
    assert read_vectors("out.bin").matrix.shape == (N + 1, 5)


@pytest.mark.parametrize(("words", "shared"), [(["x", "y"], 0), ([f"ä{k}" for k in range(7)], 7)])
def test_too_few_words_in_common_are_an_error(rotated, ask, words, shared):
    write_vectors("other.bin", words, np.ones((len(words), K), np.float32))
    done = ask("transform", "own.bin", "-o", "out.bin", "--align", "other.bin")
    assert done.status == 1
    assert done.err.count("\n") == 1
    assert f"has {shared} words with a nonzero vector in common" in done.err


def test_directions_that_the_words_do_not_determine_are_said(rotated, ask):
    write_vectors("other.bin", [f"ä{k}" for k in range(20)], np.ones((20, K), np.float32))
    done = ask("transform", "own.bin", "-o", "out.bin", "--align", "other.bin")
    assert done.status == 0
    assert "determine 1 of 8 directions of the rotation" in done.err

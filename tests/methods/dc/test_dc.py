"""Divide and conquer: exact and noisy Gram matrices, bounds on its errors, and bad input."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from contexts import context_of
from corpora import assert_one_line
from matrices import random_counts, store_matrix

import wordgeom as wg
from wordgeom.cli import main
from wordgeom.core.errors import InputError, OptionError
from wordgeom.linalg import eigensolver
from wordgeom.linalg.procrustes import align
from wordgeom.matrices.stored_rows import StoredRows
from wordgeom.methods.contract import Status
from wordgeom.methods.dc import block_group, blocks, method
from wordgeom.methods.dc import merge as merging
from wordgeom.methods.dc.plan import MERGES
from wordgeom.runtime.pool import Pool

V, K = 200, 5
DESIGNS = [
    {"merge": merge, "block_solver": solver, "alignment": alignment}
    for merge, solver, alignment in product(MERGES, ("eigs", "gbu"), ("rigid", "rotation"))
    if (merge, solver) != ("core", "gbu")
] + [{"merge": "core", "block_solver": "gbu"}]  # has no alignment
SMALL = {"dim": K, "first_block": 30, "block": 24}


def gram(V, K, seed, noise=0.0):
    """Points (V × K) and their noisy inner products (V × V), as in the paper's Algorithm 3."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((V, K))
    true = points @ points.T
    draws = np.triu(rng.standard_normal((V, V)))
    return points, true + noise * np.abs(true) * (draws + np.triu(draws, 1).T)


def merged(path, G, threads=1, **options):
    """The vectors of blocks in the dtype of G, and their statistics and notes."""
    matrix = store_matrix(path, G, kind="pmi")
    with Pool(threads) as pool:
        design = method.Options(**options).design
        return method._merged(StoredRows(matrix, pool), design, context_of(pool))


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("order", ["frequency", "coreness"])
@pytest.mark.parametrize("sizes", [(0, 24), (9, 40), (12, 24)])
def test_an_exact_gram_matrix_is_recovered(tmp_path, design, order, sizes):
    overlap, block = sizes
    _, G = gram(V, K, 3)
    G[17, 60] = G[60, 17] = 0.0  # so that core numbers differ
    rest = np.setdiff1d(np.arange(V), [17, 60])
    G = G[np.ix_(rest, rest)] if order == "frequency" else gram(V, K, 3)[1]
    options = SMALL | design | {"order": order, "overlap": overlap, "block": block}
    vectors, facts, notes = merged(tmp_path / "g", G, **options)
    assert facts["blocks"] > 4
    assert notes == []
    assert np.abs(vectors @ vectors.T - G).max() < 1e-8 * np.abs(G).max()
    made = wg.train(tmp_path / "g", "dc", **options).vectors
    assert np.abs(made @ made.T - G).max() < 1e-5 * np.abs(G).max()


def block_errors(tmp_path, merge, noise=0.05, seeds=4):
    """Mean squared relative error (P) of each block, in the basis of the first block."""
    V, first, block, overlap = 1100, 60, 60, 30
    squares = []
    for seed in range(seeds):
        points, G = gram(V, 4, seed, noise)
        options = {"dim": 4, "first_block": first, "block": block, "overlap": overlap}
        if merge == "core":
            options["block"] = block - overlap
        vectors, _, _ = merged(
            tmp_path / f"{merge}{seed}", G, **options, merge=merge, block_solver="eigs"
        )
        near = align(vectors[:first], points[:first]).apply(vectors)
        off = np.square(near - points).sum(axis=1)
        parts = np.split(off, np.arange(first, V - 20, block - overlap))
        squares.append([part.mean() for part in parts if len(part)])
    return np.mean(squares, axis=0) / 4


def test_errors_along_a_chain_grow_no_faster_than_the_root_of_its_length(tmp_path):
    """Rotations of independent blocks multiply: their squared errors add, block by block.

    A block d merges from the first has the error e² = e₀² + d s², with e₀ its own error and s that
    of one alignment. Through a common core, d = 1 for every block; in a tree, d ≤ log₂ P + 1.
    """
    chain, tree, core = (block_errors(tmp_path, merge) for merge in ("chain", "tree", "core"))
    assert len(chain) == len(tree) == len(core) == 35
    own = core[1:].mean()
    middle, late = chain[9:18].mean() - own, chain[26:].mean() - own  # mean depths 13 and 30
    assert late > 1.2 * own  # errors do accumulate,
    assert late < 1.5 * (30 / 13) * middle  # in proportion to d, not to its square
    assert tree[26:].mean() - own < 0.6 * late
    assert core[26:].mean() == pytest.approx(core[1:9].mean(), rel=0.2)


@pytest.mark.parametrize("design", DESIGNS)
def test_bytes_do_not_depend_on_threads_or_memory(tmp_path, design, monkeypatch):
    G = gram(V, K, 5, 0.1)[1].astype(np.float32)
    one, facts, notes = merged(tmp_path / "a", G, **SMALL | design)
    monkeypatch.setattr(method, "_MOST", 500)  # many groups of blocks
    three, same_facts, same_notes = merged(tmp_path / "b", G, 3, **SMALL | design)
    assert one.tobytes() == three.tobytes()
    assert (facts, notes) == (same_facts, same_notes)


TRAIN = ["train", "cooc", "--method", "dc", "--dim", "4", "--first-block", "40", "--block", "30"]


@pytest.mark.parametrize("more", [
    [], ["--sweeps", "1"], ["--merge", "chain", "--block-solver", "eigs"],
    ["--merge", "core", "--block-solver", "eigs"], ["--as-published"],
])  # fmt: skip
@pytest.mark.parametrize("stop", [1, 3])
def test_a_resumed_run_gives_the_same_bytes(tmp_path, monkeypatch, more, stop):
    monkeypatch.chdir(tmp_path)
    store_matrix(tmp_path / "cooc", random_counts(np.random.default_rng(45), 200))
    calls = []

    def stopped(solve):
        def solve_or_stop(*given):
            calls.append(given)
            if len(calls) == stop:
                raise KeyboardInterrupt
            return solve(*given)

        return solve_or_stop

    with monkeypatch.context() as patch:
        patch.setattr(block_group, "realise", stopped(blocks.realise))
        patch.setattr(blocks.Core, "solve", stopped(blocks.Core.solve))
        assert main([*TRAIN, *more, "--checkpoint", "0", "--threads", "1"]) == 75
    assert main([*TRAIN, *more, "-o", "whole.bin"]) == 0
    with monkeypatch.context() as patch:
        patch.setattr(merging, "largest_eigenpairs", None)  # would fail if called
        assert main([*TRAIN, *more, "--resume", "--threads", "2"]) == 0
    assert Path("vectors.bin").read_bytes() == Path("whole.bin").read_bytes()
    here, there = (json.loads(Path(f"{n}.bin.json").read_text()) for n in ("vectors", "whole"))
    assert here["statistics"] == there["statistics"]
    assert not Path(".vectors.bin.state").exists()


def test_sweeps_are_resumed_after_the_first_one(tmp_path, monkeypatch):
    from interruptions import interrupted_after

    monkeypatch.chdir(tmp_path)
    store_matrix(tmp_path / "cooc", random_counts(np.random.default_rng(46), 200))
    with interrupted_after(1):
        assert main([*TRAIN, "--sweeps", "2", "--checkpoint", "0"]) == 75
    assert main([*TRAIN, "--sweeps", "2", "-o", "whole.bin"]) == 0
    with monkeypatch.context() as patch:
        patch.setattr(method, "_merged", None)  # would fail if called
        assert main([*TRAIN, "--sweeps", "2", "--resume"]) == 0
    assert Path("vectors.bin").read_bytes() == Path("whole.bin").read_bytes()


def test_as_published_is_algorithm_2_line_by_line(tmp_path):
    rng = np.random.default_rng(8)
    n, K, n1, size = 150, 4, 40, 20
    half = np.triu(rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.8))
    G = half + np.triu(half, 1).T
    from matrices import to_csr

    from wordgeom.methods.gbu.anchors import by_coreness

    order = by_coreness(to_csr(G), np.arange(n, 0, -1))
    H = G[np.ix_(order, order)]

    def eigs(block):
        values, U = np.linalg.eigh(block)
        return U[:, -K:] * np.sqrt(np.maximum(values[-K:], 0.0))

    X = np.zeros((n, K))
    X[:n1], at = eigs(H[:n1, :n1]), n1
    while at < n:
        end = at + size - (K + 1)
        end = n if n - end < K + 1 else end
        words = np.arange(at - (K + 1), end)
        x, common = eigs(H[np.ix_(words, words)]), X[at - (K + 1) : at]
        xm, vm = x[: K + 1].mean(axis=0), common.mean(axis=0)
        U, _, Wt = np.linalg.svd((x[: K + 1] - xm).T @ (common - vm))
        Q = U @ Wt
        X[at:end] = (x @ Q + vm - xm @ Q)[K + 1 :]  # T = v̄ − Q x̄; the overlap is kept
        at = end
    options = {"dim": K, "first_block": n1, "block": size, "as_published": True}
    vectors, facts, _ = merged(tmp_path / "g", G, **options)
    assert facts["overlap"] == K + 1
    np.testing.assert_allclose(vectors[order] @ vectors[order].T, X @ X.T, atol=1e-9)


def test_words_without_an_entry_in_their_block_are_counted(tmp_path):
    _, G = gram(90, 3, 1)
    G[70], G[:, 70], G[71], G[:, 71] = 0, 0, 0, 0
    options = {"dim": 3, "first_block": 20, "block": 16}
    vectors, facts, notes = merged(tmp_path / "a", G, **options)
    assert facts["isolated"] == 2
    assert not vectors[70:72].any()
    assert notes == ["2 words have no entry in the block: zero vectors"]
    rigid = {"merge": "chain", "block_solver": "eigs", "alignment": "rigid"}
    _, facts, notes = merged(tmp_path / "b", G, **options, **rigid)
    assert facts["isolated"] == 2
    assert notes[0] == "2 words have no entry in the block: vectors at the block's origin"


def test_overlaps_of_low_rank_and_bad_alignments_are_listed(tmp_path):
    rng = np.random.default_rng(4)
    _, G = gram(120, 4, 2)
    noise = rng.standard_normal((120, 120))
    G[40:, 40:] = (noise + noise.T)[40:, 40:]  # later blocks contradict the first
    G[45:60, 45:60] = 0.0
    chain = {"merge": "chain", "block_solver": "eigs"}
    _, facts, notes = merged(tmp_path / "g", G, dim=4, first_block=40, block=15, **chain)
    assert max(facts["alignment_errors"]) > 0.5
    assert any("rank below 4" in note and "block" in note for note in notes)
    assert any("badly" in note and "--merge core" in note for note in notes)
    assert all("\n" not in note for note in notes)


def test_a_first_block_of_all_words_is_pmi_eigs(tmp_path):
    store_matrix(tmp_path / "cooc", random_counts(np.random.default_rng(2), 120))
    made = wg.train(tmp_path / "cooc", "dc", dim=6, neg=1.0)
    same = wg.train(tmp_path / "cooc", "pmi-eigs", dim=6).vectors
    np.testing.assert_allclose(made.vectors @ made.vectors.T, same @ same.T, atol=1e-4)
    assert made.notes == ["all 120 words are in the first block"]


def test_without_counts_there_are_no_sweeps(tmp_path):
    store_matrix(tmp_path / "pmi", gram(80, 3, 1)[1], kind="pmi")
    made = wg.train(tmp_path / "pmi", "dc", dim=3, sweeps=1)
    assert "sweeps" not in made.statistics
    assert made.notes[0].startswith("the matrix has no counts, so there are no sweeps")


@pytest.mark.parametrize(("options", "parts"), [
    ({"overlap": 100}, ("--overlap 100", "raise --overlap to 101")),
    ({"merge": "chain", "block": 201}, ("--block 201", "202")),
    ({"merge": "tree", "block": 50}, ("--block 50", "202")),
    ({"first_block": 90}, ("--first-block 90", "101")),
    ({"first_block": 200, "overlap": 300}, ("--overlap 300", "200")),
    ({"as_published": True, "merge": "tree"}, ("--as-published", "--merge tree")),
    ({"as_published": True, "sweeps": 2}, ("--as-published", "--sweeps 2")),
    ({"alignment": "rigid"}, ("--alignment", "--block-solver eigs")),
])  # fmt: skip
def test_sizes_that_do_not_fit_are_explained_in_a_line(options, parts):
    with pytest.raises(OptionError) as caught:
        method.Options(**options)
    assert_one_line(caught, *parts)


def test_too_little_memory_is_explained_in_a_line(tmp_path, monkeypatch):
    monkeypatch.setattr("wordgeom.runtime.run_options.FLOOR", 0)  # the matrix is small
    store_matrix(tmp_path / "cooc", random_counts(np.random.default_rng(2), 300))
    with pytest.raises(InputError) as caught:
        wg.train(tmp_path / "cooc", "dc", dim=4, memory=0.001)
    assert_one_line(caught, "the first block of 300 words", "first_block=")


def test_one_sided_counts_are_rejected(tmp_path):
    counts = random_counts(np.random.default_rng(2), 60, symmetric=False)
    store_matrix(tmp_path / "cooc", counts, symmetric=False)
    with pytest.raises(InputError) as caught:
        wg.train(tmp_path / "cooc", "dc", dim=4)
    assert_one_line(caught, "symmetric", "context=")


def test_missed_eigenpairs_are_a_status(tmp_path, monkeypatch):
    found = eigensolver.largest_eigenpairs

    def unconverged(*given, **more):
        pairs = found(*given, **more)
        pairs.converged[:2] = False
        return pairs

    monkeypatch.setattr(merging, "largest_eigenpairs", unconverged)
    store_matrix(tmp_path / "cooc", random_counts(np.random.default_rng(2), 120))
    for sweeps in (0, 1):
        made = wg.train(tmp_path / "cooc", "dc", dim=6, sweeps=sweeps)
        assert "2 eigenpairs miss tol=0.001 in the first block" in made.notes
        assert made.status == Status.REACHED_BUDGET.value

"""Sweeps after the build-up: their default, where they tend to, and what is told of them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from corpora import assert_one_line
from matrices import random_counts, store_matrix, to_dense
from running import train

import wordgeom as wg
from wordgeom.core.errors import InputError, OptionError
from wordgeom.linalg import row_solver
from wordgeom.linalg.device import get_ops
from wordgeom.matrices.stored_rows import StoredRows
from wordgeom.methods import pmi_eigs
from wordgeom.methods.contract import Status
from wordgeom.methods.gbu import method as gbu
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.run_options import RunOptions
from wordgeom.weighting.options import PmiOptions
from wordgeom.weighting.pmi import WeightedMatrix

WORDS = 90


def fit(matrix, options, *, method=gbu, threads=1, memory=1 << 30, **kwargs):
    with Pool(threads) as pool:
        source = (
            WeightedMatrix(matrix, PmiOptions(**kwargs), pool)
            if matrix.store.kind == "cooc"
            else StoredRows(matrix, pool)
        )
        run = Context(pool, partial(get_ops, "cpu", pool), memory)
        return method.fit({"matrix": source}, options, run)


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """Counts of 90 words, two of which co-occur with no other."""
    full = random_counts(np.random.default_rng(16), WORDS)
    for isolated in (40, 71):
        full[isolated], full[:, isolated] = 0, 0
    return store_matrix(tmp_path_factory.mktemp("gbu") / "cooc", full)


def test_the_default_is_weighted_sweeps_from_ten_anchors_a_dimension(counts):
    result = fit(counts, gbu.Options(dim=5))
    assert (result.vectors.dtype, result.vectors.shape) == (np.float32, (WORDS, 5))
    assert result.statistics["anchors"] == 50
    assert len(result.statistics["objective"]) == 6
    assert (np.diff(result.statistics["objective"]) < 0).all()
    assert fit(counts, gbu.Options(dim=5, as_published=True)).statistics["anchors"] == 20
    assert fit(counts, gbu.Options(dim=5, sweeps=0)).statistics["anchors"] == 20


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("choice", ["frequency", "coreness", "leverage", "random"])
def test_sweeps_have_the_same_bytes_on_any_threads(counts, weighted, choice):
    options = gbu.Options(dim=5, weighted=weighted, anchor_choice=choice)
    one, three = (fit(counts, options, threads=threads) for threads in (1, 3))
    assert one.vectors.tobytes() == three.vectors.tobytes()
    assert one.statistics == three.statistics


def test_words_without_a_pair_are_zero_and_counted(counts):
    result = fit(counts, gbu.Options(dim=5))
    assert np.flatnonzero(~result.vectors.any(axis=1)).tolist() == [40, 71]
    assert result.statistics["zero_vectors"] == 2
    assert result.notes == ["2 words do not co-occur with any other word: zero vectors"]
    assert result.status is Status.CONVERGED


def test_dimensions_that_anchors_do_not_span_are_zero_and_reported(counts):
    result = fit(counts, gbu.Options(dim=60, anchors=60))
    rank = result.statistics["effective_rank"]
    assert 10 < rank < 60
    assert not result.vectors[:, rank:].any()
    assert f"the anchors span {rank} of 60 dimensions" in result.notes[0]
    assert result.status is Status.RANK_DEFICIENT


def test_dimensions_that_sweeps_lose_are_reported(counts):
    ridged = fit(counts, gbu.Options(dim=5, loss="squared", ridge=9e4))
    lost = 5 - ridged.statistics["effective_rank"]
    assert lost > 0
    assert (
        f"weighted sweeps left {5 - lost} of 5 dimensions (the L2 penalty removed"
        in ridged.notes[0]
    )
    assert ridged.notes[0].endswith("; lower --dim or --ridge")
    plain = fit(counts, gbu.Options(dim=60, anchors=60, weighted=False))
    rank = plain.statistics["effective_rank"]
    assert plain.notes == [
        f"sweeps found {rank} of 60 dimensions (there are no other positive Ritz values); "
        f"{60 - rank} columns are zero; lower --dim"
    ]


def test_rows_that_miss_the_tolerance_are_reported(counts, monkeypatch):
    monkeypatch.setattr(row_solver, "MAX_STEPS", 1)
    result = fit(counts, gbu.Options(dim=5, loss="squared"))
    assert "rows of the last half sweep missed the tolerance 0.01" in result.notes[-1]
    assert result.status is Status.REACHED_BUDGET


def test_weights_without_counts_get_plain_sweeps_and_a_note(tmp_path, counts):
    with Pool(1) as pool:
        whole = to_dense(WeightedMatrix(counts, PmiOptions(), pool).full())
    stored = store_matrix(tmp_path / "pmi", whole, kind="pmi")
    result = fit(stored, gbu.Options(dim=5))
    plain = fit(stored, gbu.Options(dim=5, weighted=False))
    assert result.vectors.tobytes() == plain.vectors.tobytes()
    assert plain.notes == []
    (note,) = result.notes
    assert "the matrix has no counts, so sweeps are not weighted" in note
    direct = fit(counts, gbu.Options(dim=5, weighted=False))
    np.testing.assert_array_equal(direct.vectors, plain.vectors)


def test_plain_sweeps_converge_to_the_eigenvectors(tmp_path):
    """Inner products become those of pmi-eigs, though −9 is larger than most of what is sought."""
    Q = np.linalg.qr(np.random.default_rng(17).standard_normal((WORDS, WORDS)))[0]
    values = np.concatenate(([12, 10, 8, 7, 6, 5, -9], np.linspace(2, -2, WORDS - 7)))
    G = (Q * values) @ Q.T
    stored = store_matrix(tmp_path / "g", ((G + G.T) / 2).astype(np.float32), kind="pmi")
    wanted = fit(stored, pmi_eigs.Options(dim=6), method=pmi_eigs).vectors
    best, error = wanted @ wanted.T, []
    for sweeps in (0, 1, 2, 5, 20):
        options = gbu.Options(dim=6, anchors=24, sweeps=sweeps, weighted=False)
        vectors = fit(stored, options).vectors
        error.append(np.linalg.norm(vectors @ vectors.T - best) / np.linalg.norm(best))
    assert error == sorted(error, reverse=True)
    assert error[0] > 2 * error[2]
    assert error[-1] < 1e-3


def test_eig_is_the_power_of_the_ritz_values(counts):
    half, other = (fit(counts, gbu.Options(dim=6, weighted=False, eig=p)) for p in (0.5, 0.0))
    values = np.array(half.statistics["spectrum"])
    np.testing.assert_allclose(half.vectors, other.vectors * np.sqrt(values), atol=1e-5)
    np.testing.assert_allclose(other.vectors.T @ other.vectors, np.eye(6), atol=1e-5)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_eig_is_the_power_of_the_singular_values_of_weighted_sweeps(counts, loss):
    """With --mix 0, vectors are A Σ^P with the A and Σ of any P."""
    half, other = (fit(counts, gbu.Options(dim=6, loss=loss, mix=0.0, eig=p)) for p in (0.5, 0.0))
    values = np.array(half.statistics["singular_values"])
    np.testing.assert_allclose(half.vectors, other.vectors * np.sqrt(values), atol=1e-5)
    np.testing.assert_allclose(other.vectors.T @ other.vectors, np.eye(6), atol=1e-5)
    assert (half.statistics["eig"], other.statistics["eig"]) == (0.5, 0.0)


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        *((name, "logistic") for name in ("temper", "shrinkage", "thin", "mix")),
        *((name, "squared") for name in ("x_max", "alpha", "background", "ridge", "mix")),
    ],
)
@pytest.mark.parametrize(
    ("others", "given"),
    [
        ({"weighted": False}, "--no-weighted"),
        ({"sweeps": 0}, "--sweeps 0"),
        ({"as_published": True}, "--as-published"),
    ],
)
def test_options_of_weighted_sweeps_are_rejected_without_them(name, loss, others, given):
    with pytest.raises(OptionError) as caught:
        gbu.Options.take({name: 0.7, **others})
    flag = "--" + name.replace("_", "-")
    what = f"{flag} has no effect with {given}; omit one of the two"
    assert_one_line(caught, what)
    assert getattr(gbu.Options.take({name: 0.7, "loss": loss}), name) == 0.7


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"dim": 5}, ("the columns of 50 anchors and 90 vectors of dimension 5", "--dim")),
        ({"dim": 5, "weighted": False}, ("all 3,608 pairs and 90 vectors", "--sweeps 0")),
        ({"dim": 5, "sweeps": 0, "anchor_choice": "random"}, ("--anchor-choice frequency",)),
        ({"dim": 5, "sweeps": 0}, ("the columns of 20 anchors", "--anchors")),
    ],
)
def test_exceeding_the_memory_limit_is_rejected_with_the_size(counts, options, parts):
    with pytest.raises(InputError) as caught:
        fit(counts, gbu.Options(**options), memory=10_000)
    assert_one_line(caught, " KB, more than the memory limit of 10 KB", "--memory", *parts)


def test_weighted_sweeps_shift_pmi_by_default(counts):
    def vectors(**values):
        values = {"dim": 5, **values}
        made = train(counts.path, "gbu", values, RunOptions(quiet=True), out=None)
        assert made.vectors is not None
        return made.vectors.matrix.tobytes()

    assert vectors() == vectors(neg=1.0, cds=0.75) != vectors(neg=0.2, cds=0.75)
    assert vectors(loss="squared") == vectors(loss="squared", neg=0.2, cds=1.0)
    assert vectors(weighted=False) == vectors(weighted=False, neg=1.0)
    published = vectors(as_published=True)
    assert published == vectors(as_published=True, neg=1.0, weighting="pmi")
    assert published != vectors(as_published=True, weighting="ppmi")
    assert vectors(weighting="npmi") == vectors(weighting="npmi", neg=1.0)


@pytest.mark.parametrize(
    ("counting", "weighting", "note"),
    [
        ({"count": "windows", "window": 4}, {}, ""),
        ({}, {}, "--count pairs (the paper: windows)"),
        ({"window": 3, "window_weight": "flat"}, {}, "--count pairs (the paper: windows)"),
        (
            {"count": "windows"},
            {"weighting": "ppmi", "neg": 0.5, "cds": 0.75},
            "--weighting ppmi (the paper: pmi), --neg 0.5 (the paper: 1.0), "
            "--cds 0.75 (the paper: 1.0)",
        ),
    ],
)
def test_as_published_says_what_the_paper_does_not_have(tmp_path, counting, weighting, note):
    topics = ("a a b c d", "e f g g h", "i j k k l", "m m n o p")
    (tmp_path / "t.txt").write_text("".join(f"{topics[k % 4]}\n" for k in range(80)))
    counts = wg.count(tmp_path / "t.txt", out=tmp_path / "c", min_count=1, **counting)
    asked = {"dim": 2, "as_published": True, **weighting}
    notes = train(counts.path, "gbu", asked, RunOptions(quiet=True), out=None).notes
    found = [each for each in notes if "not as published" in each]
    assert found == ([f"not as published: {note}"] if note else [])

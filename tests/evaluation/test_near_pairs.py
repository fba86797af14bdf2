"""Near pairs: equations 11 and 12 by brute force, threshold, zero vectors, blocks, baselines."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pytest

import wordgeom as wg
from wordgeom.cli import main
from wordgeom.core.errors import InputError, OptionError
from wordgeom.evaluation import isomap, near_pairs
from wordgeom.evaluation.baselines import Baseline
from wordgeom.evaluation.neighbourhoods import COLUMNS
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.reference import Reference
from wordgeom.linalg.device import open_context
from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors.keyed import Vectors, write_vectors
from wordgeom.vectors.reduction import pca, svd

FILES = ("words.bin", "reduced.bin")


def words_of(n):
    return [f"word{k}" for k in range(n)]


def groups(n, d, seed, spread=0.4):
    """Points (n × d) of different lengths around ten directions."""
    draw = np.random.default_rng(seed)
    centres = draw.standard_normal((10, d))[draw.integers(0, 10, n)]
    points = (centres + spread * draw.standard_normal((n, d))) * draw.uniform(0.5, 2, (n, 1))
    return points.astype(np.float32)


@pytest.fixture
def answered(tmp_path):
    """Answers of vectors (n × m) to a reference (n × d), or of a baseline."""

    def answer(made, reference, baseline=None, threads=2, memory=1.0, **options):
        path = tmp_path / "reference.bin"
        write_vectors(path, words_of(len(reference)), np.asarray(reference, np.float32))
        how = EvalOptions(neighbours=5, **options)
        task = Baseline(str(path), how, baseline) if baseline else Reference(str(path), how)
        with open_context(RunOptions(threads=threads, memory=memory, seed=3)) as context:
            vectors = Vectors(words_of(len(made)), np.asarray(made, np.float32))
            return task.answer(vectors, context)

    return answer


def scores(answers):
    return {measure.name: answers.score(measure) for measure in answers.measures}


def near_scores(answers):
    found = scores(answers)
    return [found[f"{name} of near pairs"] for name in ("angle error", "Jaccard")] + [
        found["norm error"]
    ]


def angles(points):
    wide = points.astype(np.float64)
    unit = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    return np.arccos(np.clip(unit @ unit.T, -1, 1))


def brute(made, reference, tau):
    """Δ, Jaccard and norm error, pair by pair."""
    x, y = angles(reference), angles(made)
    near, kept = np.cos(x) > tau, np.cos(y) > tau
    norms = [np.linalg.norm(points.astype(np.float64), axis=1) for points in (made, reference)]
    return [np.abs(x - y)[near].mean(), (near & kept).sum() / (near | kept).sum(),
            np.abs(norms[0] - norms[1]).sum() / norms[1].sum()]  # fmt: skip


@pytest.mark.parametrize("tau", [0.2, 0.5, 0.9])
def test_the_measures_are_those_of_the_equations(answered, tau):
    reference = groups(300, 12, 1)
    made = reference[:, :5] + 0.1 * groups(300, 5, 2)
    found = near_scores(answered(made, reference, tau=tau))
    np.testing.assert_allclose(found, brute(made, reference, tau), rtol=1e-7)


def test_the_vectors_themselves_and_rotations_of_them_are_faithful(answered):
    reference = groups(200, 8, 1)
    turn = np.linalg.qr(np.random.default_rng(2).standard_normal((8, 8)))[0].astype(np.float32)
    np.testing.assert_allclose(near_scores(answered(reference, reference)), [0, 1, 0], atol=1e-12)
    found = near_scores(answered(reference @ turn, reference, tau=0.5))
    np.testing.assert_allclose(found, [0, 1, 0], atol=1e-6)


def test_a_multiple_changes_the_norms_alone(answered):
    reference = groups(200, 8, 1)
    found = near_scores(answered(reference * np.float32(0.75), reference, tau=0.5))
    np.testing.assert_allclose(found, [0, 1, 0.25], atol=1e-7)


@pytest.mark.parametrize("n", [40, 300])
def test_the_default_threshold_is_the_least_that_99_percent_of_the_pairs_do_not_exceed(n):
    points = groups(n, 12, 1)
    cosines = np.cos(angles(points))[~np.eye(n, dtype=bool)]
    from wordgeom.evaluation.common_words import common_words

    vectors = Vectors(words_of(n), points)
    words = common_words(vectors, vectors, "cosine", "cosine")
    with open_context(RunOptions(threads=2, seed=1)) as context:
        tau = near_pairs.sparse_threshold(words, np.arange(n), context)
    assert np.mean(cosines > tau) <= 1 - near_pairs.SPARSITY
    assert np.mean(cosines > tau - 2.0**-15) > 1 - near_pairs.SPARSITY


def test_zero_vectors_are_near_nothing(answered):
    reference = groups(100, 6, 1)
    made = reference.copy()
    made[:40] = 0
    found = answered(made, reference, tau=0.5)
    x = angles(reference)
    near = np.cos(x) > 0.5
    alive = np.arange(100) >= 40
    lost = near & ~(alive[:, None] & alive)
    error = np.abs(np.pi / 2 - x)[lost].sum() / near.sum()
    assert near_scores(found)[0] == pytest.approx(error, rel=1e-6)
    assert near_scores(found)[1] == pytest.approx(1 - lost.sum() / near.sum())


def test_vectors_of_one_direction_have_no_threshold(answered):
    reference = np.ones((50, 3)) * np.arange(1, 51)[:, None]
    found = answered(reference, reference)
    assert any("pass --tau" in note for note in found.notes)
    assert np.isnan(near_scores(found)[0])
    assert near_scores(answered(reference, reference, tau=0.9))[:2] == [0, 1]


def test_blocks_and_threads_do_not_matter(answered, monkeypatch):
    reference = groups(300, 12, 1)
    made = reference[:, :5]
    one = answered(made, reference, threads=1)
    np.testing.assert_array_equal(one.given, answered(made, reference, threads=3).given)
    monkeypatch.setattr(near_pairs, "_ROWS", 7)
    monkeypatch.setattr(near_pairs, "_TARGETS", 11)
    np.testing.assert_allclose(one.given, answered(made, reference).given, atol=1e-12)


def test_a_sample_is_scored_among_all_words(answered):
    reference = groups(400, 6, 1)
    every = answered(reference[:, :3], reference, tau=0.7)
    some = answered(reference[:, :3], reference, tau=0.7, reference_words=100)
    np.testing.assert_allclose(
        some.given[:, COLUMNS:], every.given[some.items][:, COLUMNS:], atol=1e-12
    )


def test_blocks_beyond_the_memory_are_rejected(answered):
    with pytest.raises(InputError, match="cosines of near pairs need"):
        answered(groups(60, 4, 1), groups(60, 4, 1), memory=0.002)


# ── Baselines ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("baseline", ["svd", "pca"])
def test_linear_baselines_are_projections_on_singular_vectors(answered, baseline):
    reference = groups(150, 8, 1)
    centred = reference - (reference.mean(axis=0) if baseline == "pca" else 0)
    _, _, axes = np.linalg.svd(centred.astype(np.float64), full_matrices=False)
    made = (centred @ axes[:3].T).astype(np.float32)
    expected = brute(made, reference, 0.6)
    found = near_scores(answered(np.ones((150, 3)), reference, baseline, tau=0.6))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_the_projection_has_the_least_squared_error(tmp_path):
    points = groups(200, 7, 1)
    with open_context(RunOptions(threads=2)) as context:
        for reduce, rest in ((svd, points), (pca, points - points.mean(axis=0))):
            values = np.linalg.svd(rest.astype(np.float64), compute_uv=False)
            made = reduce(points, 4, context.pool)
            assert np.sum(made.astype(np.float64) ** 2) == pytest.approx(np.sum(values[:4] ** 2))
        assert svd(points[:, :1] * np.ones(3, np.float32), 3, context.pool).shape == (200, 1)


def test_isomap_embeds_a_ring_by_its_paths():
    """Points on a circle of the sphere: paths between them are arcs, as in the plane."""
    at = np.linspace(0, 1.5 * np.pi, 60)
    ring = np.column_stack([np.cos(at), np.sin(at), np.full(60, 3.0)])
    units = ring / np.linalg.norm(ring, axis=1, keepdims=True)
    step = units[0] @ units[1]
    with open_context(RunOptions(threads=2)) as context:
        line = isomap.isomap(units, 1, step - 1e-9, context)[:, 0].astype(np.float64)
    lengths = np.abs(np.diff(line))
    np.testing.assert_allclose(lengths, np.sqrt(2 - 2 * step), rtol=1e-4)


def test_isomap_is_judged_by_distances_and_takes_parts_that_are_not_connected(answered):
    reference = groups(120, 6, 1, spread=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = answered(np.ones((120, 4)), reference, "isomap", tau=0.9)
    assert "angle error of near pairs" not in scores(found)
    # Ten tight groups far apart: any embedding that preserves distances keeps the near pairs.
    assert scores(found)["Jaccard of near pairs"] > 0.9


def test_isomap_of_many_words_is_rejected(answered, monkeypatch):
    monkeypatch.setattr(isomap, "MOST", 50)
    with pytest.raises(InputError, match=r"4 to 50 words.*found 60"):
        answered(np.ones((60, 3)), groups(60, 5, 1), "isomap")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reference = groups(150, 8, 1)
    write_vectors("words.bin", words_of(150), reference)
    write_vectors("reduced.bin", words_of(150), reference[:, :3])
    return tmp_path


def test_the_command_puts_baselines_beside_the_vectors(files, capsys):
    command = ["eval", "reduced.bin", "--reference", "words.bin", "--metric", "cosine"]
    assert main([*command, "--baselines", "svd,pca,isomap", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    found: dict[str, dict[str, float]] = {}
    for score in facts["scores"]:
        found.setdefault(score["set"], {})[score["measure"]] = score["score"]
    assert list(found) == ["words", "words: svd", "words: pca", "words: isomap"]
    assert "angle error of near pairs" not in found["words: isomap"]
    with open_context(RunOptions(threads=2)) as context:
        write_vectors("svd.bin", words_of(150), svd(groups(150, 8, 1), 3, context.pool))
    report = wg.score("svd.bin", reference=["words.bin"], metric="cosine")
    for score in report.scores:
        assert found["words: svd"][score.measure] == pytest.approx(score.value, abs=1e-12)


def test_wrong_options_are_one_line(files, capsys):
    command = ["eval", "reduced.bin", "--reference", "words.bin"]
    for tau in ("0", "1", "-.5", "nan"):
        assert main([*command, "--tau", tau]) == 2
        assert re.fullmatch(r"wordgeom: error: --tau .*\n", capsys.readouterr().err)
    assert main([*command, "--baselines", "svd,umap"]) == 2
    assert re.fullmatch(r"wordgeom: error: --baselines .*'umap'.*\n", capsys.readouterr().err)
    with pytest.raises(OptionError, match="needs reference vectors"):
        wg.score("reduced.bin", baselines="svd")

"""PMI-eigs against brute-force best approximations and the build-up, and its notes."""

from __future__ import annotations

import numpy as np
import pytest
from matrices import random_counts, store_matrix
from running import convert, train

from wordgeom.core.errors import InputError, OutputExistsError, RankError
from wordgeom.linalg import eigensolver
from wordgeom.linalg.device import get_ops
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.matrices.stored_rows import StoredRows
from wordgeom.methods import pmi_eigs
from wordgeom.methods.contract import Status
from wordgeom.methods.gbu import method as gbu
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress
from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import read_vectors, write_vectors
from wordgeom.weighting.options import PmiOptions
from wordgeom.weighting.pmi import WeightedMatrix

V = 80


def fit(matrix, options, *, method=pmi_eigs, memory=1 << 30, weighting="pmi", progress=None):
    with Pool(2) as pool:
        source = (
            WeightedMatrix(matrix, PmiOptions(weighting=weighting), pool)
            if matrix.store.kind == "cooc"
            else StoredRows(matrix, pool)
        )
        ops = get_ops("cpu", pool)
        context = Context(pool, lambda: ops, memory, progress=progress or Progress())
        return method.fit({"matrix": source}, options, context)


def pmi(matrix, weighting="pmi"):
    with Pool(1) as pool:
        rows = WeightedMatrix(matrix, PmiOptions(weighting=weighting), pool)
        return rows.columns(np.arange(len(rows.words)))


def dense(block):
    full = np.zeros((block.rows, block.columns))
    full[np.repeat(np.arange(block.rows), np.diff(block.indptr)), block.indices] = block.data
    return full


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("eigs")
    return store_matrix(folder / "cooc", random_counts(np.random.default_rng(70), V))


@pytest.mark.parametrize("weighting", ["pmi", "ppmi"])
@pytest.mark.parametrize("K", [1, 5, 30])
def test_inner_products_are_the_best_approximation_of_their_rank(counts, weighting, K):
    G = dense(pmi(counts, weighting))
    vectors = fit(counts, pmi_eigs.Options(dim=K), weighting=weighting).vectors
    values = np.linalg.eigvalsh(G)[::-1]
    # Eckart and Young, for semidefinite matrices: what is lost are all other eigenvalues.
    best = np.sum(values[K:] ** 2) + np.sum(np.minimum(values[:K], 0.0) ** 2)
    error = np.sum((G - vectors.astype(np.float64) @ vectors.T) ** 2)
    np.testing.assert_allclose(error, best, rtol=1e-5)


def test_the_vectors_are_a_minimum(counts):
    G, K = dense(pmi(counts)), 4
    vectors = fit(counts, pmi_eigs.Options(dim=K)).vectors.astype(np.float64)
    # The gradient of ‖G − VVᵀ‖² is 0, and no step in any direction goes down.
    gradient = (vectors @ vectors.T - G) @ vectors
    assert np.abs(gradient).max() < 1e-4 * np.abs(G @ vectors).max()
    here, rng = np.sum((G - vectors @ vectors.T) ** 2), np.random.default_rng(71)
    for _ in range(20):
        other = vectors + 0.1 * rng.standard_normal(vectors.shape)
        assert np.sum((G - other @ other.T) ** 2) > here


@pytest.mark.parametrize("eig", [0.0, 0.25, 0.5, 1.0])
def test_eigenvalues_are_raised_to_the_power_asked_for(counts, eig):
    result = fit(counts, pmi_eigs.Options(dim=6, eig=eig))
    values = np.array(result.statistics["spectrum"])
    wanted = np.diag(values ** (2 * eig))
    vectors = result.vectors.astype(np.float64)
    np.testing.assert_allclose(vectors.T @ vectors, wanted, atol=1e-5 * wanted.max())


def test_fewer_dimensions_are_the_first_of_more(counts):
    few, many = (fit(counts, pmi_eigs.Options(dim=K)) for K in (3, 12))
    np.testing.assert_allclose(many.vectors[:, :3], few.vectors, atol=1e-5)
    spectrum = many.statistics["spectrum"]
    assert len(spectrum) == 12
    assert spectrum == sorted(spectrum, reverse=True)
    np.testing.assert_allclose(spectrum[:3], few.statistics["spectrum"], rtol=1e-12)


@pytest.mark.parametrize("least", [0, 1024])
def test_the_largest_entry_of_every_column_is_positive(tmp_path, monkeypatch, least):
    monkeypatch.setattr(eigensolver, "_DENSE", least)
    matrix = store_matrix(tmp_path / "c", random_counts(np.random.default_rng(75), 300))
    vectors = fit(matrix, pmi_eigs.Options(dim=12)).vectors
    peaks = np.abs(vectors).argmax(axis=0)
    assert np.all(vectors[peaks, np.arange(12)] > 0)


def test_the_build_up_on_all_words_gives_the_same_vectors(counts):
    ours = fit(counts, pmi_eigs.Options(dim=10)).vectors
    theirs = fit(counts, gbu.Options(dim=10, anchors=V, sweeps=0), method=gbu).vectors
    np.testing.assert_allclose(ours, theirs, atol=1e-5 * np.abs(ours).max())


def test_non_positive_eigenvalues_are_columns_of_zeros_counted_and_reported(tmp_path):
    Q = np.linalg.qr(np.random.default_rng(72).standard_normal((40, 40)))[0]
    values = np.concatenate(([4.0, 2.0, 1.0], np.linspace(-1, -50, 37)))
    G = ((Q * values) @ Q.T).astype(np.float32)
    matrix = store_matrix(tmp_path / "g", (G + G.T) / 2, kind="pmi")
    result = fit(matrix, pmi_eigs.Options(dim=5))
    assert result.vectors[:, :3].any(axis=0).all()
    assert not result.vectors[:, 3:].any()
    assert result.statistics["effective_rank"] == 3
    assert result.statistics["non_positive"] == 2
    assert result.notes == [
        "3 of 5 eigenvalues are positive and above rounding error (2 are ≤ 0); "
        "2 columns are zero; lower --dim"
    ]
    assert result.status is Status.RANK_DEFICIENT
    np.testing.assert_allclose(result.statistics["spectrum"], values[:5], rtol=1e-5)
    np.testing.assert_allclose(np.sum(result.vectors**2, axis=0)[:3], [4, 2, 1], rtol=1e-5)


def test_dim_may_be_the_number_of_words(tmp_path):
    G = dense(pmi(store_matrix(tmp_path / "c", random_counts(np.random.default_rng(73), 30))))
    matrix = store_matrix(tmp_path / "g", G, kind="pmi")
    result = fit(matrix, pmi_eigs.Options(dim=30))
    np.testing.assert_allclose(
        result.statistics["spectrum"], np.linalg.eigvalsh(G)[::-1], atol=1e-12
    )
    assert result.statistics["converged"] == 30


def test_unconverged_pairs_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(eigensolver, "_DENSE", 0)
    G = np.diag(np.linspace(1, 2, 300)).astype(np.float32)
    matrix = store_matrix(tmp_path / "g", G, kind="pmi")
    result = fit(matrix, pmi_eigs.Options(dim=4, tol=1e-9, restarts=0))
    assert result.statistics["converged"] == 0
    worst = np.divide(result.statistics["residuals"], result.statistics["spectrum"]).max()
    assert result.notes == [
        f"4 of 4 eigenpairs miss --tol 1e-09 (the largest ‖Gu − λu‖ is {worst:.1e} λ); "
        "raise --restarts or --basis"
    ]
    assert result.status is Status.REACHED_BUDGET
    unit = result.vectors.astype(np.float64) / np.sqrt(result.statistics["spectrum"])
    misfit = G @ unit - unit * result.statistics["spectrum"]
    np.testing.assert_allclose(
        np.linalg.norm(misfit, axis=0), result.statistics["residuals"], rtol=1e-4
    )
    better = fit(matrix, pmi_eigs.Options(dim=4, tol=1e-9, restarts=200))
    assert (better.statistics["converged"], better.notes) == (4, [])
    assert better.status is Status.CONVERGED
    assert 0 < better.statistics["restarts"] < 200


def test_progress_counts_every_pair_once(tmp_path, monkeypatch):
    seen: list[tuple[str, int, str]] = []
    gained: list[int] = []

    class Noted(Progress):
        def follow(self, items, label, total, unit, size, done=0):
            seen.append((label, total, unit))
            for item in items:
                gained.append(size(item))
                yield item

    monkeypatch.setattr(eigensolver, "_DENSE", 0)
    G = np.diag(np.concatenate(([9, 8, 7, 6, 5], np.linspace(1, 0.5, 295)))).astype(np.float32)
    matrix = store_matrix(tmp_path / "g", G, kind="pmi")
    result = fit(matrix, pmi_eigs.Options(dim=5, tol=1e-8), progress=Noted())
    assert seen == [("eigenpairs", 5, "pairs")]
    assert len(gained) > 1
    assert sum(gained) == result.statistics["converged"] == 5


def test_one_sided_counts_are_rejected(tmp_path):
    one_sided = random_counts(np.random.default_rng(74), 30, symmetric=False)
    matrix = store_matrix(tmp_path / "c", one_sided, symmetric=False)
    with pytest.raises(InputError, match="needs a symmetric matrix, not one-sided counts"):
        fit(matrix, pmi_eigs.Options(dim=2))


def test_more_dimensions_than_words_are_rejected(counts):
    with pytest.raises(RankError, match=f"--dim {V + 1} exceeds the number of words, {V:,};"):
        fit(counts, pmi_eigs.Options(dim=V + 1))


@pytest.mark.parametrize("G", [np.zeros((9, 9), np.float32), -np.eye(9, dtype=np.float32)])
def test_a_matrix_without_a_positive_eigenvalue_is_rejected(tmp_path, G):
    with pytest.raises(RankError, match=r"eigenvalue of the matrix is .+, not positive"):
        fit(store_matrix(tmp_path / "g", G, kind="pmi"), pmi_eigs.Options(dim=2))


def test_too_little_memory_is_rejected_before_the_matrix_is_read(counts, monkeypatch):
    monkeypatch.setattr(StoredMatrix, "rows", None)  # would fail
    needed = 12 * 2 * counts.stored + 100 * V + eigensolver.EigenSettings(5).bytes(V)
    with pytest.raises(
        InputError, match=r"need [\d.]+ [KM]B, more than the memory limit of [\d.]+ [KM]B; raise"
    ) as error:
        fit(counts, pmi_eigs.Options(dim=5), memory=needed - 1)
    assert "\n" not in str(error.value)
    with pytest.raises(TypeError, match="not callable"):
        fit(counts, pmi_eigs.Options(dim=5), memory=needed)


def test_the_run_card_holds_the_spectrum(counts, tmp_path):
    out = tmp_path / "vectors.bin"
    values = {"dim": 7, "weighting": "pmi"}
    made = train(counts.path, "pmi-eigs", values, RunOptions(threads=1), out=out)
    statistics = (run_card.read_card(out) or {})["statistics"]
    assert statistics == made.statistics
    np.testing.assert_allclose(
        statistics["spectrum"], np.linalg.eigvalsh(dense(pmi(counts)))[:-8:-1], rtol=1e-6
    )
    assert statistics["converged"] == len(statistics["residuals"]) == 7
    squares = np.sum(read_vectors(out).matrix.astype(np.float64) ** 2, axis=0)
    np.testing.assert_allclose(squares, statistics["spectrum"], rtol=1e-5)


def test_a_converted_file_keeps_its_card_and_can_be_truncated_again(counts, tmp_path):
    paths = [tmp_path / name for name in ("vectors.bin", "copy.txt", "six.bin", "three.bin")]
    train(counts.path, "pmi-eigs", {"dim": 7}, RunOptions(threads=1), out=paths[0])
    convert(paths[0], paths[1])
    convert(paths[1], paths[2], dim=6)
    convert(paths[2], paths[3], dim=3)
    first, last = run_card.read_card(paths[0]), run_card.read_card(paths[3])
    assert first is not None
    assert last is not None
    assert last["statistics"]["spectrum"] == first["statistics"]["spectrum"][:3]
    assert last["statistics"]["residuals"] == first["statistics"]["residuals"][:3]
    assert last["seconds"] == first["seconds"]
    assert last["request"]["options"]["dim"] == 3
    assert last["source"] == first["request"]
    np.testing.assert_array_equal(
        read_vectors(paths[3]).matrix, read_vectors(paths[0]).matrix[:, :3]
    )
    # It is not what train makes of the same options.
    with pytest.raises(OutputExistsError, match="made by convert"):
        train(counts.path, "pmi-eigs", {"dim": 3}, RunOptions(threads=1), out=paths[3])


def test_a_file_without_a_card_converts_to_one_without(counts, tmp_path):
    write_vectors(tmp_path / "a.bin", ["x", "y"], np.eye(2, dtype=np.float32))
    train(counts.path, "pmi-eigs", {"dim": 2}, RunOptions(threads=1), out=tmp_path / "b.bin")
    convert(tmp_path / "a.bin", tmp_path / "b.bin", force=True)
    assert not (tmp_path / "b.bin.json").exists()
    with pytest.raises(InputError, match="has no spectrum in a run card, which --dim needs"):
        convert(tmp_path / "a.bin", tmp_path / "c.bin", dim=1)


def test_pairs_at_the_limit_of_float32_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(eigensolver, "_DENSE", 0)
    rng, V = np.random.default_rng(75), 400
    values = np.concatenate(([1e5], np.linspace(2.0, 1.0, 5), np.linspace(0.5, -1.0, V - 6)))
    Q = np.linalg.qr(rng.standard_normal((V, V)))[0]
    G = ((Q * values) @ Q.T).astype(np.float64)
    matrix = store_matrix(tmp_path / "pmi", (G + G.T) / 2, kind="pmi")
    found = fit(matrix, pmi_eigs.Options(dim=4, tol=1e-3))
    ratios = np.divide(found.statistics["residuals"], found.statistics["spectrum"])
    missed = np.count_nonzero(ratios > 1e-3)
    assert missed  # 1e5 rounds to more than a thousandth of 2
    assert found.statistics["converged"] == 4 - missed
    (note,) = found.notes
    assert f"{missed} of 4 eigenpairs miss --tol 0.001" in note
    assert "limit of float32" in note
    assert found.status is Status.REACHED_BUDGET
    assert "iteration" not in found.status.sentence  # more of them would not help
    exact = fit(matrix, pmi_eigs.Options(dim=4, tol=9e-5))
    assert (exact.statistics["converged"], exact.notes) == (4, [])


def test_copies_of_a_block_of_words_have_all_their_eigenvalues(tmp_path, monkeypatch):
    monkeypatch.setattr(eigensolver, "_DENSE", 0)
    half = np.random.default_rng(3).gamma(0.5, 2.0, (15, 15)).astype(np.float32)
    G = half + half.T
    stored = store_matrix(tmp_path / "pmi", np.kron(np.eye(200, dtype=np.float32), G), kind="pmi")
    made = fit(stored, pmi_eigs.Options(dim=100))
    np.testing.assert_allclose(made.statistics["spectrum"], np.linalg.eigvalsh(G)[-1], rtol=1e-5)
    assert made.statistics["converged"] == 100
    assert made.statistics["probe_found"] > 0
    assert any("random probes found eigenvalues" in note for note in made.notes)

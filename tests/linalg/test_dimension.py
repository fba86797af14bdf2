"""Rules that choose a dimension: planted ranks, dense losses, and permuted columns."""

from __future__ import annotations

import numpy as np
import pytest
from matrices import to_csr, to_dense

from wordgeom.linalg.dimension.permuted import permuted_columns
from wordgeom.linalg.dimension.rules import (
    Spectrum,
    eigengap,
    noise_deviation,
    parallel_analysis,
    pip_loss,
    pip_losses,
    signals,
)


def planted(n=400, rank=8, seed=0):
    """A symmetric matrix with noise of deviation 1, its signals and its signal vectors."""
    draw = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(draw.standard_normal((n, rank)))
    signal = np.linspace(8, 1.2, rank) * np.sqrt(n)
    noise = draw.standard_normal((n, n))
    return (Q * signal) @ Q.T + (noise + noise.T) / np.sqrt(2), signal, Q


def planted_rectangle(n, m, rank=8, seed=0):
    """A matrix with noise of deviation 1, its signals, and the vectors of its columns."""
    draw = np.random.default_rng(seed)
    A, B = (np.linalg.qr(draw.standard_normal((side, rank)))[0] for side in (n, m))
    signal = np.linspace(6, 1.1, rank) * np.sqrt(max(n, m))
    return (A * signal) @ B.T + draw.standard_normal((n, m)), signal, B


def spectrum_of(X, *, symmetric, most=100):
    """The spectrum of a dense matrix."""
    values = np.linalg.eigvalsh(X)[::-1] if symmetric else np.linalg.svd(X, compute_uv=False)
    return Spectrum(values[:most], float(np.sum(X**2)), X.shape, symmetric, np.zeros(most))


def dense_losses(E, vectors, values, power, most):
    """The squared PIP loss of 0, 1, … columns, by dense algebra."""
    made = [(vectors[:, :k] * values[:k] ** (2 * power)) @ vectors[:, :k].T for k in range(most)]
    return np.array([np.sum((E - one) ** 2) for one in made])


@pytest.mark.parametrize("power", [0.25, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_the_expected_pip_loss_is_that_of_dense_algebra(power, seed):
    G, signal, Q = planted(seed=seed)
    values, vectors = (each[..., ::-1] for each in np.linalg.eigh(G))
    truth = dense_losses((Q * signal ** (2 * power)) @ Q.T, vectors, values, power, 14)
    if power == 0.5:  # below, signals under the noise weigh more
        found = pip_losses(spectrum_of(G, symmetric=True), power)[:14]
        np.testing.assert_allclose(found, truth, rtol=0.15)
    assert truth[pip_loss(spectrum_of(G, symmetric=True), power)] <= 1.02 * truth.min()


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("shape", [(600, 300), (300, 600)])
def test_the_expected_pip_loss_of_singular_vectors_too(power, shape):
    X, signal, B = planted_rectangle(*shape)
    _, values, Vt = np.linalg.svd(X)
    truth = dense_losses((B * signal ** (2 * power)) @ B.T, Vt.T, values, power, 14)
    spectrum = spectrum_of(X, symmetric=False)
    np.testing.assert_allclose(pip_losses(spectrum, power)[:9], truth[:9], rtol=0.3)
    assert truth[pip_loss(spectrum, power)] <= 1.05 * truth.min()


def test_the_noise_and_the_signals_are_those_planted():
    G, signal, Q = planted(n=600)
    spectrum = spectrum_of(G, symmetric=True)
    assert noise_deviation(spectrum) == pytest.approx(1, rel=0.02)
    found, cosine = signals(spectrum)
    np.testing.assert_allclose(found[:6], signal[:6], rtol=0.05)
    vectors = np.linalg.eigh(G)[1][:, ::-1]
    true = np.einsum("ij,ij->j", Q[:, :6], vectors[:, :6]) ** 2
    np.testing.assert_allclose(cosine[:6], true, atol=0.03)
    assert not found[8:].any()


def test_the_threshold_of_a_power_of_one_half_is_that_of_gavish_and_donoho():
    n = 10_000
    edge = 4 / np.sqrt(3) * np.sqrt(n)
    values = np.array([edge * 1.001, edge * 0.999])
    square = float(np.sum(values**2)) + float((n - 2) ** 2)
    assert pip_loss(Spectrum(values, square, (n, n), True, np.zeros(2)), 0.5) == 1


def test_a_matrix_without_noise_keeps_its_rank_by_every_rule():
    draw = np.random.default_rng(1)
    Q, _ = np.linalg.qr(draw.standard_normal((200, 5)))
    G = 3 * Q @ Q.T
    spectrum = spectrum_of(G, symmetric=True)
    assert (pip_loss(spectrum, 0.5), eigengap(spectrum)) == (5, 5)


def test_noise_alone_has_no_dimension():
    draw = np.random.default_rng(2)
    noise = draw.standard_normal((400, 400))
    spectrum = spectrum_of((noise + noise.T) / np.sqrt(2), symmetric=True)
    assert pip_loss(spectrum, 0.5) <= 1  # the largest value may exceed the edge a little


def test_eigengap_is_the_largest_difference_of_positive_values():
    spectrum = Spectrum(np.array([9.0, 8, 7, 3, 2, -90]), 1.0, (9, 9), True, np.zeros(6))
    assert eigengap(spectrum) == 3
    assert eigengap(Spectrum(np.array([2.0]), 4.0, (1, 1), True, np.zeros(1))) == 1


def test_parallel_analysis_counts_leading_values_only():
    values, null = np.array([9.0, 8, 3, 2.9]), np.array([5.0, 5, 4, 2])
    assert parallel_analysis(Spectrum(values, 1.0, (9, 9), True, null)) == 2
    assert parallel_analysis(Spectrum(values, 1.0, (9, 9), True, null + 9)) == 1
    assert parallel_analysis(Spectrum(values, 1.0, (9, 9), True, 0 * null)) == 4


def test_permuted_columns_keep_their_entries_and_lose_their_rows():
    draw = np.random.default_rng(3)
    full = draw.integers(0, 3, (300, 40)).astype(np.float32) * draw.random((300, 40), np.float32)
    full[:, 7] = 0
    made = permuted_columns(to_csr(full), np.random.default_rng(1))
    dense = to_dense(made)
    np.testing.assert_array_equal(np.sort(dense, axis=0), np.sort(full, axis=0))
    assert (np.diff(made.indices)[np.diff(made.entry_rows) == 0] > 0).all()
    moved = [np.mean(dense[:, k] != full[:, k]) for k in range(40) if k != 7]
    assert min(moved) > 0.5
    again = permuted_columns(to_csr(full), np.random.default_rng(1))
    np.testing.assert_array_equal(to_dense(again), dense)

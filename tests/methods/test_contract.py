"""The contract of methods, tested on every method that is found."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from matrices import random_counts, store_documents, store_matrix

from wordgeom import methods
from wordgeom.core.errors import OptionError, RankError
from wordgeom.core.options import Options, specs
from wordgeom.evaluation.pairs import Pair
from wordgeom.linalg.device import get_ops
from wordgeom.matrices.document_term import Stored, StoredDocuments, open_stored
from wordgeom.matrices.times import Times
from wordgeom.methods.contract import Status
from wordgeom.methods.inputs.documents import OpenDocuments
from wordgeom.methods.inputs.kind import OpenInput
from wordgeom.methods.inputs.matrix import OpenMatrix
from wordgeom.methods.inputs.vectors import OpenVectors
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool
from wordgeom.vectors.keyed import read_vectors, write_vectors
from wordgeom.weighting.options import DocumentOptions, PmiOptions

V, K, n = 90, 6, 120  # words, dimensions, documents
TIMES = Times(
    np.repeat(np.arange(1950.0, 1970.0), n // 20),
    np.empty(0, np.int64),
    np.empty(0, np.int64),
    None,
)
PAIRS = [Pair(f"w{k}", f"w{k + 7}", score) for k, score in enumerate((3.0, 1.5, 8.0, 8.0, 0.2))]


def needs_torch(name: str) -> bool:
    return "torch" in getattr(methods.load(name), "PACKAGES", ())


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.torch) if needs_torch(name) else name
        for name in methods.names()
    ]
)
def method(request):
    return methods.load(request.param)


@dataclass
class Points:
    """A directory with vectors, in place of a store."""

    path: Path

    def open(self) -> OpenVectors:
        file = self.path / "vectors.bin"
        return OpenVectors(file, read_vectors(file), "vectors")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> dict[str, Stored | Points]:
    folder, rng = tmp_path_factory.mktemp("contract"), np.random.default_rng(20)
    documents = rng.poisson(3.0 * rng.gamma(0.3, 1.0, (n, V)))
    matrix = store_matrix(folder / "cooc", random_counts(rng, V))
    return {
        "matrix": matrix,
        "any-matrix": matrix,
        "items": matrix,
        "documents": store_documents(folder / "dtm", documents),
        "vectors": store_points(folder / "points", rng),
    }


def store_points(folder: Path, rng) -> Points:
    """Write vectors in directions near a curve, so that each has similar others."""
    angles = np.linspace(0.0, 2.0 * np.pi, V, endpoint=False)
    waves = np.column_stack([f(k * angles) for k in range(1, 6) for f in (np.cos, np.sin)])
    folder.mkdir()
    vectors = (waves + 0.01 * rng.standard_normal(waves.shape)).astype(np.float32)
    write_vectors(folder / "vectors.bin", [f"w{k}" for k in range(V)], vectors)
    return Points(folder)


@pytest.fixture
def counts(method, made) -> Stored | Points:
    """The input store of a method."""
    return made[method.NEEDS[0]]


def fit(method, stored, *, threads=1, device="cpu", weighting=None, **values):
    with Pool(threads) as pool:
        context = Context(pool, partial(get_ops, device, pool), 1 << 30)
        weighted = weigh(stored, weighting).read(context)
        given = {"matrix": weighted, "documents": weighted, "any-matrix": weighted}
        given |= {"items": weighted, "vectors": weighted}
        given |= {"times": TIMES, "pairs": PAIRS}
        inputs = {need: given[need] for need in method.NEEDS if need in given}
        return method.fit(inputs, method.Options(**{"dim": K} | values), context)


def weigh(stored, weighting) -> OpenInput:
    """The first input of a method, open."""
    if isinstance(stored, Points):
        return stored.open()
    if isinstance(stored, StoredDocuments):
        return OpenDocuments(stored, weighting or DocumentOptions())
    return OpenMatrix(stored, weighting or PmiOptions())


def of_rank_two(method, folder: Path) -> tuple[Stored, Options]:
    """Return a store for a method, and the weighting that gives its matrix rank 2."""
    rng = np.random.default_rng(21)
    if "documents" in method.NEEDS:
        full = rng.poisson(2.0, (n, 2)) @ rng.poisson(2.0, (2, V))
        return store_documents(folder / "dtm", full), DocumentOptions(weight="raw")
    points = rng.standard_normal((V, 2)).astype(np.float32)
    G = (points @ points.T).astype(np.float32)
    return store_matrix(folder / "pmi", G, kind="pmi"), PmiOptions()


def content(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}


def test_there_are_methods():
    assert "gbu" in methods.names()


def test_an_unknown_method_suggests_the_nearest_name():
    with pytest.raises(OptionError, match="did you mean gbu"):
        methods.load("gub")


def test_a_module_that_is_not_a_method_is_rejected(monkeypatch):
    monkeypatch.delattr(methods.load("gbu"), "NEEDS")
    with pytest.raises(TypeError, match="NEEDS"):
        methods.load("gbu")


@pytest.mark.parametrize("name", methods.names())
def test_every_method_has_a_summary_of_one_line(name):
    assert 10 < len(methods.summary(name)) <= 100


def test_every_option_is_declared(method):
    assert issubclass(method.Options, Options)
    assert [f.name for f in fields(method.Options)] == [f.name for f, _ in specs(method.Options)]


def test_vectors_are_finite_float32_rows_of_words(method, counts):
    vectors = fit(method, counts).vectors
    assert (vectors.shape, vectors.dtype) == ((V, K), np.float32)
    assert vectors.flags.c_contiguous
    assert np.isfinite(vectors).all()
    assert vectors.any()


def test_vectors_of_documents_are_finite_float32_rows_of_them(method, counts):
    vectors = fit(method, counts).arrays.get("documents")
    assert (vectors is None) == ("documents" not in method.NEEDS)
    if vectors is not None:
        assert (vectors.shape, vectors.dtype) == ((n, K), np.float32)
        assert vectors.flags.c_contiguous
        assert np.isfinite(vectors).all()
        assert vectors.any()


def test_the_same_seed_gives_the_same_bytes_at_any_number_of_threads(method, counts):
    results = [fit(method, counts, threads=threads) for threads in (1, 1, 2, 3)]
    assert len({result.vectors.tobytes() for result in results}) == 1
    every = [{name: made.tobytes() for name, made in result.arrays.items()} for result in results]
    assert all(arrays == every[0] for arrays in every)
    assert all(result.statistics == results[0].statistics for result in results)


def test_inputs_do_not_change(method, counts):
    before = content(counts.path)
    fit(method, counts)
    assert content(counts.path) == before
    if isinstance(counts, Points):
        return
    assert open_stored(counts.path).store.digest == counts.store.digest


@pytest.mark.torch
def test_torch_agrees_with_numpy(method, counts):
    limits = {"steps": 5, "updates": 2}  # more would magnify rounding
    few = {name: limit for name, limit in limits.items() if hasattr(method.Options, name)}
    ours, theirs = (fit(method, counts, device=d, **few).vectors for d in ("cpu", "torch-cpu"))
    # Inner products, which do not depend on the basis of eigenvalues that lie close together.
    wanted = ours @ ours.T
    assert np.abs(theirs @ theirs.T - wanted).max() < 1e-4 * np.abs(wanted).max()


def test_bad_options_are_rejected(method):
    for field, spec in specs(method.Options):
        bad = []
        if spec.low is not None:
            bad += [spec.low - 1, float("nan"), "many"]
        if spec.high is not None:
            bad += [spec.high + 1]
        if spec.choices:
            bad += ["no such choice"]
        for value in bad:
            with pytest.raises(OptionError) as caught:
                method.Options(**{field.name: value})
            assert field.name.replace("_", "-") in str(caught.value)
            assert "\n" not in str(caught.value)


def test_more_dimensions_than_words_are_explained_in_a_line(method, counts):
    with pytest.raises(RankError) as caught:
        fit(method, counts, dim=V + 1)
    assert str(V) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_more_dimensions_than_the_rank_are_zero_and_reported(method, tmp_path):
    if "items" in method.NEEDS or "vectors" in method.NEEDS:
        pytest.skip("vectors that keep distances use all dimensions, whatever the rank")
    stored, weighting = of_rank_two(method, tmp_path)
    result = fit(method, stored, weighting=weighting)
    assert result.statistics["effective_rank"] == 2
    assert not result.vectors[:, 2:].any()
    assert any(f"2 of {K}" in note and "\n" not in note for note in result.notes)
    assert result.status is not Status.CONVERGED

"""LSA against dense decompositions, its notes, and the files that it writes."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from corpora import assert_one_line
from matrices import store_documents, store_matrix, to_dense
from running import convert, train
from sklearn.decomposition import TruncatedSVD

import wordgeom as wg
from wordgeom.cli import main
from wordgeom.core.errors import FormatError, InputError, OptionError, OutputExistsError, RankError
from wordgeom.linalg import eigensolver
from wordgeom.linalg.device import get_ops
from wordgeom.linalg.eigensolver import EigenSettings
from wordgeom.linalg.krylov import Krylov
from wordgeom.linalg.signs import fix_signs
from wordgeom.linalg.svd import svd_bytes
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.methods import lsa
from wordgeom.methods.contract import Status
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.artefacts.document_vectors import document_names
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import read_vectors
from wordgeom.weighting.documents import WeightedDocuments
from wordgeom.weighting.options import DocumentOptions

RUN = RunOptions(threads=1)


def fit(stored, *, weight="log", memory=1 << 30, **values):
    with Pool(2) as pool:
        documents = WeightedDocuments(stored, DocumentOptions(weight=weight), pool)
        run = Context(pool, partial(get_ops, "cpu", pool), memory)
        return lsa.fit({"documents": documents}, lsa.Options(**values), run)


def matrix(stored, weight="log"):
    with Pool(1) as pool:
        found = WeightedDocuments(stored, DocumentOptions(weight=weight), pool).full()
        return to_dense(found).astype(np.float64)


def some_counts(n, V, seed=60):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(6, 0.2), n) @ rng.dirichlet(np.full(V, 0.1), 6)
    full = rng.poisson(40.0 * topics * rng.gamma(1.0, 1.0, (n, 1)))
    full[:, 0] += 1  # a word of every document
    full[0, full.sum(0) == 0] = 1
    return full


@pytest.fixture(scope="module", params=[(70, 40), (40, 70)], ids=["tall", "wide"])
def stored(request, tmp_path_factory) -> StoredDocuments:
    return store_documents(tmp_path_factory.mktemp("lsa") / "dtm", some_counts(*request.param))


@pytest.fixture
def dtm(tmp_path) -> StoredDocuments:
    return store_documents(tmp_path / "dtm", some_counts(30, 20))


@pytest.mark.parametrize("weight", ["log", "rows", "tf-idf"])
@pytest.mark.parametrize("eig", [0.0, 0.5, 1.0])
def test_words_and_documents_are_the_dense_decomposition(stored, weight, eig):
    X, K = matrix(stored, weight), 5
    U, values, Vt = np.linalg.svd(X, full_matrices=False)
    V = fix_signs(Vt[:K].T)
    U = U[:, :K] * np.sign(np.sum(V * Vt[:K].T, axis=0))
    made = fit(stored, weight=weight, dim=K, eig=eig)
    atol = 1e-5 * values[0]
    np.testing.assert_allclose(made.vectors, V * values[:K] ** eig, atol=atol)
    np.testing.assert_allclose(made.arrays["documents"], U * values[:K] ** (1 - eig), atol=atol)
    np.testing.assert_allclose(made.statistics["spectrum"], values[:K], rtol=1e-6)
    shares = np.cumsum(values[:K] ** 2) / np.sum(values**2)
    np.testing.assert_allclose(made.statistics["captured"], shares, rtol=1e-6)
    assert f"{shares[-1]:.2%} of the squared norm" in made.notes[0]


def test_inner_products_of_both_sides_are_the_nearest_matrix_at_any_power(stored):
    X = matrix(stored)
    lost = np.sum(np.linalg.svd(X, compute_uv=False)[4:] ** 2)
    for eig in (0.0, 0.3, 1.0):
        made = fit(stored, dim=4, eig=eig)
        nearest = made.arrays["documents"].astype(np.float64) @ made.vectors.T
        np.testing.assert_allclose(np.sum((X - nearest) ** 2), lost, rtol=1e-5)


@pytest.mark.parametrize("tol", [0.1, 1e-2, 1e-3])
def test_lsa_captures_at_least_as_much_as_scikit_learn(tmp_path, monkeypatch, tol):
    monkeypatch.setattr(eigensolver, "_DENSE", 0)
    stored = store_documents(tmp_path / "dtm", some_counts(500, 400))
    X = matrix(stored)
    made = fit(stored, dim=20, tol=tol)
    baseline = TruncatedSVD(20, random_state=1).fit(X)
    V = made.vectors.astype(np.float64)
    np.testing.assert_allclose(V.T @ V, np.eye(20), atol=1e-4)
    captured, theirs = (np.sum((X @ basis) ** 2) for basis in (V, baseline.components_.T))
    assert captured >= theirs * (1 - 1e-6)
    np.testing.assert_allclose(made.statistics["captured"][-1], captured / np.sum(X**2), rtol=1e-5)
    assert made.statistics["converged"] == 20
    ratios = np.divide(made.statistics["residuals"], made.statistics["spectrum"])
    assert ratios.max() <= tol
    assert f"{ratios.max():.1e} σ" in made.notes[0]


def test_triplets_that_miss_the_tolerance_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(eigensolver, "_DENSE", 0)
    rng = np.random.default_rng(61)
    stored = store_documents(tmp_path / "dtm", rng.poisson(1.0, (500, 400)))
    made = fit(stored, dim=20, tol=1e-3, restarts=0)
    missed = 20 - made.statistics["converged"]
    assert missed > 0
    assert made.notes[1:] == [
        f"{missed} of 20 singular triplets miss --tol; raise --restarts or --basis"
    ]
    assert made.status is Status.REACHED_BUDGET


def test_float64_finds_dimensions_that_float32_cannot_resolve(tmp_path, monkeypatch):
    monkeypatch.setattr(eigensolver, "_DENSE", 0)
    full = np.zeros((600, 500), np.int64)
    full[:300, :50], full[300:400, 50:100] = 10**6, 10**4
    full[400, 100:200] = 10**3  # σ₃ = 8e-5 σ₁
    stored = store_documents(tmp_path / "dtm", full)
    single = fit(stored, weight="raw", dim=3)
    assert single.statistics["effective_rank"] == 2
    assert single.notes[1].startswith(
        "2 of 3 singular values are above the resolution of float32, 3e-4 of the largest; "
        "1 column is zero; lower --dim, or set --tol below 1e-4 to compute in float64"
    )
    assert single.status is Status.RANK_DEFICIENT
    double = fit(stored, weight="raw", dim=3, tol=1e-5)
    assert double.statistics["effective_rank"] == 3
    assert double.status is Status.CONVERGED


def test_words_and_documents_without_weight_get_zeros_and_are_reported(tmp_path):
    full = some_counts(30, 20)
    full[:, 0] = 1  # log(n / n) = 0
    full[7, 1:] = 0
    made = fit(store_documents(tmp_path / "dtm", full), weight="tf-idf", dim=4)
    assert np.flatnonzero(~made.vectors.any(1)).tolist() == [0]
    assert np.flatnonzero(~made.arrays["documents"].any(1)).tolist() == [7]
    assert made.notes[1:] == [
        "1 word has no weight in the matrix; the vectors are zero",
        "1 document has no weight in the matrix; the vectors are zero",
    ]


def test_a_matrix_without_weight_is_rejected(tmp_path):
    stored = store_documents(tmp_path / "dtm", np.ones((4, 3), np.int64))
    with pytest.raises(RankError, match="all entries of the matrix are 0") as caught:
        fit(stored, weight="tf-idf", dim=2)
    assert_one_line(caught, "--weight")


def test_more_dimensions_than_documents_are_rejected(tmp_path):
    stored = store_documents(tmp_path / "dtm", some_counts(5, 30))
    with pytest.raises(RankError, match="--dim 6 exceeds the number of documents") as caught:
        fit(stored, dim=6)
    assert_one_line(caught, "5 × 30")


def test_too_little_memory_is_rejected_before_the_matrix_is_read(dtm, monkeypatch):
    n, V = dtm.shape
    needed = 8 * dtm.stored + 8 * n + svd_bytes(n, V, dtm.stored, EigenSettings(5, 1e-2))
    monkeypatch.setattr(StoredDocuments, "rows", None)  # would fail
    with pytest.raises(
        InputError, match=r"need [\d.]+ [KM]B, more than the memory limit of [\d.]+ [KM]B; raise"
    ):
        fit(dtm, dim=5, memory=needed - 1)
    with pytest.raises(TypeError, match="not callable"):
        fit(dtm, dim=5, memory=needed)


def test_the_first_columns_of_a_file_are_a_smaller_solution(dtm, tmp_path):
    out, small = tmp_path / "v.bin", tmp_path / "small.bin"
    train(dtm.path, "lsa", {"dim": 6}, RUN, out=out)
    convert(out, small, dim=3)
    alone = train(dtm.path, "lsa", {"dim": 3}, RUN, out=None)
    assert alone.vectors is not None
    np.testing.assert_allclose(read_vectors(small).matrix, alone.vectors.matrix, atol=1e-5)
    card = run_card.read_card(small)
    assert card is not None
    np.testing.assert_allclose(card["statistics"]["captured"], alone.statistics["captured"])


# ── The files ────────────────────────────────────────────────────────────────────────────────


def test_document_vectors_are_written_with_word_vectors(dtm, tmp_path):
    out, documents = tmp_path / "v.bin", tmp_path / "docs.txt"
    model = wg.train(dtm.path, "lsa", dim=4, out=out, documents=documents, threads=1)
    read = read_vectors(documents)
    assert read.words == [f"file-0.txt:{row + 1}" for row in range(30)]
    assert model.documents is not None
    np.testing.assert_array_equal(read.matrix, model.documents)
    assert model.notes[-1].startswith("30 documents have no id and are named by file and line")
    again = wg.train(dtm.path, "lsa", dim=4, out=out, documents=documents, threads=1)
    assert again.documents is not None
    np.testing.assert_array_equal(again.documents, model.documents)
    documents.write_text("1 4\nother 1 2 3 4\n")
    with pytest.raises(
        OutputExistsError, match=r"docs\.txt, which was written with it, is missing or has changed"
    ):
        wg.train(dtm.path, "lsa", dim=4, out=out, documents=documents)
    with pytest.raises(OutputExistsError, match=r"documents=docs\.txt, not without"):
        wg.train(dtm.path, "lsa", dim=4, out=out)
    with pytest.raises(OutputExistsError, match="exists and has different content") as caught:
        wg.train(dtm.path, "lsa", dim=4, out=tmp_path / "w.bin", documents=documents)
    assert_one_line(caught, "docs.txt", "force=True")
    assert not (tmp_path / "w.bin").exists()
    wg.train(dtm.path, "lsa", dim=4, out=out, documents=documents, force=True)
    assert len(read_vectors(documents).words) == 30


def test_without_files_documents_are_in_the_model(dtm):
    model = wg.train(dtm.path, "lsa", dim=4)
    assert model.documents is not None
    assert model.documents.shape == (30, 4)


@pytest.mark.parametrize(
    ("out", "documents", "what"),
    [
        (None, "d.bin", "written beside those of words"),
        ("v.bin", "v.bin", "documents= and out= name the same file"),
        ("v.bin", "v.bin.json", "of a vectors file"),
        ("v.bin", "d.csv", "of a vectors file"),
    ],
)
def test_an_invalid_document_vectors_file_is_rejected(dtm, tmp_path, out, documents, what):
    words = None if out is None else tmp_path / out
    with pytest.raises(OptionError, match=what) as caught:
        wg.train(dtm.path, "lsa", dim=4, out=words, documents=tmp_path / documents)
    assert_one_line(caught)


def named(tmp_path, documents, files=1):
    full = some_counts(len(documents), 5)
    return store_documents(tmp_path / "named", full, documents, files)


def test_document_names_are_unique_ids(tmp_path):
    ids = ["a", "b", "a", "a#2", "a", "", "", "a#2"]
    found = document_names(named(tmp_path, [(1, k + 1, i, "") for k, i in enumerate(ids)]), None)
    there = ["a", "b", "a#3", "a#2", "a#4", "file-0.txt:6", "file-0.txt:7", "a#2#2"]
    assert found.names == there
    assert found.notes == [
        "2 documents have no id and are named by file and line, such as file-0.txt:6",
        "3 repeated document names got a numbered suffix, such as a#3",
    ]


def test_white_space_in_ids_is_rejected_or_replaced(tmp_path):
    stored = named(tmp_path, [(1, 1, "x_y", ""), (1, 2, "x y", ""), (1, 3, "z", "")])
    with pytest.raises(
        InputError, match="the name of document 2, 'x y', contains white space"
    ) as caught:
        document_names(stored, None)
    assert_one_line(caught, "--space _")
    assert document_names(stored, "_").names == ["x_y", "x_y#2", "z"]


def test_files_with_the_same_name_use_their_paths(tmp_path, monkeypatch):
    stored = named(tmp_path, [(1, 4, "", ""), (2, 4, "", "")], files=2)
    assert document_names(stored, None).names == ["file-0.txt:4", "file-1.txt:4"]
    monkeypatch.setattr(StoredDocuments, "names", lambda _: ["a/x", "b/x"])
    assert document_names(stored, None).names == ["a/x:4", "b/x:4"]


def test_documents_of_an_unknown_file_are_rejected(tmp_path):
    with pytest.raises(FormatError, match="its documents name file 3 of 1"):
        document_names(named(tmp_path, [(1, 1, "", ""), (3, 1, "", "")]), None)


# ── The command ──────────────────────────────────────────────────────────────────────────────


def rejected(capsys, *arguments: str) -> str:
    assert main(["train", *arguments]) in (1, 2)
    (line,) = capsys.readouterr().err.splitlines()
    return str(line)


def test_a_wrong_directory_or_option_is_a_one_line_error(dtm, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    store_matrix(Path("cooc"), np.ones((4, 4), np.int64))
    assert rejected(capsys, "cooc", "--method", "lsa") == (
        "wordgeom: error: cooc: is a co-occurrence matrix; the method needs a document-term "
        "matrix; run wordgeom build-dtm"
    )
    line = rejected(capsys, "dtm", "--method", "gbu")
    assert (
        "dtm: is a document-term matrix; the method needs a co-occurrence matrix or a PMI matrix"
        in line
    )
    for owners, given in (
        ({"gbu", "pmi-eigs"}, ("dtm", "--method", "lsa", "--neg", "2")),
        ({"dlsa", "lsa"}, ("cooc", "--method", "gbu", "--weight", "log")),
        ({"lsa"}, ("cooc", "--method", "gbu", "--documents", "d.bin")),
    ):
        line = rejected(capsys, *given)
        named = line.partition(f"{given[3]} is an option of ")[2].partition(", found")[0]
        assert owners <= set(re.split(", | and ", named))
    with pytest.raises(OptionError, match="gbu makes no document vectors"):
        wg.train("cooc", "gbu", out="v.bin", documents="d.bin")


def test_the_directory_is_dtm_where_none_is_named(dtm, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "--method", "lsa", "--dim", "3", "--weight", "sqrt"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("vectors.bin: 20 × 3 by lsa")
    assert "of the squared norm of the matrix" in told.err
    X = matrix(dtm, "sqrt")
    V = np.linalg.svd(X, full_matrices=False)[2][:3].T
    np.testing.assert_allclose(read_vectors("vectors.bin").matrix, fix_signs(V), atol=1e-5)


def test_methods_of_documents_are_compared_on_their_directory(dtm, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("pairs.txt").write_text("w1 w2 3\nw3 w4 2\nw5 w6 1\nw7 w8 4\n")
    asked = ["compare", "dtm", "--dim", "3", "--weight", "sqrt", "--set", "pairs.txt"]
    assert main([*asked, "--keep", "kept"]) == 0
    assert "lsa" in capsys.readouterr().out
    card = run_card.read_card(Path("kept/lsa.bin"))
    assert card is not None
    assert card["request"]["options"]["weight"] == "sqrt"
    assert main(["compare", "dtm", "--neg", "2", "--set", "pairs.txt"]) == 2
    assert "--neg is not an option of lsa" in capsys.readouterr().err
    assert main(["compare", "dtm", "--methods", "gbu", "--set", "pairs.txt"]) == 1
    assert "the method needs a co-occurrence matrix or a PMI matrix" in capsys.readouterr().err
    assert main(["compare", "dtm", "--methods", "dlsa", "--set", "pairs.txt"]) == 2
    assert "dlsa makes no vectors" in capsys.readouterr().err


def test_a_run_resumes_from_its_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr(eigensolver, "_DENSE", 0)
    stored = store_documents(tmp_path / "dtm", np.random.default_rng(62).poisson(0.5, (400, 380)))
    values = {"dim": 8, "tol": 1e-3, "checkpoint": 0.0}
    whole = train(stored.path, "lsa", values, RUN, out=tmp_path / "whole.bin")
    restart = Krylov.restart
    monkeypatch.setattr(Krylov, "restart", _interrupted_at_second(restart))
    with pytest.raises(KeyboardInterrupt):
        train(stored.path, "lsa", values, RUN, out=tmp_path / "v.bin")
    monkeypatch.setattr(Krylov, "restart", restart)
    values["resume"] = True
    again = train(stored.path, "lsa", values, RUN, out=tmp_path / "v.bin")
    assert again.statistics == whole.statistics
    assert (tmp_path / "v.bin").read_bytes() == (tmp_path / "whole.bin").read_bytes()


def _interrupted_at_second(restart):
    calls = []

    def run(krylov, kept):
        calls.append(kept)
        if len(calls) == 2:
            raise KeyboardInterrupt
        restart(krylov, kept)

    return run

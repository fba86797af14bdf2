"""Parts of stored inputs: some words with all their pairs, some documents, some vectors."""

from __future__ import annotations

import numpy as np
import pytest
from matrices import random_counts, store_documents, store_matrix

import wordgeom as wg
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.methods.dlsa.model import DynamicModel
from wordgeom.planning.model_parts import take_model
from wordgeom.planning.parts import can_be_cut, take_parts
from wordgeom.planning.sample import SIZES
from wordgeom.storage.store import StoreWriter
from wordgeom.vectors.keyed import read_vectors, write_vectors


@pytest.fixture
def folders(tmp_path):
    made = [tmp_path / str(part) for part in SIZES]
    for one in made:
        one.mkdir()
    return made


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_part_of_a_matrix_has_all_pairs_of_its_words(tmp_path, folders, symmetric):
    full = random_counts(np.random.default_rng(1), 300, symmetric=symmetric)
    store_matrix(tmp_path / "cooc", full, symmetric=symmetric)
    parts = take_parts(tmp_path / "cooc", folders, "part")
    assert parts.size == np.count_nonzero(np.triu(full) if symmetric else full)
    assert list(parts.sizes) == sorted(parts.sizes)
    for path, size in zip(parts.paths, parts.sizes, strict=True):
        part = StoredMatrix.open(path)
        chosen = [int(word.removeprefix("w")) for word in part.vocabulary.words]
        assert chosen[0] == 0
        np.testing.assert_array_equal(part.to_scipy().toarray(), full[np.ix_(chosen, chosen)])
        np.testing.assert_array_equal(part.sums("row"), full.sum(1)[chosen])
        np.testing.assert_array_equal(part.sums("column"), full.sum(0)[chosen])
        assert size == part.stored
    assert parts.sizes[-1] == pytest.approx(parts.size / 3, rel=0.2)


def test_a_part_of_documents_has_their_rows_and_sums(tmp_path, folders):
    full = random_counts(np.random.default_rng(2), 400, symmetric=False)[:, :30]
    store_documents(tmp_path / "dtm", full, [(1, k + 1, f"d{k}", "") for k in range(400)])
    parts = take_parts(tmp_path / "dtm", folders, "part")
    for path in parts.paths:
        part = StoredDocuments.open(path)
        chosen = [int(document.id.removeprefix("d")) for document in part.documents()]
        np.testing.assert_array_equal(part.to_scipy().toarray(), full[chosen])
        np.testing.assert_array_equal(part.column_sums, full[chosen].sum(0))
        np.testing.assert_array_equal(part.document_frequencies, (full[chosen] > 0).sum(0))


def test_a_part_of_vectors_has_some_rows_unchanged(tmp_path, folders):
    words = [f"w{k}" for k in range(200)]
    matrix = np.random.default_rng(3).standard_normal((200, 4)).astype(np.float32)
    write_vectors(tmp_path / "v.bin", words, matrix)
    parts = take_parts(tmp_path / "v.bin", folders, "part")
    assert (parts.size, parts.sizes[-1]) == (200.0, 67.0)
    for path in parts.paths:
        part = read_vectors(path)
        rows = [words.index(word) for word in part.words]
        np.testing.assert_array_equal(part.matrix, matrix[rows])


def test_a_part_of_a_model_has_some_words_in_all_documents(tmp_path, folders):
    rng = np.random.default_rng(6)
    full = rng.poisson(0.4, (60, 40)) + np.eye(60, 40, dtype=np.int64)
    store_documents(tmp_path / "dtm", full, [(1, k + 1, "", str(k % 9)) for k in range(60)])
    wg.train(tmp_path / "dtm", "dlsa", out=tmp_path / "model", dim=2)
    whole = DynamicModel.open(tmp_path / "model")
    parts = take_model(tmp_path / "model", folders, "part")
    assert (parts.size, parts.sizes[-1]) == (40.0, 13.0)
    for path, size in zip(parts.paths, parts.sizes, strict=True):
        part = DynamicModel.open(path)
        chosen = [whole.words.index(word) for word in part.words]
        assert len(chosen) == size
        np.testing.assert_array_equal(part.words_at(4.0).shape, (len(chosen), 2))
        np.testing.assert_array_equal(part.coefficients, whole.coefficients[:, :, chosen])
        np.testing.assert_array_equal(part.open_documents().to_scipy().toarray(), full[:, chosen])
        sums = part.open_documents().column_sums
        np.testing.assert_array_equal(sums, full[:, chosen].sum(0))


def test_only_matrices_and_files_can_be_cut(tmp_path):
    with StoreWriter(tmp_path / "model", "ssmds") as writer:
        writer.commit({}, {})
    store_matrix(tmp_path / "cooc", np.eye(3, dtype=np.int64))
    assert not can_be_cut(tmp_path / "model")
    assert not can_be_cut(tmp_path / "absent")
    assert can_be_cut(tmp_path / "cooc")

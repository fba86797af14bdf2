"""Document weights against the formulas, on the pattern of the counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from corpora import build_documents, put
from matrices import to_dense
from sklearn.feature_extraction.text import TfidfTransformer

from wordgeom.core import row_blocks
from wordgeom.core.errors import OptionError
from wordgeom.core.types import Array
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.runtime.pool import Pool
from wordgeom.weighting.documents import WeightedDocuments
from wordgeom.weighting.options import DocumentOptions

WEIGHTS = ("raw", "rows", "log", "sqrt", "tf-idf", "ppmi")


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> StoredDocuments:
    """Documents of very unlike lengths; one word is in all of them but those that are empty."""
    rng = np.random.default_rng(5)
    lengths = [1, 2, 500, *rng.integers(1, 80, 60).tolist()]
    lines = [" ".join(["all", *(f"w{k}" for k in rng.zipf(1.4, n) % 90)]) for n in lengths]
    folder = tmp_path_factory.mktemp("weighting")
    path = put(folder, "\n".join(["rare", *lines, "rarer"]))[0]
    made = build_documents(path, folder / "dtm", min_count=2)
    return StoredDocuments.open(made.store.path)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(2) as opened:
        yield opened


def weighted(counts: StoredDocuments, weight: str, pool: Pool) -> Array:
    made = WeightedDocuments(counts, DocumentOptions(weight=weight), pool).full()
    assert made.data.dtype == np.float32
    assert np.array_equal(made.indptr, counts.indptr)
    assert np.array_equal(made.indices, counts.full().indices)
    return to_dense(made)


def by_definition(x: Array, weight: str) -> Array:
    """The weights of a dense matrix, entry by entry."""
    n, S = len(x), x.sum()
    rows, columns = x.sum(1, keepdims=True), x.sum(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        made = {
            "raw": x,
            "rows": x / rows,
            "log": np.log(1 + x),
            "sqrt": x**0.5,
            "tf-idf": x * np.log(n / (x > 0).sum(0)),
            "ppmi": np.maximum(np.log(x * S / (rows * columns)), 0),
        }[weight]
    return np.where(x > 0, made, 0.0)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_weights_are_those_of_the_formula(counts: StoredDocuments, weight: str, pool: Pool):
    x = counts.to_scipy().toarray().astype(np.float64)
    assert (x.sum(1) == 0).sum() == 2
    found = weighted(counts, weight, pool)
    np.testing.assert_allclose(found, by_definition(x, weight), rtol=3e-7, atol=1e-7)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_blocks_change_no_bit(
    counts: StoredDocuments, weight: str, pool: Pool, monkeypatch: pytest.MonkeyPatch
):
    whole = weighted(counts, weight, pool)
    monkeypatch.setattr(row_blocks, "BLOCK_ENTRIES", 7)
    source = WeightedDocuments(counts, DocumentOptions(weight=weight), pool)
    assert len(counts.row_blocks()) > 20
    assert np.array_equal(to_dense(source.full()), whole)
    assert np.array_equal(to_dense(source.rows(3, 9)), whole[3:9])


def test_rows_sum_to_one(counts: StoredDocuments, pool: Pool):
    sums = weighted(counts, "rows", pool).sum(1)
    empty = np.diff(counts.indptr) == 0
    np.testing.assert_allclose(sums, ~empty, rtol=1e-6)


def test_tf_idf_is_that_of_scikit_learn_less_the_counts(counts: StoredDocuments, pool: Pool):
    x = counts.to_scipy().astype(np.float64)
    theirs = TfidfTransformer(norm=None, smooth_idf=False).fit_transform(x)  # idf is log(n/f) + 1
    ours = weighted(counts, "tf-idf", pool)
    np.testing.assert_allclose(ours, (theirs - x).toarray(), rtol=1e-6, atol=1e-6)


def test_rows_are_those_of_scikit_learn(counts: StoredDocuments, pool: Pool):
    x = counts.to_scipy().astype(np.float64)
    theirs = TfidfTransformer(norm="l1", use_idf=False).fit_transform(x)
    np.testing.assert_allclose(weighted(counts, "rows", pool), theirs.toarray(), rtol=1e-6)


def test_a_word_of_all_documents_keeps_its_entries(tmp_path: Path, pool: Pool):
    path = put(tmp_path, "a b\na c\na a d\n")[0]
    counts = StoredDocuments.open(build_documents(path, tmp_path / "dtm").store.path)
    source = WeightedDocuments(counts, DocumentOptions(weight="tf-idf"), pool)
    whole = source.full()
    assert whole.nnz == source.entries == 6
    assert (whole.data[whole.indices == source.words.index("a")] == 0).all()


def test_another_weight_is_rejected():
    with pytest.raises(OptionError, match="--weight must be raw, rows, log"):
        DocumentOptions(weight="idf")

"""Small matrices in stores, and sparse blocks as dense arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wordgeom.core.types import Array, Csr, Int64
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.matrices.cooccurrence import MatrixWriter, StoredMatrix
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.storage.store import StoreWriter


def random_counts(rng: np.random.Generator, V: int, *, symmetric: bool = True) -> Int64:
    """(V × V) counts with Zipf-like marginals, a third of them 0."""
    scale = 1.0 / np.sqrt(1.0 + np.arange(V))
    counts = rng.poisson(40.0 * np.outer(scale, scale) * rng.gamma(0.5, 2.0, (V, V)))
    return np.asarray(np.triu(counts) + np.triu(counts, 1).T if symmetric else counts, np.int64)


def store_matrix(
    path: Path,
    full: Array,
    *,
    kind: str = "cooc",
    symmetric: bool = True,
    frequencies: Int64 | None = None,
) -> StoredMatrix:
    """Write a dense matrix (V × V), with its sums where it holds counts, and open it."""
    V = len(full)
    counts = np.arange(V, 0, -1) if frequencies is None else frequencies
    words = Vocabulary([f"w{i}" for i in range(V)], np.asarray(counts, np.int64))
    kept = np.triu(full) if symmetric else full
    with StoreWriter(path, kind) as writer:
        if kind == "cooc":
            writer.array("rowsums", np.int64).write(full.sum(1))
            if not symmetric:
                writer.array("columnsums", np.int64).write(full.sum(0))
        rows = MatrixWriter(writer, words, full.dtype)
        there = np.nonzero(kept)
        rows.write(np.count_nonzero(kept, axis=1), there[1].astype(np.int32), kept[there])
        attributes = rows.finish({"triangle": "upper" if symmetric else "", "denominator": 1})
        writer.commit(attributes, {})
    return StoredMatrix.open(path)


def store_documents(
    path: Path, full: Int64, documents: Sequence[tuple[int, int, str, str]] = (), files: int = 1
) -> StoredDocuments:
    """Write counts by document (n × V), a row for each of `documents`: file, line, id, time."""
    n, V = full.shape
    words = Vocabulary([f"w{i}" for i in range(V)], np.asarray(full.sum(0), np.int64))
    told = documents or [(1, row + 1, "", "") for row in range(n)]
    with StoreWriter(path, "dtm") as writer:
        rows = MatrixWriter(writer, words, np.uint32, rows=n)
        there = np.nonzero(full)
        rows.write(
            np.count_nonzero(full, axis=1), there[1].astype(np.int32), full[there].astype(np.uint32)
        )
        writer.text("documents", "".join("\t".join(map(str, d)) + "\n" for d in told).encode())
        writer.array("columnsums", np.int64).write(full.sum(0))
        writer.array("holders", np.int64).write(np.count_nonzero(full, axis=0))
        names = [{"name": f"some/file-{k}.txt", "digest": str(k)} for k in range(files)]
        request = {"command": "build-dtm", "options": {}, "inputs": names}
        writer.commit(rows.finish({}), {"request": request})
    return StoredDocuments.open(path)


def to_csr(full: Array) -> Csr:
    """Return a dense array as a sparse block."""
    indptr = np.concatenate(([0], np.cumsum(np.count_nonzero(full, axis=1))))
    indices = np.nonzero(full)[1].astype(np.int32)
    return Csr(indptr.astype(np.int64), indices, full[full != 0], full.shape[1])


def to_dense(block: Csr) -> Array:
    """Return a sparse block as a dense array; fails where a row's columns do not ascend."""
    full = np.zeros((block.rows, block.columns), block.data.dtype)
    for r in range(block.rows):
        entries = slice(block.indptr[r], block.indptr[r + 1])
        assert np.all(np.diff(block.indices[entries]) > 0)
        full[r, block.indices[entries]] = block.data[entries]
    return full

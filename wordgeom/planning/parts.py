"""Parts of a stored input for pilot runs: words, documents, vectors or entities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.types import Csr, Int64
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.formats.vector_files import read_any_vectors, read_numbered
from wordgeom.imputation.domain import Domain
from wordgeom.matrices.cooccurrence import MatrixWriter, StoredMatrix
from wordgeom.matrices.document_term import (
    DOCUMENT_FREQUENCIES,
    DOCUMENTS,
    SUMS,
    StoredDocuments,
    open_stored,
)
from wordgeom.matrices.kinds import COOC, DTM, PMI
from wordgeom.matrices.stored_rows import StoredRows
from wordgeom.matrices.submatrix import ChosenRows
from wordgeom.methods.dlsa.model import DLSA
from wordgeom.planning.sample import SIZES
from wordgeom.runtime.pool import Pool
from wordgeom.storage import store
from wordgeom.storage.store import Store, StoreWriter
from wordgeom.vectors.keyed import write_vectors

LARGEST = 1 << 23  # entries of the largest part of a matrix, or numbers of vectors
_LARGEST_SHARE = 3  # a part is at most this part of the whole
_SHAPE = ("shape", "stored")  # attributes that a part does not inherit
_KINDS = (COOC, PMI, DTM, DLSA)


@dataclass(frozen=True)
class Parts:
    """Files of the parts, the smallest first, their sizes, and that of the whole.

    A size is a number of entries, or of rows of vectors.
    """

    paths: tuple[Path, ...]
    sizes: tuple[float, ...]
    size: float


def can_be_cut(path: Path) -> bool:
    """Return whether a path is a matrix, a dynamic model or a vectors file."""
    return Store.open(path).kind in _KINDS if store.exists(path) else path.is_file()


def take_parts(path: Path, folders: Sequence[Path], name: str) -> Parts:
    """Write a part of a matrix or of vectors into each directory; raises what opening raises.

    name: of the parts, without a suffix.
    """
    if not store.exists(path):
        return _vectors(path, folders, name)
    matrix = open_stored(path)
    made = []
    for share, folder in zip(shares(matrix.stored), folders, strict=True):
        out = folder / name
        if isinstance(matrix, StoredDocuments):
            chosen = spread(len(matrix), share)
            lines = matrix.store.text(DOCUMENTS).split(b"\n")  # an id may hold other line ends
            kept = b"".join(lines[row] + b"\n" for row in chosen.tolist())
            blocks = _chosen_documents(matrix, chosen)
            write_documents(matrix, matrix.vocabulary, blocks, kept, out)
        else:  # a share of the words has the square of it of the pairs
            _write_words(matrix, spread(len(matrix.vocabulary), share**0.5), out)
        made.append(out)
    sizes = tuple(float(Store.open(one).attributes["stored"]) for one in made)
    return Parts(tuple(made), sizes, float(matrix.stored))


def take_entities(domain: Domain, folders: Sequence[Path], name: str) -> Parts:
    """Write some entities of a domain, as it was read, into each directory."""
    rows, columns = domain.matrix.shape
    made, sizes = [], []
    for share, folder in zip(shares(rows * columns), folders, strict=True):
        chosen = spread(rows, share)
        made.append(folder / f"{name}.npz")
        names = np.array([domain.names[row] for row in chosen.tolist()])
        np.savez(made[-1], matrix=domain.matrix[chosen], names=names)
        sizes.append(float(len(chosen)))
    return Parts(tuple(made), tuple(sizes), float(rows))


def shares(size: int, largest: int = LARGEST) -> list[float]:
    """Return the shares of the whole that the parts have; largest: the size of the last."""
    last = min(largest / max(1, size), 1 / _LARGEST_SHARE)
    return [last / part for part in SIZES]


def spread(number: int, share: float) -> Int64:
    """Return evenly spaced indices below `number`: a share of them, frequent and rare alike."""
    return np.unique(np.linspace(0, number - 1, max(1, round(share * number))).astype(np.int64))


def _vectors(path: Path, folders: Sequence[Path], name: str) -> Parts:
    """Write evenly spaced rows of vectors."""
    whole = read_numbered(path) or read_any_vectors(path)
    rows, columns = whole.matrix.shape
    made, sizes = [], []
    for share, folder in zip(shares(rows * columns), folders, strict=True):
        chosen = spread(rows, share)
        made.append(folder / f"{name}.bin")
        names = [whole.words[row] for row in chosen.tolist()]
        write_vectors(made[-1], names, whole.matrix[chosen], space="_")
        sizes.append(float(len(chosen)))
    return Parts(tuple(made), tuple(sizes), float(rows))


def _write_words(matrix: StoredMatrix, chosen: Int64, out: Path) -> None:
    """Write the counts of some words with each other, and their sums over all words."""
    with Pool(1) as pool, StoreWriter(out, matrix.store.kind) as writer:
        rows = ChosenRows(StoredRows(matrix, pool), chosen)
        made = MatrixWriter(writer, rows.vocabulary, rows.dtype)
        for start, stop in rows.row_blocks():
            block = rows.rows(start, stop)
            made.write(np.diff(block.indptr), block.indices, block.data)
        for name in {"rowsums", "columnsums"} & set(matrix.store.parts()):
            writer.array(name, np.int64).write(matrix.sums_in(name)[chosen])
        _commit(writer, made, matrix.store)


def write_documents(
    whole: StoredDocuments, vocabulary: Vocabulary, blocks: Iterable[Csr], lines: bytes, out: Path
) -> None:
    """Write rows and columns of a matrix, with their sums; lines: the document of each row."""
    sums, holders = (np.zeros(len(vocabulary), np.int64) for _ in range(2))
    with StoreWriter(out, DTM) as writer:
        dtype = whole.store.array("data").dtype
        made = MatrixWriter(writer, vocabulary, dtype, rows=lines.count(b"\n"))
        for block in blocks:
            made.write(np.diff(block.indptr), block.indices, block.data)
            np.add.at(sums, block.indices, block.data.astype(np.int64))
            np.add.at(holders, block.indices, 1)
        writer.text(DOCUMENTS, lines)
        writer.array(SUMS, np.int64).write(sums)
        writer.array(DOCUMENT_FREQUENCIES, np.int64).write(holders)
        _commit(writer, made, whole.store)


def _chosen_documents(matrix: StoredDocuments, chosen: Int64) -> Iterator[Csr]:
    for start, stop in matrix.row_blocks():
        here = chosen[(start <= chosen) & (chosen < stop)]
        if len(here):
            yield matrix.rows(start, stop).select(here - start)


def _commit(writer: StoreWriter, made: MatrixWriter, whole: Store) -> None:
    """Commit a part with the attributes and the run card of the whole."""
    attributes = {k: v for k, v in whole.attributes.items() if k not in _SHAPE}
    card = {name: value for name, value in whole.card.items() if name != "parent"}
    writer.commit(made.finish(attributes), card)

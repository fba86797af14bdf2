"""Parts of a dynamic model for pilot runs: some of its words, in all documents that have any.

A test of change takes most of its time for each word, whatever the number of documents.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wordgeom.core.types import Csr, Int32, Int64, offsets
from wordgeom.corpus.vocabulary import Vocabulary, vocabulary_bytes
from wordgeom.matrices.columns import positions
from wordgeom.matrices.document_term import DOCUMENTS, StoredDocuments
from wordgeom.methods.dlsa.model import DLSA, DynamicModel, typed
from wordgeom.planning.parts import Parts, shares, spread, write_documents
from wordgeom.storage.store import StoreWriter

LARGEST = 1200  # words of the largest part


def take_model(path: Path, folders: Sequence[Path], name: str) -> Parts:
    """Write some words of a model, and of its counts, into each directory; sizes are words.

    Raises what opening the model and its counts raises.
    """
    model = DynamicModel.open(path)
    counts = take_words(model.open_documents(), folders, f"{name}-counts")
    made = []
    for chosen, of_counts, folder in zip(
        _chosen(len(model.words)), counts.paths, folders, strict=True
    ):
        made.append(folder / name)
        _write_model(model, chosen, of_counts, made[-1])
    return Parts(tuple(made), counts.sizes, counts.size)


def take_words(counts: StoredDocuments, folders: Sequence[Path], name: str) -> Parts:
    """Write the counts of some words in all documents into each directory; sizes are words."""
    words = len(counts.vocabulary)
    made, sizes = [], []
    for chosen, folder in zip(_chosen(words), folders, strict=True):
        made.append(folder / name)
        sizes.append(float(len(chosen)))
        _write_words(counts, chosen, made[-1])
    return Parts(tuple(made), tuple(sizes), float(words))


def _chosen(words: int) -> list[Int64]:
    """Return the words of each part."""
    return [spread(words, share) for share in shares(words, LARGEST)]


def _write_words(counts: StoredDocuments, chosen: Int64, out: Path) -> None:
    """Write the columns of some words."""
    vocabulary = _selected(counts.vocabulary, chosen)
    position = positions(chosen, len(counts.vocabulary))
    blocks = (_columns(counts.rows(*block), position) for block in counts.row_blocks())
    write_documents(counts, vocabulary, blocks, counts.store.text(DOCUMENTS), out)


def _columns(block: Csr, position: Int32) -> Csr:
    """Return the entries in chosen columns; position: of each column among these, or -1."""
    new = position[block.indices]
    kept = new >= 0
    lengths = np.bincount(block.entry_rows[kept], minlength=block.rows)
    return Csr(offsets(lengths), new[kept], block.data[kept], int(position.max()) + 1)


def _write_model(model: DynamicModel, chosen: Int64, counts: Path, out: Path) -> None:
    """Write the model of some words, in the documents that have any; counts: of these words."""
    of_words = StoredDocuments.open(counts)
    kept = np.diff(of_words.indptr)[model.rows] > 0
    arrays = typed({
        "documents": model.documents[kept], "coefficients": model.coefficients[:, :, chosen],
        "rows": model.rows[kept], "times": model.times[kept], "moving": model.moving[chosen],
        "spread": model.spread[chosen],
    })  # fmt: skip
    vocabulary = _selected(Vocabulary(model.words, model.counts), chosen)
    shape = [int(kept.sum()), model.dim, len(chosen)]
    attributes = {**model.store.attributes, "shape": shape, "source": of_words.store.digest}
    with StoreWriter(out, DLSA) as writer:
        for name, array in arrays.items():
            writer.array(name, array.dtype).write(array.ravel())
        writer.text("vocab", vocabulary_bytes(vocabulary))
        writer.commit(attributes, {**model.store.card, "parent": os.path.relpath(counts, out)})


def _selected(vocabulary: Vocabulary, chosen: Int64) -> Vocabulary:
    words = [vocabulary.words[k] for k in chosen.tolist()]
    return Vocabulary(words, vocabulary.counts[chosen])

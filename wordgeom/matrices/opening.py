"""Opening a stored matrix to compute with: complete, and not older than what it was made from."""

from __future__ import annotations

import os
from pathlib import Path

from wordgeom.core.errors import StaleError
from wordgeom.corpus.shard_range import check_whole
from wordgeom.matrices.cooccurrence import COOC, DTM, PMI, StoredMatrix
from wordgeom.matrices.document_term import Stored, open_stored
from wordgeom.storage import store
from wordgeom.storage.store import Store

# The commands that make the stores of each kind.
COMMANDS = {COOC: "build-cooc", PMI: "build-pmi", DTM: "build-dtm"}


def open_matrix(path: str | os.PathLike[str], kinds: tuple[str, ...] = (COOC, PMI)) -> StoredMatrix:
    """Open a words × contexts matrix of one of the kinds.

    Raises MissingInputError and FormatError; InputError for a shard; StaleError where the counts
    that it was weighted from have changed.
    """
    matrix = StoredMatrix.open(path, kinds)
    _check(matrix.store)
    return matrix


def open_any(path: str | os.PathLike[str]) -> Stored:
    """Open a matrix of any kind; raises as `open_matrix` does."""
    matrix = open_stored(path)
    _check(matrix.store)
    return matrix


def _check(held: Store) -> None:
    check_whole(held)
    _check_parent(held)


def _check_parent(child: Store) -> None:
    """Raise StaleError for a matrix whose parent still exists and has other content."""
    parent = child.card.get("parent")
    if not isinstance(parent, str) or not store.exists(child.path / parent):
        return
    folder = Path(os.path.normpath(child.path / parent))
    if [i["digest"] for i in child.request["inputs"]] != [Store.open(folder).digest]:
        raise StaleError(
            f"was made from {folder}, which has changed since",
            where=child.path,
            do=f"make it again: wordgeom build-pmi {folder} -o {child.path} --force",
        )

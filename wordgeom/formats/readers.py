"""Choose the reader of a matrix format."""

from __future__ import annotations

from pathlib import Path

from wordgeom.formats import detection
from wordgeom.formats.entries import EntryFile
from wordgeom.formats.glove import GloveFile
from wordgeom.formats.matrix_market import MarketFile
from wordgeom.formats.scipy_npz import SparseFile


def open_entries(path: Path, form: str, words: int, memory: int) -> EntryFile:
    """Open a file of entries over `words` words. Raises what the format's reader raises."""
    if form == detection.GLOVE:
        return GloveFile(path, words)
    if form == detection.MTX:
        return MarketFile.open(path)
    return SparseFile.open(path, memory)

"""The reader of each format of matrices."""

from __future__ import annotations

from pathlib import Path

from wordgeom.exchange import formats
from wordgeom.exchange.entries import EntryFile
from wordgeom.exchange.glove import GloveFile
from wordgeom.exchange.market import MarketFile
from wordgeom.exchange.scipy_files import SparseFile


def open_entries(path: Path, form: str, words: int, memory: int) -> EntryFile:
    """Open a file of entries; words: how many there must be. Raises what its reader raises."""
    if form == formats.GLOVE:
        return GloveFile(path, words)
    if form == formats.MTX:
        return MarketFile.open(path)
    return SparseFile.open(path, memory)

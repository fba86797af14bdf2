"""Word vectors by geometry: corpus → counts on disk → a method → word2vec files."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wordgeom.api import (
        Counts,
        DocumentCounts,
        Weighted,
        convert,
        count,
        count_documents,
        extend,
        impute,
        load_vectors,
        open_matrix,
        pmi,
        score,
        train,
    )

__version__ = "0.1.0"
__all__ = [
    "Counts", "DocumentCounts", "Weighted", "convert", "count", "count_documents", "extend",
    "impute", "load_vectors", "open_matrix", "pmi", "score", "train",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def __getattr__(name: str) -> Any:
    # The public functions bring NumPy and more; `wordgeom --help` must not wait for them.
    if name in __all__:
        return getattr(import_module("wordgeom.api"), name)
    raise AttributeError(f"module 'wordgeom' has no attribute {name!r}")

"""Word vectors by geometry: corpus → counts on disk → a method → word2vec files."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from wordgeom.core.version import __version__ as __version__

if TYPE_CHECKING:
    from wordgeom.api.models import measure_drift, open_model, train_model
    from wordgeom.api.vectors import (
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

__all__ = [
    "Counts", "DocumentCounts", "Weighted", "convert", "count", "count_documents", "extend",
    "impute", "load_vectors", "measure_drift", "open_matrix", "open_model", "pmi", "score",
    "train", "train_model",
]  # fmt: skip
_OF_DRIFT = ("measure_drift", "open_model", "train_model")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def __getattr__(name: str) -> Any:
    # The public functions bring NumPy and more; `wordgeom --help` must not wait for them.
    if name in __all__:
        module = "wordgeom.api.models" if name in _OF_DRIFT else "wordgeom.api.vectors"
        return getattr(import_module(module), name)
    raise AttributeError(f"module 'wordgeom' has no attribute {name!r}")

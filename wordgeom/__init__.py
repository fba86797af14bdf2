"""Word vectors by geometry: corpus → counts on disk → a method → word2vec files."""

from __future__ import annotations

from wordgeom.core.version import __version__ as __version__

# Not imported from typing, which takes milliseconds in which Ctrl-C would print a traceback.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wordgeom.api.compression import compress
    from wordgeom.api.conversion import convert, load_vectors, open_vectors
    from wordgeom.api.counts import (
        Counts,
        DocumentCounts,
        Weighted,
        count,
        count_documents,
        open_matrix,
        pmi,
    )
    from wordgeom.api.evaluation import score
    from wordgeom.api.imputation import ImputedModel, impute
    from wordgeom.api.models import measure_drift, open_model, train_model
    from wordgeom.api.progress import show_progress
    from wordgeom.api.subwords import add_subwords
    from wordgeom.api.text_files import embed
    from wordgeom.api.text_vectorizer import TextVectorizer
    from wordgeom.api.training import extend, train
    from wordgeom.api.transforms import transform
    from wordgeom.api.vectors import Model
    from wordgeom.core import errors as errors
    from wordgeom.core.errors import WordgeomError

_MODULES = {
    "api.counts": ("Counts", "DocumentCounts", "Weighted", "count", "count_documents",
                   "open_matrix", "pmi"),
    "api.compression": ("compress",),
    "api.conversion": ("convert", "load_vectors", "open_vectors"),
    "api.evaluation": ("score",),
    "api.imputation": ("ImputedModel", "impute"),
    "api.models": ("measure_drift", "open_model", "train_model"),
    "api.progress": ("show_progress",),
    "api.subwords": ("add_subwords",),
    "api.text_files": ("embed",),
    "api.text_vectorizer": ("TextVectorizer",),
    "api.training": ("extend", "train"),
    "api.transforms": ("transform",),
    "api.vectors": ("Model",),
    "core.errors": ("WordgeomError",),
}  # fmt: skip
__all__ = [
    "Counts", "DocumentCounts", "ImputedModel", "Model", "TextVectorizer", "Weighted",
    "WordgeomError", "add_subwords", "compress", "convert", "count", "count_documents", "embed",
    "extend", "impute", "load_vectors", "measure_drift", "open_matrix", "open_model",
    "open_vectors", "pmi", "score", "show_progress", "train", "train_model", "transform",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "errors"])


def __getattr__(name: str) -> Any:
    from importlib import import_module

    # The public functions need NumPy and more; `wordgeom --help` must not wait for them.
    if name == "errors":
        return import_module("wordgeom.core.errors")
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"wordgeom.{module}"), name)
    raise AttributeError(f"module 'wordgeom' has no attribute {name!r}")

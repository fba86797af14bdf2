"""What methods are made from, by their NEEDS: folders, and weights of counts."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from wordgeom.core.options import Options
from wordgeom.matrices.cooccurrence import COOC, DTM, PMI
from wordgeom.weighting.options import DocumentOptions, PmiOptions

_MAKERS = {COOC: "build-cooc", PMI: "build-pmi", DTM: "build-dtm"}


@dataclass(frozen=True)
class Source:
    """Folders that a method takes.

    kinds: of their stores; folder: by default; weighting: the options that weight counts as they
    are read.
    """

    kinds: tuple[str, ...]
    folder: str
    weighting: type[Options]

    @property
    def makers(self) -> str:
        """The commands that make such folders."""
        return " or ".join(_MAKERS[kind] for kind in self.kinds)


SOURCES = {
    "matrix": Source((COOC, PMI), "cooc", PmiOptions),
    "documents": Source((DTM,), "dtm", DocumentOptions),
}


def source_of(method: ModuleType) -> Source:
    """Return what a method is made from: the first of its NEEDS."""
    return SOURCES[method.NEEDS[0]]


def makes_model(method: ModuleType) -> bool:
    """Tell whether a method makes the folder of a model, not a file of vectors."""
    return getattr(method, "OUTPUT", None) == "model"


def settings_of(method: ModuleType) -> tuple[str, ...]:
    """Return the settings of `train` that a method has beside its options and those of all."""
    documents = "documents" in method.NEEDS and not makes_model(method)
    return ("documents",) if documents else ()


def maker(kind: str) -> str:
    """Return the command that makes folders of a kind."""
    return _MAKERS.get(kind, f"kind {kind!r}")

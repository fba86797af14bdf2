"""Artefacts: what stages make, and how each kind is written, described and converted."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from wordgeom.core.errors import MissingInputError
from wordgeom.formats.projector import is_projector
from wordgeom.matrices.cooccurrence import COOC, DTM, PMI
from wordgeom.matrices.kinds import VOCABULARY
from wordgeom.methods.contract import DOCUMENT_VECTORS, MODEL, VECTORS
from wordgeom.stages.artefacts.artefact import Artefact
from wordgeom.stages.artefacts.matrix import MatrixDirectory
from wordgeom.stages.artefacts.model import ModelDirectory, ModelOutput
from wordgeom.stages.artefacts.output import MethodOutput
from wordgeom.stages.artefacts.vectors import DocumentVectorsOutput, VectorsFile, VectorsOutput
from wordgeom.stages.artefacts.vocabulary import VocabularyDirectory
from wordgeom.storage.meta import unfinished_folder
from wordgeom.storage.opening import check_listed
from wordgeom.storage.store import Store

_OUTPUTS: dict[tuple[str, ...], type[MethodOutput]] = {
    (VECTORS,): VectorsOutput,
    (VECTORS, DOCUMENT_VECTORS): DocumentVectorsOutput,
    (MODEL,): ModelOutput,
}


def output_of(method: ModuleType) -> type[MethodOutput]:
    """Return what a method writes, by its MAKES."""
    return _OUTPUTS[method.MAKES]


def artefact_at(path: Path) -> Artefact:
    """Return what lies at a path; raises MissingInputError, FormatError."""
    if is_projector(path):
        return VectorsFile(path)
    if path.is_dir():
        check_listed(path, "a directory")
    if path.is_dir() or (not path.exists() and unfinished_folder(path).is_dir()):
        kind = Store.open(path).kind
        if kind == VOCABULARY:
            return VocabularyDirectory(path)
        return MatrixDirectory(path) if kind in (COOC, PMI, DTM) else ModelDirectory(path)
    if not path.exists():
        raise MissingInputError("no such file or directory", where=path, do="check the path")
    return VectorsFile(path)

"""The inputs `items`, which are embedded, and `anchors`, vectors that some of them keep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from wordgeom.core.errors import OptionError
from wordgeom.core.options import flag, specs
from wordgeom.methods.inputs.kind import OpenInput, Request
from wordgeom.methods.inputs.matrix import MatrixInput
from wordgeom.methods.inputs.vectors import InitInput, OpenVectors

if TYPE_CHECKING:
    from wordgeom.vectors.keyed import Vectors


class OpenItems(OpenVectors):
    """Vectors that were read; those of an array are identified with the words beside it."""

    def __init__(self, path: Path, content: Vectors, named: str) -> None:
        from wordgeom.formats.detection import ARRAYS, format_of
        from wordgeom.vectors.keyed import digest_of

        if path.is_dir() or format_of(path) in ARRAYS:
            self.path, self.content, self.digest = path, content, digest_of(content)
        else:
            super().__init__(path, content, named)


class ItemsInput(MatrixInput):
    """Vectors in any format, an array of numbered rows, or a words × words matrix."""

    name: ClassVar[str] = "items"
    setting: ClassVar[str] = "items"
    help: ClassVar[str] = "vectors file, .npy array, or directory of co-occurrence counts or PMI"
    metavar: ClassVar[str] = "PATH"

    def open(self, request: Request) -> OpenInput:  # type: ignore[override]
        """Open a matrix, or read vectors; raises OptionError for the weighting of vectors."""
        from wordgeom.formats.projector import is_projector

        assert request.path is not None
        path = request.path
        if (path.is_dir() and not is_projector(path)) or not (path.exists() or path.suffix):
            return super().open(request)
        given = [
            field.name for cls in self.options for field, _ in specs(cls)
            if field.name in request.values
        ]  # fmt: skip
        if given:
            what = f"is a file of vectors, on which {flag(given[0])} has no effect"
            raise OptionError(what, where=path, do=f"omit {flag(given[0])}")
        return OpenItems(path, _read(path), self.setting)


class AnchorsInput(InitInput):
    """Vectors that items of the same names keep."""

    name: ClassVar[str] = "anchors"
    setting: ClassVar[str] = "anchors"
    help: ClassVar[str] = "vectors file of items that keep their vectors"
    compared: ClassVar[bool] = False  # it decides the dimension


def _read(path: Path) -> Any:
    """Return the vectors of a file; the rows of an array without words are numbered from 0."""
    from wordgeom.formats.vector_files import read_any_vectors, read_numbered

    return read_numbered(path) or read_any_vectors(path)

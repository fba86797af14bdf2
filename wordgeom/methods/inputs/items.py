"""The inputs `items`, which are embedded, and `anchors`, vectors that some of them keep."""

from __future__ import annotations

from typing import ClassVar

from wordgeom.core.errors import OptionError
from wordgeom.core.options import flag, specs
from wordgeom.methods.inputs.kind import OpenInput, Request
from wordgeom.methods.inputs.matrix import MatrixInput
from wordgeom.methods.inputs.vectors import InitInput, OpenVectors, read_points


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
        return OpenVectors(path, read_points(path), self.setting)


class AnchorsInput(InitInput):
    """Vectors that items of the same names keep."""

    name: ClassVar[str] = "anchors"
    setting: ClassVar[str] = "anchors"
    help: ClassVar[str] = "vectors file of items that keep their vectors"
    compared: ClassVar[bool] = False  # it decides the dimension

"""The inputs `vectors`, which a method transforms, and `init`, from which it may start."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from wordgeom.core.options import flag
from wordgeom.methods.inputs.kind import InputKind, OpenInput, Request, file_digest
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors, read_vectors


class OpenVectors(OpenInput):
    """A vectors file that was read: its words name the rows of the output."""

    def __init__(self, path: Path, named: str) -> None:
        self.path, self._vectors = path, read_vectors(path)
        self.digest = file_digest(path, named)

    @property
    def rows(self) -> list[str]:
        """The words."""
        return self._vectors.words

    def read(self, context: Context) -> Vectors:
        """Return words and vectors (n × K) float32."""
        return self._vectors


class VectorsInput(InputKind):
    """Vectors to transform: a word2vec file."""

    name: ClassVar[str] = "vectors"
    setting: ClassVar[str] = "vectors"
    help: ClassVar[str] = "vectors file: .bin, .txt or .vec"
    default: ClassVar[str | None] = "vectors.bin"

    def open(self, request: Request) -> OpenVectors:
        """Open the file."""
        assert request.path is not None
        return OpenVectors(request.path, flag(self.setting))


class InitInput(VectorsInput):
    """Vectors from which a method starts, instead of its own."""

    name: ClassVar[str] = "init"
    setting: ClassVar[str] = "init"
    help: ClassVar[str] = "vectors file to start from  [the method's own start]"
    default: ClassVar[str | None] = None
    required: ClassVar[bool] = False

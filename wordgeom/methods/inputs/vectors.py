"""The inputs `vectors`, which a method transforms, and `init`, from which it may start."""

from __future__ import annotations

from typing import ClassVar

from wordgeom.core.options import flag
from wordgeom.methods.inputs.kind import InputKind, OpenFile, Request


class OpenVectors(OpenFile):
    """A vectors file that was read: its words name the rows of the output."""

    @property
    def rows(self) -> list[str]:
        """The words."""
        words: list[str] = self.content.words
        return words


class VectorsInput(InputKind):
    """Vectors to transform: a word2vec file, read as Vectors (n × K)."""

    name: ClassVar[str] = "vectors"
    setting: ClassVar[str] = "vectors"
    help: ClassVar[str] = "vectors file: .bin, .txt or .vec"
    default: ClassVar[str | None] = "vectors.bin"

    def open(self, request: Request) -> OpenVectors:
        """Open the file."""
        from wordgeom.vectors.keyed import read_vectors  # `--help` reads the inputs

        assert request.path is not None
        return OpenVectors(request.path, read_vectors(request.path), flag(self.setting))


class InitInput(VectorsInput):
    """Vectors from which a method starts, instead of its own."""

    name: ClassVar[str] = "init"
    setting: ClassVar[str] = "init"
    help: ClassVar[str] = "vectors file to start from  [the method's own start]"
    default: ClassVar[str | None] = None
    required: ClassVar[bool] = False

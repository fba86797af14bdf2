"""The inputs `vectors`, which a method transforms, and `init`, from which it may start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from wordgeom.core.options import flag
from wordgeom.methods.inputs.kind import InputKind, OpenFile, Request

if TYPE_CHECKING:
    from wordgeom.vectors.keyed import Vectors


class OpenVectors(OpenFile):
    """Vectors that were read: their words name the rows of the output.

    An array is identified by its content, with the words beside it.
    """

    def __init__(self, path: Path, content: Vectors, named: str) -> None:
        from wordgeom.formats.detection import ARRAYS, format_of
        from wordgeom.vectors.keyed import digest_of

        if path.is_dir() or format_of(path) in ARRAYS:
            self.path, self.content, self.digest = path, content, digest_of(content)
        else:
            super().__init__(path, content, named)

    @property
    def rows(self) -> list[str]:
        """The words."""
        words: list[str] = self.content.words
        return words


class VectorsInput(InputKind):
    """Vectors to transform, in any format, read as Vectors (n × K)."""

    name: ClassVar[str] = "vectors"
    setting: ClassVar[str] = "vectors"
    help: ClassVar[str] = "vectors file, or .npy array"
    metavar: ClassVar[str] = "PATH"
    default: ClassVar[str | None] = "vectors.bin"

    def open(self, request: Request) -> OpenVectors:
        """Open the file; a note says that the output has no n-grams, if the file has some.

        Raises InputError for vectors that are not finite.
        """
        from wordgeom.formats.vector_files import with_ngrams
        from wordgeom.subwords.open_vocabulary import lost_note
        from wordgeom.vectors.finite import check_finite

        path = request.path
        assert path is not None
        content = read_points(path)
        check_finite(content, range(len(content.words)), str(path), "check the vectors")
        opened = OpenVectors(path, content, flag(self.setting))
        if with_ngrams(path):
            opened.notes = (lost_note(path, f"use {path} for words without a vector"),)
        return opened


class InitInput(VectorsInput):
    """Vectors from which a method starts, instead of its own: a word2vec file."""

    name: ClassVar[str] = "init"
    setting: ClassVar[str] = "init"
    help: ClassVar[str] = "vectors file to start from  [the method's own start]"
    metavar: ClassVar[str] = "FILE"
    default: ClassVar[str | None] = None
    required: ClassVar[bool] = False

    def open(self, request: Request) -> OpenVectors:
        """Open the file."""
        from wordgeom.vectors.keyed import read_vectors  # `--help` reads the inputs

        assert request.path is not None
        return OpenVectors(request.path, read_vectors(request.path), flag(self.setting))


def read_points(path: Path) -> Vectors:
    """Return the vectors of a file; the rows of an array without words are numbered from 0."""
    from wordgeom.formats.vector_files import read_any_vectors, read_numbered

    return read_numbered(path) or read_any_vectors(path)

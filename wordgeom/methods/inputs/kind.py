"""What a kind of input knows: its flag, its default path, its reader and its digest."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from wordgeom.core.errors import MissingInputError
from wordgeom.core.options import Options, flag
from wordgeom.runtime.context import Context

if TYPE_CHECKING:
    from wordgeom.corpus.vocabulary import Vocabulary


class OpenInput(ABC):
    """An input whose file was opened and checked, but not read into memory yet."""

    digest: str | None = None  # what identifies it in a request; None for part of another input
    path: Path | None = None
    notes: tuple[str, ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        """The options with which it is read, as far as they decide what is read."""
        return {}

    @property
    def rows(self) -> list[str]:
        """The names of the vectors made from it. Only a first input needs them."""
        raise TypeError(f"{type(self).__name__} does not name rows")

    @property
    def vocabulary(self) -> Vocabulary:
        """The rows with their counts in the corpus, 0 where these are not known."""
        from wordgeom.corpus.vocabulary import Vocabulary  # `--help` reads the inputs

        return Vocabulary(self.rows, np.zeros(len(self.rows), np.int64))

    @property
    def entries(self) -> int:
        """The entries of both triangles of a stored matrix, 0 for other inputs."""
        return 0

    @abstractmethod
    def read(self, context: Context) -> Any:
        """Return what the method gets."""


class OpenFile(OpenInput):
    """A file that was read, content and digest; named: its flag. Raises MissingInputError."""

    def __init__(self, path: Path, content: Any, named: str) -> None:
        self.path, self.content = path, content
        self.digest = _file_digest(path, named)

    def read(self, context: Context) -> Any:
        """Return the content."""
        return self.content


@dataclass(frozen=True)
class Request:
    """What an input is opened with.

    path: as given, or the default; values: the options given, by name; defaults: the values that
    the method prefers; others: the inputs opened before, by name.
    """

    path: Path | None
    values: Mapping[str, Any]
    defaults: Mapping[str, Any]
    others: Mapping[str, OpenInput]


class InputKind(ABC):
    """One kind of input; `name` is what methods list in NEEDS."""

    name: ClassVar[str]
    setting: ClassVar[str | None]  # the flag and TOML key; None where another input carries it
    help: ClassVar[str] = ""
    metavar: ClassVar[str] = "FILE"
    default: ClassVar[str | None] = None  # path; None: the input is optional
    required: ClassVar[bool] = True
    store_kinds: ClassVar[tuple[str, ...]] = ()  # of the stores that it may be
    compared: ClassVar[bool] = True  # whether `compare` passes it to the method
    options: ClassVar[tuple[type[Options], ...]] = ()  # the classes that say how it is read

    @abstractmethod
    def open(self, request: Request) -> OpenInput:
        """Open the input. Raises what its format raises, MissingInputError."""

    def missing(self, method: str) -> MissingInputError:
        """Return the error for a required input that was not named."""
        do = f"pass {flag(self.setting or self.name)} {self.metavar}"
        return MissingInputError(f"{method} needs {self.name}", do=do)


def _file_digest(path: Path, flag_name: str) -> str:
    """Return the SHA-256 of a file. Raises MissingInputError."""
    try:
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except (FileNotFoundError, IsADirectoryError) as error:
        what = "is a directory" if isinstance(error, IsADirectoryError) else "no such file"
        raise MissingInputError(what, where=path, do=f"check {flag_name}") from None

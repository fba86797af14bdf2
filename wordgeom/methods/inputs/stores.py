"""Inputs that are stored matrices: opened with their options, weighted as they are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from wordgeom.core.errors import InputError
from wordgeom.core.options import Options
from wordgeom.matrices.kinds import noun
from wordgeom.methods.inputs.kind import InputKind, OpenInput, Request

if TYPE_CHECKING:
    from wordgeom.corpus.vocabulary import Vocabulary
    from wordgeom.matrices.document_term import Stored


class OpenStore(OpenInput):
    """An open matrix, and how its counts are weighted."""

    stored: Stored

    def __init__(self, stored: Stored, weighting: Options) -> None:
        self.stored, self.weighting = stored, weighting
        self.digest, self.path = stored.store.digest, stored.store.path

    @property
    def options(self) -> dict[str, Any]:
        """The weighting."""
        return self.weighting.result_options()

    @property
    def entries(self) -> int:
        """The entries of the matrix, each of a stored triangle twice."""
        return self.stored.stored * (2 if self.stored.symmetric else 1)

    @property
    def rows(self) -> list[str]:
        """The words."""
        return self.stored.vocabulary.words

    @property
    def vocabulary(self) -> Vocabulary:
        """The words with their counts."""
        return self.stored.vocabulary


class StoreInput(InputKind):
    """A directory that holds a matrix of one of `store_kinds`."""

    setting: ClassVar[str] = "matrix"
    metavar: ClassVar[str] = "DIR"

    def stored(self, request: Request) -> Stored:
        """Open the matrix. Raises InputError for one of another kind."""
        assert request.path is not None
        return open_store(request.path, self.store_kinds)


def open_store(path: Path, kinds: tuple[str, ...]) -> Stored:
    """Open a complete, current store; raises InputError for one of another kind."""
    from wordgeom.matrices.opening import COMMANDS, open_any  # `--help` reads the inputs

    stored = open_any(path)
    if stored.store.kind not in kinds:
        needed = " or ".join(noun(kind) for kind in kinds)
        what = f"is {noun(stored.store.kind)}; the method needs {needed}"
        raise InputError(what, where=path, do=f"run wordgeom {COMMANDS[kinds[0]]}")
    return stored

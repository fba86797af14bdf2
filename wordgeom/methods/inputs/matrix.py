"""The input `matrix`: co-occurrence counts, weighted as they are read, or a PMI matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, flag, specs
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.matrices.cooccurrence import COOC, PMI, StoredMatrix
from wordgeom.matrices.interfaces import Matrix
from wordgeom.methods.inputs.kind import InputKind, OpenInput, Request
from wordgeom.methods.inputs.stores import open_store
from wordgeom.runtime.context import Context
from wordgeom.weighting.options import NPMI, PmiOptions


class OpenMatrix(OpenInput):
    """An open matrix, and how its counts are weighted."""

    def __init__(self, stored: StoredMatrix, weighting: PmiOptions) -> None:
        self.stored, self._weighting = stored, weighting
        self.digest, self.path = stored.store.digest, stored.store.path

    @property
    def options(self) -> dict[str, Any]:
        """The weighting; nothing for a matrix that is weighted already."""
        return {} if self.stored.store.kind == PMI else self._weighting.result_options()

    @property
    def rows(self) -> list[str]:
        """The words."""
        return self.stored.vocabulary.words

    @property
    def vocabulary(self) -> Vocabulary:
        """The words with their counts."""
        return self.stored.vocabulary

    def read(self, context: Context) -> Matrix:
        """Return the matrix, weighted on the fly."""
        from wordgeom.weighting.pmi import weighted  # Numba: `--help` reads the inputs

        return weighted(self.stored, self._weighting, context.pool)


class MatrixInput(InputKind):
    """A words × contexts matrix: `build-cooc`'s counts or `build-pmi`'s weights."""

    name: ClassVar[str] = "matrix"
    setting: ClassVar[str] = "matrix"
    help: ClassVar[str] = "directory of co-occurrence counts or of a PMI matrix"
    metavar: ClassVar[str] = "DIR"
    default: ClassVar[str] = "cooc"
    store_kinds: ClassVar[tuple[str, ...]] = (COOC, PMI)

    @property
    def options(self) -> tuple[type[Options], ...]:
        """The weighting of the counts."""
        return (PmiOptions,)

    def open(self, request: Request) -> OpenMatrix:
        """Open the matrix; raises OptionError for the weighting of a weighted matrix."""
        defaults = request.defaults
        if request.values.get("weighting") == NPMI:  # which has no shift
            defaults = {}
        weighting = PmiOptions.take({**defaults, **request.values})
        assert request.path is not None
        stored = open_store(request.path, self.store_kinds)
        assert isinstance(stored, StoredMatrix)
        if stored.store.kind == PMI:
            _check_unweighted(request, request.path)
        return OpenMatrix(stored, weighting)


def _check_unweighted(request: Request, path: Path) -> None:
    """Raise OptionError for weighting options where the matrix has its weights."""
    given = [option.name for option, _ in specs(PmiOptions) if option.name in request.values]
    if given:
        do = "train on the counts, or weight them again with wordgeom build-pmi"
        raise OptionError("is weighted already", where=path, found=flag(given[0]), do=do)

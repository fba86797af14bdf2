"""The input `matrix`: co-occurrence counts, weighted as they are read, or a PMI matrix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, flag, specs
from wordgeom.matrices.kinds import COOC, PMI
from wordgeom.methods.inputs.kind import Request
from wordgeom.methods.inputs.stores import OpenStore, StoreInput
from wordgeom.runtime.context import Context
from wordgeom.weighting.options import NPMI, PmiOptions

if TYPE_CHECKING:
    from wordgeom.matrices.cooccurrence import StoredMatrix
    from wordgeom.matrices.interfaces import Matrix


class OpenMatrix(OpenStore):
    """An open words × contexts matrix."""

    stored: StoredMatrix
    weighting: PmiOptions

    @property
    def options(self) -> dict[str, Any]:
        """The weighting; nothing for a matrix that is weighted already."""
        return {} if self.stored.store.kind == PMI else super().options

    def read(self, context: Context) -> Matrix:
        """Return the matrix, weighted on the fly."""
        from wordgeom.weighting.pmi import weighted  # Numba: `--help` reads the inputs

        return weighted(self.stored, self.weighting, context.pool)


class MatrixInput(StoreInput):
    """A words × contexts matrix: `build-cooc`'s counts or `build-pmi`'s weights."""

    name: ClassVar[str] = "matrix"
    help: ClassVar[str] = "directory of co-occurrence counts or of a PMI matrix"
    default: ClassVar[str] = "cooc"
    store_kinds: ClassVar[tuple[str, ...]] = (COOC, PMI)
    options: ClassVar[tuple[type[Options], ...]] = (PmiOptions,)

    def open(self, request: Request) -> OpenMatrix:
        """Open the matrix; raises OptionError for the weighting of a weighted matrix."""
        defaults = request.defaults
        if request.values.get("weighting") == NPMI:  # which has no shift
            defaults = {}
        weighting = PmiOptions.take({**defaults, **request.values})
        stored = self.stored(request)
        if stored.store.kind == PMI:
            _check_unweighted(request, stored.path)
        return OpenMatrix(stored, weighting)


def _check_unweighted(request: Request, path: Path) -> None:
    """Raise OptionError for weighting options where the matrix has its weights."""
    given = [option.name for option, _ in specs(PmiOptions) if option.name in request.values]
    if given:
        do = "train on the counts, or weight them again with wordgeom build-pmi"
        what = f"is weighted already, so {flag(given[0])} has no effect"
        raise OptionError(what, where=path, do=do)

"""The input `any-matrix`: a words × contexts matrix, or a documents × words matrix."""

from __future__ import annotations

from typing import ClassVar

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, flag, specs
from wordgeom.matrices.kinds import COOC, DTM, PMI, noun
from wordgeom.methods.inputs.documents import DocumentsInput
from wordgeom.methods.inputs.kind import InputKind, OpenInput, Request
from wordgeom.methods.inputs.matrix import MatrixInput
from wordgeom.methods.inputs.stores import StoreInput


class AnyMatrixInput(StoreInput):
    """What `matrix` or `documents` reads, by the kind of the store."""

    name: ClassVar[str] = "any-matrix"
    help: ClassVar[str] = "directory of co-occurrence counts, a PMI or a document-term matrix"
    default: ClassVar[str] = "cooc"
    store_kinds: ClassVar[tuple[str, ...]] = (COOC, PMI, DTM)
    options: ClassVar[tuple[type[Options], ...]] = (*MatrixInput.options, *DocumentsInput.options)

    def open(self, request: Request) -> OpenInput:
        """Open the matrix; raises OptionError for options of the other kind."""
        kind = self.stored(request).store.kind
        used: InputKind = DocumentsInput() if kind == DTM else MatrixInput()
        own = {option.name for cls in used.options for option, _ in specs(cls)}
        every = (option.name for cls in self.options for option, _ in specs(cls))
        given = [name for name in every if name in request.values and name not in own]
        if given:
            what = f"is {noun(kind)}, on which {flag(given[0])} has no effect"
            raise OptionError(what, where=request.path or "", do=f"omit {flag(given[0])}")
        return used.open(request)

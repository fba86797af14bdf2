"""The inputs `documents`, a document-term matrix, and `times`, the dates of its documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural
from wordgeom.core.options import Options
from wordgeom.matrices.kinds import DTM
from wordgeom.methods.inputs.kind import InputKind, OpenInput, Request
from wordgeom.methods.inputs.stores import OpenStore, StoreInput
from wordgeom.runtime.context import Context
from wordgeom.weighting.options import DocumentOptions

if TYPE_CHECKING:
    from wordgeom.matrices.document_term import StoredDocuments
    from wordgeom.matrices.times import Times
    from wordgeom.weighting.documents import WeightedDocuments


class OpenDocuments(OpenStore):
    """An open document-term matrix."""

    stored: StoredDocuments
    weighting: DocumentOptions

    def read(self, context: Context) -> WeightedDocuments:
        """Return the matrix, weighted on the fly."""
        from wordgeom.weighting.documents import WeightedDocuments  # `--help` reads the inputs

        return WeightedDocuments(self.stored, self.weighting, context.pool)


class DocumentsInput(StoreInput):
    """A documents × words matrix of counts, made by `build-dtm`."""

    name: ClassVar[str] = "documents"
    help: ClassVar[str] = "directory of a document-term matrix"
    default: ClassVar[str] = "dtm"
    store_kinds: ClassVar[tuple[str, ...]] = (DTM,)
    options: ClassVar[tuple[type[Options], ...]] = (DocumentOptions,)

    def open(self, request: Request) -> OpenDocuments:
        """Open the matrix."""
        weighting = DocumentOptions.take({**request.defaults, **request.values})
        return OpenDocuments(self.stored(request), weighting)


class OpenTimes(OpenInput):
    """The times of the documents of an open document-term matrix."""

    def __init__(self, stored: StoredDocuments) -> None:
        self._stored = stored

    def read(self, context: Context) -> Times:
        """Return the times; raises InputError where no document has a readable one."""
        from wordgeom.matrices.times import parse_times

        times = parse_times(self._stored.documents(), self._stored.names())
        if times.problem is not None and not len(times.known):
            what = f"none of {plural(len(times.values), 'document')} has a readable time"
            do = "name their field: wordgeom build-dtm --time-field"
            first = f"{times.problem.where}: {times.problem.what}"
            raise InputError(f"{what} ({first})", where=self._stored.path, do=do)
        return times


class TimesInput(InputKind):
    """The times of the documents, which the document-term matrix holds."""

    name: ClassVar[str] = "times"
    setting: ClassVar[None] = None

    def open(self, request: Request) -> OpenTimes:
        """Return the times of the input `documents`."""
        documents = request.others["documents"]
        assert isinstance(documents, OpenDocuments)
        return OpenTimes(documents.stored)

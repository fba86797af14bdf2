"""Where `train` writes: the words' vectors, those of documents beside them, and their card."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Self

from wordgeom.matrices.document_term import Stored, StoredDocuments
from wordgeom.methods.contract import Result
from wordgeom.stages.document_vectors import checked_place, different_content, document_names
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import vector_writer, writable_words

DOCUMENTS = "documents"  # of Result.arrays: the documents' vectors (n × K) float32


@dataclass(frozen=True)
class Output:
    """Files of vectors, and what their rows are called.

    documents: where their vectors go, None for nowhere; settings: what belongs to the request.
    """

    vectors: Path
    words: list[str]
    settings: dict[str, Any]
    documents: Path | None = None
    names: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, out: Path, documents: Path | None, stored: Stored, space: str | None) -> Self:
        """Return where to write vectors of what is `stored`; space: replaces white space in names.

        Raises OptionError, MissingInputError and InputError for what cannot be written.
        """
        words = writable_words(out, stored.vocabulary.words, space=space)
        # Where no name holds white space, --space changes nothing.
        spaced = words != stored.vocabulary.words
        if not isinstance(stored, StoredDocuments):
            return cls(out, words, {"space": space if spaced else None})
        if documents is None:
            return cls(out, words, {"space": space if spaced else None, "documents": None})
        checked_place(out, documents)
        found = document_names(stored, space)
        settings = {
            "space": space if spaced or found.spaced else None,
            "documents": os.path.relpath(documents, out.parent),
        }
        return cls(out, words, settings, documents, found.names, found.notes)

    def up_to_date(self, request: Mapping[str, Any], force: bool) -> bool:
        """Tell whether all is what is asked for; raise OutputExistsError if something is not."""
        beside = [] if self.documents is None else [self.documents]
        if run_card.up_to_date(self.vectors, request, force, beside=beside):
            return True
        if self.documents is not None:
            different_content(self.documents, force=force)
        return False

    def write(self, result: Result, card: Mapping[str, Any]) -> None:
        """Write all files and the card that covers them, or none. Raises WriteError."""
        parts: dict[Path, Callable[[BinaryIO], object]] = {
            self.vectors: vector_writer(self.vectors, self.words, result.vectors)
        }
        if self.documents is not None:
            matrix = result.arrays[DOCUMENTS]
            parts[self.documents] = vector_writer(self.documents, self.names, matrix)
        run_card.write_together(self.vectors, parts, lambda: card)

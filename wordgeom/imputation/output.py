"""Where imputed vectors and their table of trust are written: both, with a card, or neither."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from wordgeom.core.errors import OptionError, OutputExistsError
from wordgeom.imputation.saved_validation import read_validation
from wordgeom.imputation.trust import Trust
from wordgeom.imputation.trust_table import trust_lines
from wordgeom.imputation.validation import Validation
from wordgeom.storage.files import same_file
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors, writable_words
from wordgeom.vectors.word2vec_header import BINARY_SUFFIXES, TEXT_SUFFIXES

TABLE_SUFFIX = ".tsv"


def table_path(out: Path) -> Path:
    """Return where the table of trust of a vectors file lies: `vectors.imputed.tsv`."""
    return out.with_suffix(TABLE_SUFFIX)


@dataclass(frozen=True)
class Output:
    """The file of vectors and the table of trust."""

    vectors: Path
    table: Path

    @classmethod
    def of(cls, vectors: Path, table: Path | None, inputs: Sequence[Path]) -> Self:
        """Return where to write; the table beside the vectors where it is None.

        Raises OptionError and MissingInputError for names that cannot be written, OptionError for
        one that is an input too.
        """
        writable_words(vectors, [], space=None)
        made = cls(vectors, table_path(vectors) if table is None else table)
        if same_file(vectors, made.table) or same_file(run_card.card_path(vectors), made.table):
            raise OptionError("--table and -o name one file", found=made.table, do="name another")
        for place in (made.vectors, made.table):
            if any(same_file(place, file) for file in inputs):
                do = "name another with -o or --table"
                raise OptionError("is an input, which output would replace", where=place, do=do)
        return made

    @property
    def table_name(self) -> str:
        """The table's path from the folder of the vectors."""
        return os.path.relpath(self.table, self.vectors.parent)

    def up_to_date(self, request: Mapping[str, Any], force: bool) -> bool:
        """Tell whether both are what is asked for; raise OutputExistsError if one is not."""
        source = "domain, or other vectors"
        if run_card.up_to_date(self.vectors, request, force, source, [self.table]):
            return True
        if not force and os.path.lexists(self.table):
            found = f"the table of {self._owner() or 'no vectors that are there'}"
            what = "exists and holds something else"
            do = "name another with --table, or pass --force to replace it"
            raise OutputExistsError(what, where=self.table, found=found, do=do)
        return False

    def validation(self, folds: int) -> Validation | None:
        """Return the validation in the vectors' card, None where it is not one of so many folds."""
        card = run_card.read_card(self.vectors) or {}
        held = read_validation(card.get("statistics", {}).get("validation"))
        return held if held is not None and held.folds == folds else None

    def write(self, vectors: Vectors, trust: Trust, card: Mapping[str, Any]) -> None:
        """Write table and vectors, and the card that covers both."""
        run_card.write(self.vectors, vectors, card, {self.table: trust_lines(trust)})

    def _owner(self) -> str:
        """Return the name of the vectors that the table was written with, "" if none is found."""
        for suffix in (*BINARY_SUFFIXES, *TEXT_SUFFIXES):
            beside = self.table.with_suffix(suffix)
            card = run_card.read_card(beside) or {}
            if self.table.name in card.get("beside", {}):
                return beside.name
        return ""

"""Write imputed vectors, trust table and run card together, or nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from wordgeom.core.errors import OptionError, OutputExistsError
from wordgeom.imputation.saved_validation import read_validation
from wordgeom.imputation.trust import Trust
from wordgeom.imputation.trust_table import trust_lines
from wordgeom.imputation.validation import Validation
from wordgeom.storage.files import same_file
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.stored import model_writer
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors, writable_words
from wordgeom.vectors.word2vec_header import BINARY_SUFFIXES, TEXT_SUFFIXES

TABLE_SUFFIX = ".tsv"


def table_path(out: Path) -> Path:
    """Return the default trust table of a vectors file: `v.tsv` for `v.bin`."""
    return out.with_suffix(TABLE_SUFFIX)


@dataclass(frozen=True)
class Output:
    """The paths of the vectors and the trust table."""

    vectors: Path
    table: Path

    @classmethod
    def of(cls, vectors: Path, table: Path | None) -> Self:
        """Return the output paths; a `table` of None is next to the vectors.

        Raises OptionError and MissingInputError for paths that cannot be written.
        """
        writable_words(vectors, [], space=None)
        made = cls(vectors, table_path(vectors) if table is None else table)
        if same_file(vectors, made.table) or same_file(run_card.card_path(vectors), made.table):
            what = f"--table and -o name the same file, {made.table}"
            raise OptionError(what, do="name another")
        return made

    @property
    def table_name(self) -> str:
        """The table's path relative to the directory of the vectors."""
        return os.path.relpath(self.table, self.vectors.parent)

    def up_to_date(self, request: Mapping[str, Any], force: bool) -> bool:
        """Return whether both files match the request.

        Raises OutputExistsError without `force` for an existing file that does not match.
        """
        source = "domain, or other vectors"
        if run_card.up_to_date(self.vectors, request, force, source, [self.table]):
            return True
        if not force and os.path.lexists(self.table):
            owner = self._owner()
            kind = f"is the trust table of {owner}" if owner else "has different content"
            do = "name another with --table, or pass --force to overwrite it"
            raise OutputExistsError(f"exists and {kind}", where=self.table, do=do)
        return False

    def validation(self, folds: int) -> Validation | None:
        """Return the validation in the run card, None unless it has that many folds."""
        card = run_card.read_card(self.vectors) or {}
        saved = read_validation(card.get("statistics", {}).get("validation"))
        return saved if saved is not None and saved.folds == folds else None

    def write(
        self,
        vectors: Vectors,
        trust: Trust,
        card: Mapping[str, Any],
        ngrams: SubwordModel | None = None,
    ) -> None:
        """Write table and vectors with a common run card, and a subword model beside them."""
        table = {self.table: trust_lines(trust)}
        with model_writer(self.vectors, ngrams, vectors, card) as ready:
            run_card.write(self.vectors, vectors, card, table, ready=ready)

    def _owner(self) -> str:
        """Return the name of the vectors whose run card lists the table, "" if none does."""
        for suffix in (*BINARY_SUFFIXES, *TEXT_SUFFIXES):
            vectors = self.table.with_suffix(suffix)
            card = run_card.read_card(vectors) or {}
            if self.table.name in card.get("beside", {}):
                return vectors.name
        return ""

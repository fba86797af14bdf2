"""Vectors for the entities of a table, in Python."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordgeom.api.counts import PathLike
from wordgeom.api.frames import as_file, is_frame, is_map, map_as_file
from wordgeom.api.keywords import taken, takes
from wordgeom.api.messages import run
from wordgeom.api.vectors import Model, ngrams_of, read_back, source_of
from wordgeom.core.errors import OptionError
from wordgeom.imputation.domain import DomainOptions
from wordgeom.imputation.options import ImputeOptions
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.subwords.model import SubwordModel
from wordgeom.vectors.keyed import Vectors

if TYPE_CHECKING:
    from gensim.models import KeyedVectors
    from pandas import DataFrame

    from wordgeom.imputation.trust import Trust
    from wordgeom.stages.stage import Outcome


class ImputedModel(Model):
    """Vectors of entities; table: the trust table, which iterates over rows.

    validation: its lines as printed by the command line, empty where it was not requested.
    """

    def __init__(
        self,
        vectors: Vectors,
        notes: Sequence[str],
        statistics: dict[str, Any],
        table: Trust,
        validation: Sequence[str] = (),
        subwords: SubwordModel | None = None,
    ) -> None:
        super().__init__(vectors, notes, statistics, subwords=subwords)
        self.table, self.validation = table, list(validation)

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}; {self.table!r}>"


@takes(DomainOptions, ImputeOptions, ResumeOptions, RunOptions)
def impute(
    domain: PathLike | DataFrame,
    vectors: PathLike | Model | KeyedVectors = "vectors.bin",
    *,
    out: PathLike | None = None,
    table: PathLike | None = None,
    **options: Any,
) -> ImputedModel:
    """Give every entity of a table a vector; options are those of `wordgeom impute`.

    domain: a file, or a DataFrame whose index has the names and whose columns are numbers.
    name_map: a file, or a dictionary or Series from entities to words.
    vectors: a file, a model, or gensim's. out: also write the vectors there, with a trust table and
    a run card. Raises WordgeomError.
    """
    from wordgeom.stages.impute import Impute

    if is_frame(domain):
        with as_file(domain) as path:
            return impute(path, vectors, out=out, table=table, **options)
    if is_map(options.get("name_map")):
        with map_as_file(options["name_map"]) as path:
            return impute(domain, vectors, out=out, table=table, **{**options, "name_map": path})
    if not isinstance(domain, (str, os.PathLike)):
        do = "write it first, with numpy.save, or make a DataFrame with names as its index"
        if hasattr(domain, "to_frame"):
            do = "pass a DataFrame: to_frame()"
        raise OptionError("domain must name a file", found=type(domain).__name__, do=do)
    of_domain, how, resume, using = taken("impute", options)
    target = None if out is None else Path(out)
    beside = None if table is None else Path(table)
    source, ngrams = source_of(vectors), ngrams_of(vectors)
    stage = Impute(Path(domain), source, of_domain, how, using, target, beside, resume, ngrams)
    made = run(stage)
    if made.value is not None:
        return ImputedModel(
            made.value.vectors, made.notes, made.statistics, made.value.trust, made.lines,
            made.value.ngrams,
        )  # fmt: skip
    assert target is not None  # up to date
    return _imputed_before(target, beside, made)


def _imputed_before(out: Path, table: Path | None, made: Outcome) -> ImputedModel:
    from wordgeom.imputation.output import table_path
    from wordgeom.imputation.trust_table import read_trust

    held, trust = read_back(out), read_trust(table or table_path(out))
    return ImputedModel(held.read, held.notes, held.statistics, trust, made.lines, held.subwords)

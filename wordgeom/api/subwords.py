"""Subwords of vectors in Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordgeom.api.counts import PathLike
from wordgeom.api.keywords import taken, takes
from wordgeom.api.messages import run
from wordgeom.api.vectors import Model, ngrams_of, read_back, source_of
from wordgeom.runtime.run_options import RunOptions
from wordgeom.subwords.options import SubwordOptions

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


@takes(SubwordOptions, RunOptions)
def add_subwords(
    vectors: PathLike | Model | KeyedVectors, *, out: PathLike | None = None, **options: Any
) -> Model:
    """Add to each word's vector those of its n-grams; options are those of `wordgeom subwords`.

    vectors: a file, a model, or gensim's, which stay as they are. out: also write the vectors
    there, and the subword model beside them. Words without a vector have that of their n-grams in
    the model that is returned. Raises WordgeomError.
    """
    from wordgeom.stages.subwords import Subwords

    how, using = taken("add_subwords", options)
    target = None if out is None else Path(out)
    made = run(Subwords(source_of(vectors), how, using, target, ngrams=ngrams_of(vectors)))
    if made.value is None and made.path is not None:  # up to date
        return read_back(made.path)
    found, status = made.value, made.status.value
    return Model(found.vectors, made.notes, made.statistics, status=status, subwords=found.model)

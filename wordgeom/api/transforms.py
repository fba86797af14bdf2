"""Transforms of vectors in Python."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordgeom.api.counts import PathLike
from wordgeom.api.keywords import taken, takes
from wordgeom.api.messages import run
from wordgeom.api.vectors import Model, ngrams_of, read_back, source_of
from wordgeom.runtime.run_options import RunOptions
from wordgeom.transforms.options import TransformOptions

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


@takes(TransformOptions, RunOptions)
def transform(
    vectors: PathLike | Model | KeyedVectors,
    *,
    out: PathLike | None = None,
    fit: PathLike | None = None,
    align: PathLike | None = None,
    power_pairs: PathLike | None = None,
    report: Sequence[PathLike] = (),
    **options: Any,
) -> Model:
    """Transform vectors, keeping their words; options are those of `wordgeom transform`.

    vectors: a file, a model, or gensim's, which stay as they are. out: also write the vectors
    there, with a run card. report: test sets, whose scores are in `statistics`. Raises
    WordgeomError.
    """
    from wordgeom.stages.transform import Transform

    how, using = taken("transform", options)
    target, pairs, other, judged = (
        None if path is None else Path(path) for path in (out, fit, align, power_pairs)
    )
    sets = [os.fspath(path) for path in report]
    source, ngrams = source_of(vectors), ngrams_of(vectors)
    made = run(Transform(source, how, using, target, pairs, other, judged, sets, ngrams=ngrams))
    if made.value is None and made.path is not None:  # up to date
        return read_back(made.path)
    found, status = made.value, made.status.value
    return Model(found.vectors, made.notes, made.statistics, status=status, subwords=found.model)

"""Compress vectors in Python."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordgeom.api.counts import PathLike
from wordgeom.api.keywords import taken, takes
from wordgeom.api.messages import run
from wordgeom.api.vectors import Model, ngrams_of, source_of
from wordgeom.formats.vector_files import read_any_vectors
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.vectors.options import CompressOptions

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


@takes(CompressOptions, ResumeOptions, RunOptions)
def compress(
    vectors: PathLike | Model | KeyedVectors,
    *,
    out: PathLike | None = None,
    sets: Sequence[PathLike] = (),
    **options: Any,
) -> Model:
    """Reduce and quantise vectors; options are those of `wordgeom compress`.

    vectors: a file, a model, or gensim's. out: also write the codes there, to an .npz file. sets:
    test sets, scored before and after; all measures are in `statistics`. Returns the vectors that
    the codes stand for. Raises WordgeomError.
    """
    from wordgeom.stages.compress import Compress

    how, resume, using = taken("compress", options)
    target = None if out is None else Path(out)
    named = [os.fspath(path) for path in sets]
    source, ngrams = source_of(vectors), ngrams_of(vectors)
    made = run(Compress(source, how, using, target, named, resume, ngrams))
    read = made.value
    if read is None and made.path is not None:  # up to date
        read = read_any_vectors(made.path)
    return Model(read, made.notes, made.statistics, status=made.status.value)

"""Vectors of the texts in files, from Python.

wg.embed("reviews.csv", "vectors.bin", "reviews.npy", text_field="text").value
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.api.counts import MatrixHandle, PathLike, file_path, matrix_path
from wordgeom.api.keywords import taken, takes
from wordgeom.api.messages import run
from wordgeom.core.errors import WordgeomError
from wordgeom.core.options import plain
from wordgeom.corpus.options import TextOptions
from wordgeom.runtime.run_options import RunOptions
from wordgeom.texts.options import EmbedOptions

if TYPE_CHECKING:
    from wordgeom.stages.stage import Outcome

_PIPE = "or give - for standard input"
_IN_MEMORY = "TextVectorizer takes texts and models in memory"


@takes(EmbedOptions, TextOptions, RunOptions)
def embed(
    texts: PathLike | Iterable[PathLike],
    vectors: PathLike = "vectors.bin",
    out: PathLike = "texts.npy",
    *,
    counts: PathLike | MatrixHandle | None = None,
    **options: Any,
) -> Outcome:
    """Give each text of files a vector, in a file; options are those of `wordgeom embed`.

    texts: names of files, directories or patterns; vectors: a file. TextVectorizer does the same
    for texts and models in memory. The result has `path`, `notes` and, of a .npy file, `value`: the
    vectors (n × K) float32. Raises WordgeomError.
    """
    from wordgeom.stages.embed import Embed

    how, _, using = taken("embed", options)
    alone = isinstance(texts, (str, os.PathLike)) or not isinstance(texts, Iterable)
    several: Any = [texts] if alone else texts
    names = tuple(os.fspath(file_path(name, _IN_MEMORY)) for name in several)
    beside = None if counts is None else Path(matrix_path(counts))
    path, target = file_path(vectors, _IN_MEMORY), file_path(out)
    try:
        made = run(Embed(names, path, beside, plain(options), how, using, target))
    except WordgeomError as error:
        error.reword(lambda text: text.replace(_PIPE, _IN_MEMORY))
        raise
    made.value = np.load(target) if target.suffix == ".npy" else None
    return made

"""Files of other programs, in Python: convert vectors and matrices, load vectors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordgeom.api.counts import MatrixHandle, PathLike, file_path
from wordgeom.api.keywords import taken, takes
from wordgeom.api.messages import public, run
from wordgeom.api.vectors import Model, read_back
from wordgeom.core.options import plain
from wordgeom.formats.options import ConvertOptions
from wordgeom.runtime.run_options import RunOptions
from wordgeom.texts.corpus_record import corpus_record
from wordgeom.vectors.keyed import to_keyed_vectors

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from wordgeom.stages.stage import Outcome


@takes(ConvertOptions, RunOptions)
def convert(
    source: PathLike | MatrixHandle,
    target: PathLike,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    **options: Any,
) -> Outcome:
    """Convert vectors or a matrix; options are those of `wordgeom convert`.

    source: a file, a directory, or a matrix; `Model.save` writes the vectors of a model.
    source_format, target_format: `--from` and `--to`. Raises WordgeomError.
    """
    from wordgeom.stages.convert import conversion

    how, using = taken("convert", plain(options))
    formats = source_format, target_format
    if isinstance(source, MatrixHandle):
        source = source.path
    path = file_path(source, "write a model with its save method")
    return run(conversion(path, file_path(target), *formats, how, using))


@public
def open_vectors(path: PathLike) -> Model:
    """Read vectors in any format as a model, with the n-grams of a subword model or of fastText.

    Raises WordgeomError.
    """
    path = file_path(path)
    return read_back(Path(path), corpus=corpus_record(Path(path), None))


@public
def load_vectors(path: PathLike, *, limit: int | None = None) -> KeyedVectors:
    """Read vectors in any format that `convert` writes, as gensim's KeyedVectors."""
    from wordgeom.formats.vector_files import read_any_vectors

    path = file_path(path, "a model has keyed_vectors()")
    return to_keyed_vectors(read_any_vectors(path, limit=limit))

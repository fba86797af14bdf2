"""Train and extend vectors in Python.

Every option of the command line is a keyword here, spelt with underscores.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordgeom import methods
from wordgeom.api.counts import MatrixHandle, PathLike, matrix_path
from wordgeom.api.keywords import taken, takes, takes_any_of
from wordgeom.api.messages import declare, run
from wordgeom.api.vectors import Model, corpus_of, ngrams_of, read_back, source_of
from wordgeom.core.errors import WordgeomError
from wordgeom.core.options import Options, check_known, plain, specs
from wordgeom.linalg.options import DeviceOptions
from wordgeom.methods import load as load_method
from wordgeom.methods.contract import MODEL
from wordgeom.methods.gbu.extension import ExtendOptions
from wordgeom.methods.inputs import reading_options, settings_of
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.texts.corpus_record import CorpusRecord
from wordgeom.vectors.keyed import read_vectors

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

_EVERY = (DeviceOptions, ResumeOptions, RunOptions)  # of every method


def _method_classes(method: str) -> tuple[type[Options], ...]:
    """Return the option classes of `train(matrix, method)`."""
    own = load_method(method)
    return (own.Options, *reading_options(own), *_EVERY)


def method_options(
    made: str | None = None,
) -> tuple[dict[str, tuple[type[Options], ...]], dict[str, dict[str, Any]]]:
    """Return the option classes and the preferred values of each method that can be loaded.

    made: leave out methods that make anything else, such as MODEL.
    """
    classes, values = {}, {}
    for name in methods.names():
        with contextlib.suppress(Exception):  # a user's own; `train` with its name raises
            module = load_method(name)
            if made not in (None, *module.MAKES):
                continue
            classes[name] = _method_classes(name)
            values[name] = methods.preferred(module, module.Options())
            declare(settings_of(module))
    return classes, values


@takes_any_of(*method_options())
def train(
    matrix: PathLike | MatrixHandle,
    method: str,
    *,
    out: PathLike | None = None,
    documents: PathLike | None = None,
    space: str | None = None,
    **options: Any,
) -> Any:
    """Train on the first input of a method; options are those of `wordgeom train --method METHOD`.

    out: also write the vectors there, with a run card; a method that makes a model needs it.
    documents: also write the documents' vectors there. Returns a Model, or the model that the
    method makes. Raises WordgeomError.
    """
    made = run(_training(matrix, method, out, documents, space, options))
    if load_method(method).MAKES == (MODEL,):
        return made.value
    if made.value is None and made.path is not None:  # up to date
        beside = None if documents is None else read_vectors(Path(documents)).matrix
        return read_back(made.path, beside, _behind(matrix))
    vectors, beside = made.value.vectors, made.value.documents
    status, subwords = made.status.value, made.value.subwords
    return Model(vectors, made.notes, made.statistics, beside, status, _behind(matrix), subwords)


@takes(ExtendOptions, ResumeOptions, RunOptions)
def extend(
    vectors: PathLike | Model | KeyedVectors,
    counts: PathLike | MatrixHandle,
    *,
    out: PathLike | None = None,
    space: str | None = None,
    **options: Any,
) -> Model:
    """Infer vectors for the words of counts that `vectors` lack; options of `wordgeom extend`.

    vectors: a file, whose run card records how pairs were weighted, a model, or gensim's. out: also
    write the vectors there, with a run card. Raises WordgeomError.
    """
    from wordgeom.stages.extend import Extend

    _, resume, using = taken("extend", options)
    target = None if out is None else Path(out)
    path, values = matrix_path(counts), plain(options)
    source, ngrams = source_of(vectors), ngrams_of(vectors)
    made = run(Extend(source, path, values, using, target, resume, space, ngrams))
    if made.value is None and made.path is not None:  # up to date
        return read_back(made.path)
    found, status = made.value, made.status.value
    return Model(found.vectors, made.notes, made.statistics, status=status, subwords=found.model)


def _training(
    matrix: PathLike | MatrixHandle,
    method: str,
    out: PathLike | None,
    documents: PathLike | None,
    space: str | None,
    options: dict[str, Any],
) -> Any:
    """Return the stage of these keywords; raises OptionError for one that is not known."""
    from wordgeom.stages.train import Train

    first, *others = settings_of(load_method(method))
    known = [field.name for cls in _method_classes(method) for field, _ in specs(cls)]
    check_known(options, [*known, *others], "wordgeom.train", "keyword")
    values = {**plain(options), first: os.fspath(matrix_path(matrix))}
    if documents is not None:
        values["documents"] = os.fspath(documents)
    if space is not None:
        values["space"] = space
    target = None if out is None else Path(out)
    using, resume = RunOptions.asked(values), ResumeOptions.take(values)
    return Train(method, values, target, using, resume)


def _behind(matrix: PathLike | MatrixHandle) -> CorpusRecord | None:
    """Return what is recorded of the text behind the input of a method, None if that is none."""
    try:
        return corpus_of(matrix)
    except WordgeomError:
        return None

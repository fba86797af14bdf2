"""Score vectors in Python."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wordgeom.api.counts import PathLike, file_path
from wordgeom.api.keywords import taken, takes
from wordgeom.api.messages import run
from wordgeom.api.vectors import Model, open_source_of
from wordgeom.core.errors import OptionError
from wordgeom.evaluation.options import BaselineOptions, EvalOptions
from wordgeom.runtime.run_options import ResumeOptions, UseOptions
from wordgeom.subwords.open_vocabulary import OpenVocabulary

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from wordgeom.evaluation.report import Report


@takes(EvalOptions, BaselineOptions, ResumeOptions, UseOptions)
def score(
    vectors: PathLike | Model | KeyedVectors,
    sets: Sequence[PathLike] = (),
    *,
    categories: Sequence[PathLike] = (),
    classify: Sequence[PathLike] = (),
    regress: Sequence[PathLike] = (),
    reference: Sequence[PathLike] = (),
    **options: Any,
) -> Report:
    """Evaluate vectors on test sets, by default gensim's; options are those of `wordgeom eval`.

    vectors: a file, a model, or gensim's. The report's `scores` are a list; `to_dict()` is what
    --json prints. Raises WordgeomError.
    """
    from wordgeom.evaluation.sets import read_tasks
    from wordgeom.stages.evaluate import Evaluate

    how, beside, resume, using = taken("score", options)
    given = [_paths(names) for names in (sets, categories, classify, regress, reference)]
    tasks = read_tasks(given[0], given[1], given[2], given[3], how, given[4], beside.baselines)
    files = tuple(file for names in given for file in names)
    source = open_source_of(vectors)
    read = source if isinstance(source, OpenVocabulary) else os.fspath(source)
    named = read if isinstance(read, str) else repr(vectors)
    stage = Evaluate(read, named, tasks, how, using, files=files, resume=resume)
    report: Report = run(stage).value
    return report


def _paths(names: Sequence[PathLike]) -> list[str]:
    """Return file names as text; a single one is taken for a list of one."""
    if hasattr(names, "columns"):
        what, do = "sets are names of files", 'write the table first: df.to_csv("pairs.csv")'
        raise OptionError(what, found=type(names).__name__, do=do)
    listed = [names] if isinstance(names, (str, os.PathLike)) else names
    return [os.fspath(file_path(name)) for name in listed]

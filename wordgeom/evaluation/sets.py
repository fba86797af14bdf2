"""Recognise the kind of an evaluation set by its content, and locate the sets in gensim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from wordgeom.core.errors import InputError, MissingInputError, OptionError
from wordgeom.evaluation.analogies import SECTION, read_analogies
from wordgeom.evaluation.answers import Task
from wordgeom.evaluation.baselines import Baseline, baseline_names
from wordgeom.evaluation.categorisation import read_categories
from wordgeom.evaluation.classification import read_texts
from wordgeom.evaluation.known_sets import (
    refuse_directory,
    refuse_lines,
    refuse_table,
    refuse_texts,
)
from wordgeom.evaluation.lines import read_lines
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.questions import asks_questions
from wordgeom.evaluation.qvec import read_oracle
from wordgeom.evaluation.reference import Reference
from wordgeom.evaluation.regression import read_targets
from wordgeom.evaluation.similarity import read_similarity
from wordgeom.evaluation.tables import OTHER_KINDS, read_table

_GENSIM_FILES = ("wordsim353.tsv", "simlex999.txt", "questions-words.txt")
_ORACLE = re.compile(r"[^\t]+\t\s*\{")
Paths = Sequence[str | Path]


def read_tasks(
    sets: Paths, categories: Paths, classify: Paths, regress: Paths, options: EvalOptions,
    reference: Paths = (), baselines: str | None = None,
) -> list[Task]:  # fmt: skip
    """Read evaluation sets in the order given; by default those in the gensim package.

    sets: files of word pairs, analogies or QVEC features; reference: vectors, which are read when
    the task is answered; baselines: names of reductions of the references. Raises
    MissingInputError, OptionError, and whatever the readers of each kind raise.
    """
    reducers = baseline_names(baselines)
    if reducers and not reference:
        do = "name the original vectors by --reference"
        raise OptionError("--baselines needs reference vectors", do=do)
    if not (sets or categories or classify or regress or reference):
        sets = gensim_sets()
    return [
        *(read_set(path, options) for path in sets),
        *(read_categories(path, options) for path in categories),
        *(read_texts(path, options) for path in classify),
        *(read_targets(path, options) for path in regress),
        *(Reference(str(path), options) for path in reference),
        *(Baseline(str(path), options, name) for path in reference for name in reducers),
    ]


def read_set(path: str | Path, options: EvalOptions) -> Task:
    """Read QVEC features (word TAB {…), analogies (four words), or word pairs.

    Raises InputError for known sets of other kinds, naming them, and whatever the reader of a kind
    raises.
    """
    refuse_directory(path)
    lines = read_lines(path)
    if _ORACLE.match(lines[0][1]):  # checked first: a word may start with a colon
        return read_oracle(path, options)
    if any(line.startswith(SECTION) for _, line in lines):
        return read_analogies(path, options)
    refuse_lines(path, lines)
    try:
        return _read_words(path, options)
    except InputError:
        refuse_texts(path, lines)
        raise


def _read_words(path: str | Path, options: EvalOptions) -> Task:
    """Read analogies or word pairs. Raises InputError."""
    table = read_table(path)
    refuse_table(table)
    if asks_questions(table):
        return read_analogies(path, options)
    try:
        return read_similarity(path, options)
    except InputError as error:  # unrecognised files are read as pairs
        do = f"{error.do}{OTHER_KINDS}"
        raise InputError(error.what, where=error.where, found=error.found, do=do) from None


def gensim_sets() -> list[Path]:
    """Return the paths of WordSim-353, SimLex-999 and the Google analogies in gensim's package."""
    # Importing gensim takes longer than reading the sets.
    spec = find_spec("gensim")
    for directory in (spec.submodule_search_locations or ()) if spec else ():
        paths = [Path(directory) / "test" / "test_data" / name for name in _GENSIM_FILES]
        if all(path.is_file() for path in paths):
            return paths
    do = "pass evaluation files"
    raise MissingInputError("gensim is installed without its evaluation sets", do=do)

"""Which kind of set a file is, told by its content, and the sets that gensim brings along."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from wordgeom.core.errors import InputError, MissingInputError
from wordgeom.evaluation.analogies import SECTION, read_analogies
from wordgeom.evaluation.answers import Task
from wordgeom.evaluation.categorisation import read_categories
from wordgeom.evaluation.classification import read_texts
from wordgeom.evaluation.lines import read_lines
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.qvec import read_oracle
from wordgeom.evaluation.regression import read_targets
from wordgeom.evaluation.similarity import read_similarity

_DEFAULT = ("wordsim353.tsv", "simlex999.txt", "questions-words.txt")
_ORACLE = re.compile(r"[^\t]+\t\s*\{")
_OTHERS = "; files of other kinds go with --categories, --classify and --regress"
Paths = Sequence[str | Path]


def read_tasks(
    sets: Paths, categories: Paths, classify: Paths, regress: Paths, options: EvalOptions
) -> list[Task]:
    """Read sets in the order given; without any, those inside gensim.

    sets: files of pairs, of analogies or QVEC's oracles. Raises MissingInputError for a file that
    is not there, and what the readers of the kinds raise.
    """
    if not (sets or categories or classify or regress):
        sets = gensim_sets()
    return [
        *(read_set(path, options) for path in sets),
        *(read_categories(path, options) for path in categories),
        *(read_texts(path, options) for path in classify),
        *(read_targets(path, options) for path in regress),
    ]


def read_set(path: str | Path, options: EvalOptions) -> Task:
    """Read an oracle (word TAB {…), analogies (a line begins with a colon) or else pairs.

    Raises what their readers raise.
    """
    lines = read_lines(path)
    if _ORACLE.match(lines[0][1]):  # first: the word of a line may be a colon
        return read_oracle(path, options)
    if any(line.startswith(SECTION) for _, line in lines):
        return read_analogies(path, options)
    try:
        return read_similarity(path, options)
    except InputError as error:  # what is not known by its content is taken for pairs
        do = f"{error.do}{_OTHERS}"
        raise InputError(error.what, where=error.where, found=error.found, do=do) from None


def gensim_sets() -> list[Path]:
    """Return WordSim-353, SimLex-999 and the Google analogies, which gensim's package holds."""
    # Found without importing gensim, which takes longer than reading them.
    found = find_spec("gensim")
    folders = list(found.submodule_search_locations or ()) if found else []
    for folder in folders:
        paths = [Path(folder) / "test" / "test_data" / name for name in _DEFAULT]
        if all(path.is_file() for path in paths):
            return paths
    do = "name files to judge by"
    raise MissingInputError("gensim is installed without its evaluation sets", do=do)

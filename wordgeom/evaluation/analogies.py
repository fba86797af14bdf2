"""Analogies, a is to b as c is to d: which word is nearest to b − a + c (Mikolov et al. 2013).

By 3CosAdd and by 3CosMul, `analogy_search.py` has the formulas; accuracy is the share of questions
whose answer is d. A question is asked where all four words have vectors, as in gensim's
`evaluate_word_analogies`, whose accuracy this is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Int64
from wordgeom.evaluation.analogy_search import NONE, predict
from wordgeom.evaluation.answers import Answers, Measure
from wordgeom.evaluation.lines import read_lines, set_name
from wordgeom.evaluation.missing_words import exclude_missing
from wordgeom.evaluation.options import ZERO, EvalOptions
from wordgeom.evaluation.word_lookup import Lookup
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

SECTION = ":"  # begins the line that names the questions below it
_UNKNOWN = -2  # the right word has no vector, so that no answer can be right
_MISSING = "questions with a word that has no vector"
_WITHOUT = "questions with a word whose vector is zero"


@dataclass(frozen=True)
class Analogies:
    """A set of questions. sections (n): the name of each question's section, as in the file."""

    name: str
    path: str
    questions: tuple[tuple[str, ...], ...]
    sections: tuple[str, ...]
    options: EvalOptions

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        """Let vectors answer by both rules; raises InputError where no question can be asked."""
        lookup = Lookup(vectors, self.options)
        rows = self._rows(lookup)
        known = (rows != _UNKNOWN).all(axis=1)
        directed = known.copy()
        directed[known] = ~lookup.zero[rows[known]].any(axis=1)
        if not directed.any():
            raise _none_known(self.path, len(rows))
        asked = np.flatnonzero(directed)
        given = np.full((len(rows), 2), NONE, np.int32)
        given[asked] = predict(lookup, rows[asked, :3], self.options.epsilon, context)
        items = np.arange(len(rows)) if self.options.oov == ZERO else asked
        excluded, notes = exclude_missing(
            {_MISSING: ~known, _WITHOUT: known & ~directed}, self.options.oov, "counted as wrong"
        )
        return Answers("analogies", self.name, MEASURES, items, given[items], rows[items, 3],
                       len(rows), excluded, self._groups(items), notes)  # fmt: skip

    def _rows(self, lookup: Lookup) -> Int64:
        found = [[lookup.row(word) for word in question] for question in self.questions]
        rows = [[_UNKNOWN if row is None else row for row in question] for question in found]
        return np.array(rows, np.int64)

    def _groups(self, items: Int64) -> Mapping[str, Int64]:
        sections = np.array(self.sections)[items]
        return {name: np.flatnonzero(sections == name) for name in dict.fromkeys(self.sections)}


def read_analogies(path: str | Path, options: EvalOptions) -> Analogies:
    """Read lines of four words, and lines `: section`, which name the lines below them.

    Questions above the first such line form a section that is called after the file. Raises what
    `read_lines` raises; InputError for a line of another number of words, naming it, and for a
    file without any question.
    """
    section, questions, sections = set_name(path), [], []
    for number, line in read_lines(path):
        if line.startswith(SECTION):
            section = line.lstrip(f"{SECTION} \t").rstrip() or set_name(path)
            continue
        words = tuple(line.split())
        if len(words) != 4:
            do = "write a b c d, or : and the name of a section"
            where = f"{path} line {number}"
            raise InputError("is not four words", where=where, found=repr(line[:60]), do=do)
        questions.append(words)
        sections.append(section)
    if not questions:
        raise InputError("holds no question", where=path, do="write lines of four words")
    return Analogies(set_name(path), str(path), tuple(questions), tuple(sections), options)


def _none_known(path: str, total: int) -> InputError:
    do = "check the language and the case of its words, or try --restrict-vocab 0"
    what = f"not one of {total:,} questions has vectors for its words"
    return InputError(what, where=path, do=do)


def _accuracy(column: int) -> Measure:
    names = ("3CosAdd", "3CosMul")

    def share(given: Array, gold: Array) -> float:
        return float(np.mean(given[:, column] == gold)) if len(gold) else np.nan

    return Measure(names[column], share)


MEASURES = (_accuracy(0), _accuracy(1))

"""Word analogies: a is to b as c is to d (Mikolov et al. 2013).

Questions are answered by 3CosAdd and 3CosMul (formulas in `analogy_search.py`). Accuracy is the
share of questions whose answer is d, over the questions whose four words all have vectors, as in
gensim's `evaluate_word_analogies`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unicodedata import normalize

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.evaluation.analogy_search import NONE, predict
from wordgeom.evaluation.answers import Answers, Measure
from wordgeom.evaluation.exclusions import exclude_missing, no_known_items
from wordgeom.evaluation.known_sets import refuse_questions
from wordgeom.evaluation.lines import SetFile, read_lines, set_name
from wordgeom.evaluation.options import ZERO, EvalOptions
from wordgeom.evaluation.questions import QuestionList, question_list
from wordgeom.evaluation.tables import COMMENT, LEFT_OUT, read_table
from wordgeom.evaluation.word_lookup import Lookup
from wordgeom.evaluation.word_pairs import WordPairs
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

SECTION = ":"  # starts a line that names the section below it
_UNKNOWN = -2  # row of an out-of-vocabulary word; differs from every answer and from NONE
_MISSING = "questions with a word that has no vector"
_WITHOUT = "questions with a word whose vector is zero or not finite"


@dataclass(frozen=True)
class Analogies(SetFile):
    """A set of analogy questions.

    sections (n): each question's section name, as in the file; left_out: lines of the file that
    were not read, by reason.
    """

    questions: tuple[tuple[str, ...], ...]
    sections: tuple[str, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def asked_words(self) -> Iterator[str]:
        """The words of the questions."""
        return (word for question in self.questions for word in question)

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        """Answer by 3CosAdd and 3CosMul (n × 2) int32; raises InputError if no question can be."""
        lookup = Lookup(vectors, self.options)
        rows = self._rows(lookup)
        known = (rows != _UNKNOWN).all(axis=1)
        usable = known.copy()
        usable[known] = ~lookup.zero[rows[known]].any(axis=1)
        if not usable.any():
            questions, unread = (
                plural(len(rows), "question"),
                len(vectors.words) - len(lookup.words),
            )
            raise no_known_items(self.path, questions, int(known.sum()), unread)
        asked = np.flatnonzero(usable)
        given = np.full((len(rows), 2), NONE, np.int32)
        given[asked] = predict(lookup, rows[asked, :3], self.options.epsilon, context)
        items = np.arange(len(rows)) if self.options.oov == ZERO else asked
        excluded, notes = exclude_missing(
            {_MISSING: ~known, _WITHOUT: known & ~usable}, self.options.oov, "counted as wrong"
        )
        return Answers("analogies", self.name, MEASURES, items, given[items], rows[items, 3],
                       excluded | dict(self.left_out), self._groups(items), notes,
                       self._pairs(lookup).at(items))  # fmt: skip

    def _rows(self, lookup: Lookup) -> Int64:
        """Return the rows (n × 4) of the questions' words, _UNKNOWN for words without a vector."""
        rows = [[lookup.row(word) for word in question] for question in self.questions]
        return np.array([[_UNKNOWN if row is None else row for row in q] for q in rows], np.int64)

    def _pairs(self, lookup: Lookup) -> WordPairs:
        keys = [[normalize("NFC", lookup.key(word)) for word in q] for q in self.questions]
        return WordPairs.of(keys, self.sections)

    def _groups(self, items: Int64) -> Mapping[str, Int64]:
        sections = np.array(self.sections)[items]
        return {name: np.flatnonzero(sections == name) for name in dict.fromkeys(self.sections)}


def read_analogies(path: str | Path, options: EvalOptions) -> Analogies:
    """Read lines of four words below lines `: section`, or a table of questions.

    Lines that start with # are comments; an incomplete last line is left out. Raises what
    `read_lines`, `question_list` and `refuse_questions` raise; InputError for a line without
    exactly four words, naming the line, and for a file without questions.
    """
    lines = read_lines(path)
    if any(line.startswith(SECTION) for _, line in lines):
        read = _in_sections(path, lines)
    else:
        read = question_list(read_table(path))
        refuse_questions(path, read)
    return Analogies(str(path), options, read.questions, read.sections, read.excluded)


def _in_sections(path: str | Path, lines: Sequence[tuple[int, str]]) -> QuestionList:
    """Return questions in the sections whose names are above them.

    Questions above the first section line form a section named after the file.
    """
    section, excluded = set_name(path), {}
    questions: list[tuple[str, ...]] = []
    sections: list[str] = []
    for number, line in lines:
        if line.startswith(SECTION):
            section = line.lstrip(f"{SECTION} \t").strip(" \t,;") or set_name(path)
            continue
        words = _split(line)
        if not words or words[0] == COMMENT or (line.startswith(COMMENT) and len(words) != 4):
            continue
        if len(words) < 4 and questions and number == lines[-1][0]:
            excluded[LEFT_OUT] = 1
            continue
        if len(words) != 4:
            do = "write four words, or a colon and a section name"
            where = f"{path} line {number}"
            raise InputError("expected four words", where=where, found=repr(line[:60]), do=do)
        questions.append(words)
        sections.append(section)
    if not questions:
        do = "write four words on each line"
        raise InputError("no analogy questions in the file", where=path, do=do)
    return QuestionList(tuple(questions), tuple(sections), excluded)


def _split(line: str) -> tuple[str, ...]:
    """Return the words of a line, separated by white space, commas or semicolons."""
    words = line.split()
    if len(words) == 1:
        words = [word for word in re.split("[,;]", words[0]) if word]
    return tuple(words)


def _accuracy(column: int) -> Measure:
    names = ("3CosAdd", "3CosMul")

    def correct(given: Array, gold: Array) -> Float64:
        return np.asarray(given[:, column] == gold, np.float64)

    def accuracy(given: Array, gold: Array) -> float:
        return float(np.mean(correct(given, gold))) if len(gold) else np.nan

    return Measure(names[column], accuracy, each=correct)


MEASURES = (_accuracy(0), _accuracy(1))

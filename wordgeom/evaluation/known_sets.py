"""Recognise published sets that cannot be scored as word pairs or analogies, and say why.

Read as pairs or as four words, some of these would give a plausible number that means nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from wordgeom.core.errors import InputError
from wordgeom.evaluation.questions import QuestionList, has_tags
from wordgeom.evaluation.tables import COMMENT, Table
from wordgeom.storage.opening import reading

_DO_FOUR = "use analogies of four words, such as Google's, MSR's or a table a, b, c, d"
_CHOICE, _STEM = re.compile(r"[a-e]"), re.compile(r"\S+\s+\S+\s+[a-z]+:[a-z]+")
_JSON, _HTML = re.compile(r"[\[{]\s*([\"\[{]|$)"), re.compile(r"<(!doctype html|html)\b")
_PAIR = r'"?[^\s:",]+:[^\s:",]+"?'
_QUOTED = r'"[^\s:",]+:[^\s:",]+"'
_RATED = re.compile(rf"{_PAIR}[\s,]+-?[\d.]+|-?[\d.]+[\s,]+{_PAIR}|{_PAIR}(,{_PAIR})+|{_QUOTED}")
_SEMEVAL_SECTION = re.compile(r"(10|[1-9])[a-j]")
_BATS_FILE, _BATS_FOLDER = re.compile(r"[IDEL]\d\d \["), "1_Inflectional_morphology"
_SAT_PAIRS = 6  # the stem of a question and its five choices
_EXAMPLES = 5  # of a relation, at most
_LONGEST = 10  # words in a line of a set, unless it has contexts as SCWS does
_SAT = "SAT analogies: each question is a choice among five pairs, without one right fourth word"
_SEMEVAL = "SemEval-2012 task 2: pairs ranked by how typical they are of a relation, not questions"


def refuse_directory(path: str | Path) -> None:
    """Raise InputError if `path` is the directory of BATS or one of its parts."""
    if not os.path.isdir(path):
        return
    with reading(path, "a file"):
        names = os.listdir(path)
    if _BATS_FOLDER in names or any(map(_BATS_FILE.match, names)):
        raise _bats(path)


def refuse_lines(path: str | Path, lines: Sequence[tuple[int, str]]) -> None:
    """Raise InputError if the lines are of the SAT, SemEval-2012 or BATS sets, JSON or HTML."""
    texts = [line.strip() for _, line in lines if not line.startswith(COMMENT)]
    _refuse_other_text(path, texts)
    if _most(texts, _STEM) and any(_CHOICE.fullmatch(text) for text in texts):
        raise InputError(_SAT, where=path, do=_DO_FOUR)
    if _most(texts, _RATED):
        raise InputError(_SEMEVAL, where=path, do=_DO_FOUR)
    fields = [text.split("\t") for text in texts]
    if texts and all(len(each) == 2 for each in fields):
        named = _BATS_FILE.match(Path(path).name) or any("/" in each[1] for each in fields)
        if named and not any(_is_number(each[1]) for each in fields):
            raise _bats(path)


def refuse_texts(path: str | Path, lines: Sequence[tuple[int, str]]) -> None:
    """Raise InputError if lines, which could not be read as a set, are texts.

    A text may go on in further, short lines.
    """
    words = [sum(word[0].isalpha() for word in line.split()) for _, line in lines]
    if 4 * sum(number > _LONGEST for number in words) > len(lines):
        what = "contains texts, so it is no set of word pairs or analogies"
        do = "for texts with labels use --classify; for vectors of texts use wordgeom embed"
        raise InputError(what, where=path, do=do)


def refuse_table(table: Table) -> None:
    """Raise InputError if a table is half of a set: MSR's, or SemEval-2017 task 2."""
    name = Path(table.path).name
    if table.width == 4 and has_tags(table, 3):
        answers = Path(name).with_suffix(".answers").name
        do = f'join the two files: paste -d " " {name} {answers} > msr.txt'
        what = "MSR analogies without their answers"
        raise InputError(what, where=table.path, do=do)
    if table.width == 2 and has_tags(table, 0):
        questions = Path(name).with_suffix(".questions").name
        do = f'join the two files: paste -d " " {questions} {name} > msr.txt'
        raise InputError("answers of the MSR analogies only", where=table.path, do=do)
    if table.width == 1 and table.numeric == (0,):
        do = f"join it with the file of word pairs: paste pairs.txt {name} > set.txt"
        raise InputError("scores without words", where=table.path, do=do)


def refuse_questions(path: str | Path, read: QuestionList) -> None:
    """Raise InputError if questions are the pairs of the SAT or SemEval sets as a table."""
    both = zip(read.sections, read.questions, strict=True)
    groups = [(name, [q for _, q in group]) for name, group in groupby(both, lambda each: each[0])]
    if all(_SEMEVAL_SECTION.fullmatch(name) and _ranks_pairs(group) for name, group in groups):
        raise InputError(_SEMEVAL, where=path, do=_DO_FOUR)
    *full, (_, last) = groups
    sizes_fit = len(last) <= _combinations() and (full or len(last) == _combinations())
    checked = full or groups
    if sizes_fit and all(name.isdigit() and _all_pairs(group) for name, group in checked):
        raise InputError(_SAT, where=path, do=_DO_FOUR)


def _refuse_other_text(path: str | Path, texts: Sequence[str]) -> None:
    """Raise InputError for JSON, and for a web page saved in place of a file."""
    first = texts[0] if texts else ""
    if _JSON.match(first):
        do = "write it as a table with the columns word1, word2, score or a, b, c, d"
        raise InputError("is JSON, not a table", where=path, do=do)
    if _HTML.match(first.lower()):
        do = "download the set itself, on GitHub the raw file"
        raise InputError("is a web page, not a table", where=path, do=do)


def _bats(path: str | Path) -> InputError:
    what = "BATS: word pairs of a relation, with several right answers, not questions"
    return InputError(what, where=path, do=_DO_FOUR)


def _most(texts: Sequence[str], pattern: re.Pattern[str]) -> bool:
    return 2 * sum(bool(pattern.fullmatch(text)) for text in texts) > len(texts)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).strip().isdigit()


def _combinations() -> int:
    return _SAT_PAIRS * (_SAT_PAIRS - 1) // 2


def _ranks_pairs(questions: Sequence[tuple[str, ...]]) -> bool:
    """Return whether few examples of a relation are repeated, as in the SemEval set."""
    return len({question[:2] for question in questions}) <= _EXAMPLES


def _all_pairs(questions: Sequence[tuple[str, ...]]) -> bool:
    """Return whether questions are all combinations of six pairs, in order, as in the SAT set."""
    stems = [question[:2] for question in questions]
    sizes = [len(list(group)) for _, group in groupby(stems)]
    return len(questions) == _combinations() and sizes == list(range(_SAT_PAIRS - 1, 0, -1))

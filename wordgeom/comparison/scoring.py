"""Scores of several vectors files on their common words, and paired differences."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from wordgeom.comparison.entries import Candidate
from wordgeom.comparison.result import Evaluation
from wordgeom.core.errors import InputError
from wordgeom.core.formatting import listed
from wordgeom.evaluation.analogies import Analogies
from wordgeom.evaluation.answers import Score, Task, difference, scores
from wordgeom.evaluation.exclusions import too_few
from wordgeom.evaluation.similarity import Similarity
from wordgeom.formats.vector_files import read_any_vectors
from wordgeom.runtime.context import Context
from wordgeom.stages.evaluate import judge
from wordgeom.stages.inference import reading_notes
from wordgeom.vectors.keyed import Vectors


def common_words(paths: Sequence[Path]) -> list[str]:
    """Return the words common to all files, in the order of the first; raises InputError."""
    # One file at a time, since all of them may exceed the memory.
    first = read_any_vectors(paths[0]).words
    others = [set(read_any_vectors(path).words) for path in paths[1:]]
    common = [word for word in first if all(word in words for words in others)]
    if not common:
        what = "the vectors have no word in common"
        what += f" ({first[0]!r} is the first word of {paths[0].name})"
        do = "compare vectors of the same language and spelling"
        raise InputError(what, do=do)
    return common


def check_tasks(tasks: Sequence[Task], words: list[str], context: Context) -> None:
    """Raise InputError if no set can be scored with these words, before anything is trained.

    Only sets of word pairs and analogies are checked; any other may be answered.
    """
    if not all(isinstance(task, Similarity | Analogies) for task in tasks):
        return
    drawn = np.random.default_rng(1).standard_normal((len(words), 2)).astype(np.float32)
    vectors = Vectors(words, drawn)
    for task in tasks:
        with contextlib.suppress(InputError):
            if too_few(task.answer(vectors, context)) is None:
                return
    found = listed([task.name for task in tasks], "or")
    what = f"too few items of {found} have words that were counted, so there is nothing to score"
    raise InputError(what, do="name sets in the language of the text with --set")


def answer_tasks(
    named: Sequence[Candidate], common: list[str], tasks: Sequence[Task], context: Context
) -> tuple[list[Evaluation], list[str]]:
    """Answer all sets with the common words of each candidate; failed sets become notes."""
    answered, notes, errors = [], [], []
    for one in named:
        if one.path is None:
            answered.append(Evaluation(one))
            continue
        vectors = read_any_vectors(one.path)
        size = len(vectors.words), vectors.matrix.shape[1]
        used = _restricted(vectors, common)
        try:
            found, failed = judge(used, tasks, context)
        except InputError as error:
            found, failed = [], {"all sets": str(error)}
            errors.append(error)
        answers = {each.name: each for each in found}
        answered.append(Evaluation(one, *size, answers))
        notes += [f"{one.name}: {name} skipped: {why}" for name, why in failed.items()]
        notes += reading_notes(vectors, one.name)
    if not any(one.answers for one in answered):
        raise errors[0]
    return answered, notes


def _restricted(vectors: Vectors, common: list[str]) -> Vectors:
    if vectors.words == common:
        return vectors
    return Vectors(common, vectors.matrix[[vectors.index[word] for word in common]])


def score_against(
    answered: Sequence[Evaluation], name: str | None, resamples: int, seed: int
) -> tuple[tuple[Evaluation, ...], str]:
    """Return evaluations with scores and differences from a reference, and the reference's name.

    The reference is the candidate `name` if it has answers, else the first one that has.
    """
    complete = [one for one in answered if one.answers]
    first = next((one for one in complete if one.candidate.name == name), complete[0])

    def scored(one: Evaluation) -> Evaluation:
        own = {name: scores(answers, resamples, seed) for name, answers in one.answers.items()}
        return replace(one, scores=own, differences=differences(one))

    def differences(one: Evaluation) -> dict[str, list[Score]]:
        if one is first:
            return {}
        pairs = [(n, first.answers[n], one.answers[n]) for n in one.answers if n in first.answers]
        return {name: [difference(a, b, measure, resamples, seed) for measure in a.measures]
                for name, a, b in pairs}  # fmt: skip

    return tuple(scored(one) for one in answered), first.candidate.name

"""Evaluation: vectors and sets → scores with intervals, and what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from wordgeom.core.errors import InputError
from wordgeom.evaluation.answers import Answers, Task, group_scores, scores
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.report import Report
from wordgeom.linalg.device import open_context
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import UseOptions
from wordgeom.vectors.keyed import Vectors, read_vectors


def evaluate(
    vectors: str | Path,
    tasks: Sequence[Task],
    options: EvalOptions,
    run: UseOptions,
    *,
    show: bool = False,
) -> Report:
    """Judge a file of vectors by tasks; show: tell progress. Raises as `read_vectors` and below."""
    return evaluate_vectors(read_vectors(vectors), str(vectors), tasks, options, run, show=show)


def evaluate_vectors(
    read: Vectors,
    name: str,
    tasks: Sequence[Task],
    options: EvalOptions,
    run: UseOptions,
    *,
    show: bool = False,
) -> Report:
    """Judge vectors, called `name` in the report, by tasks.

    A set that cannot be answered is told in the report while others can. Raises InputError where
    no set can be answered.
    """
    with open_context(run, show=show) as context:
        answers, refused = judge(read, tasks, context)
        notes = [f"{each.name}: {note}" for each in answers for note in each.notes]
        if read.duplicates:
            notes.append(f"{name}: words that the file holds again, left out: {read.duplicates}")
        n = options.resamples
        return Report(
            vectors=name,
            words=len(read.words),
            dimension=read.matrix.shape[1],
            policy={**options.result_options(), "seed": run.seed},
            scores=[score for each in answers for score in scores(each, n, run.seed)],
            sections={e.name: group_scores(e, n, run.seed) for e in answers if e.groups},
            excluded={each.name: dict(each.excluded) for each in answers if each.excluded},
            refused=refused,
            notes=notes,
        )


def judge(
    vectors: Vectors, tasks: Sequence[Task], context: Context
) -> tuple[list[Answers], dict[str, str]]:
    """Return the answers to each set, and why those are missing that cannot be answered, by name.

    Sets of the same name are numbered. Raises the first set's InputError where all fail.
    """
    answers, refused, errors = [], {}, []
    for task, name in zip(tasks, numbered([task.name for task in tasks]), strict=True):
        try:
            answers.append(replace(task.answer(vectors, context), name=name))
        except InputError as error:
            refused[name] = str(error)
            errors.append(error)
    if errors and not answers:
        raise errors[0]
    return answers, refused


def numbered(names: Sequence[str]) -> list[str]:
    """Return the names, those that occurred before with a number that makes them differ."""
    made: list[str] = []
    for name in names:
        others = (f"{name} ({number})" for number in count(2))
        made.append(name if name not in made else next(o for o in others if o not in made))
    return made
